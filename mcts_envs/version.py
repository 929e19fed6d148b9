"""Version of the two packages."""

__version__ = "0.1.0"
