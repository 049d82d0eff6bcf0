"""The verifier `lexical`: a fitted model over how the words of a claim line up with the passages.

    passages → reading → alignment → checks → comparison → features → model → verifier

How it was fitted, and how good it is: `training/README.md`.
"""

from everyclaim.verify.lexical.verifier import LexicalVerifier, from_spec

__all__ = ["LexicalVerifier", "from_spec"]
