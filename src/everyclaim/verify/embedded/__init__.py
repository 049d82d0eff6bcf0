"""The embedded verifier: a small network that reads, beside the exact checks of `lexical`."""

from everyclaim.verify.embedded.verifier import EmbeddedVerifier, from_spec

__all__ = ["EmbeddedVerifier", "from_spec"]
