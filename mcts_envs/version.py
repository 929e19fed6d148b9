"""Version of the two packages."""

__version__ = "0.4.0"
