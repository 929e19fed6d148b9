"""Settings and environments of both games."""
