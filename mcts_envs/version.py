"""Version of the two packages."""

__version__ = "0.3.0"
