"""Pictures and texts of both games."""
