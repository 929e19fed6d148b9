"""Version of the two packages."""

__version__ = "0.2.0"
