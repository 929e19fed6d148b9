"""The readable forms of the states of both games."""
