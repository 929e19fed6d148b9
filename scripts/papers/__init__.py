"""The published results of each source document, and how they are run here."""
