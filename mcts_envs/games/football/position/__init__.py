"""The readable form of a state: written, read, checked."""
