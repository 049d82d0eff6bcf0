"""Claim-level faithfulness evaluation of RAG answers."""

from everyclaim._version import __version__

__all__ = ["__version__"]
