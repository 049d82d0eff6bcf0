"""Zstandard compression: of the standard library where it has it, else the same modules as a package."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
