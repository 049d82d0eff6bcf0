"""Verifiers around encoder models: classifiers of (premise, hypothesis), and classifiers of an answer's tokens.

What a model is, and how it is run, is the business of `models.hf`; here passages are cut so that nothing is cut off,
and the numbers of chunks, parts of claims and tokens become one verdict per claim.
"""

from everyclaim.verify.hf.chunks import ALIGNSCORE, MINICHECK, MINICHECK_WORDS, WHOLE, Chunking
from everyclaim.verify.hf.marks import TokenVerifier
from everyclaim.verify.hf.pairs import PairVerifier

__all__ = ["ALIGNSCORE", "MINICHECK", "MINICHECK_WORDS", "WHOLE", "Chunking", "PairVerifier", "TokenVerifier"]
