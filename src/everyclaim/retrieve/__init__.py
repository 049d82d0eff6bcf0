"""Claim → the passages that matter for it, in order."""

from everyclaim.retrieve.bm25 import Bm25Ranker

__all__ = ["Bm25Ranker"]
