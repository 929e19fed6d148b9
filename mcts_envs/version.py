"""Version of the two packages."""

__version__ = "0.5.0"
