"""Saved policies: read, written, said what they are, and held against the games that they are to play."""
