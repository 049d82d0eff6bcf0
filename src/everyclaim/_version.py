"""The version of the library, stored with every result."""

__version__ = "0.1.0"
