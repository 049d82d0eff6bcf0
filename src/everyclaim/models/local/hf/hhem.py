"""HHEM-2.1-Open (Vectara): T5's encoder, read at its first token; class 1 is "consistent", from 0.5 on.

Its repository carries code that current versions of transformers cannot run, and that nobody should have to trust:
the checkpoint is a plain `T5ForTokenClassification` under the prefix ``t5.``, and is loaded as one. Tokenizer and
sizes are those of the foundation its configuration names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everyclaim.core.types import Probabilities
from everyclaim.models.local.hf.networks import Float32Array
from everyclaim.models.local.hf.pairs import TextPair, binary, softmax
from everyclaim.models.local.hf.tokens import TextEncoder, Tokens, as_tokens

PREFIX = "t5."
FOUNDATION = "google/flan-t5-base"
MAX_TOKENS = 4096  # T5 has no last position; memory grows with the square
_PREMISE, _HYPOTHESIS = "{text1}", "{text2}"
# The words it was trained on, which its configuration may state otherwise.
PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"


@dataclass(frozen=True, slots=True)
class Hhem:
    """The prompt with its two places, and the classifier's answer at the first token."""

    prompt: str = PROMPT

    def inputs(self, encoder: TextEncoder, pairs: Sequence[TextPair]) -> list[Tokens]:
        """Write each pair into the prompt. The texts are put in by position: braces in them mean nothing."""
        before, _, rest = self.prompt.partition(_PREMISE)
        between, _, after = rest.partition(_HYPOTHESIS)
        texts = [before + premise + between + hypothesis + after for premise, hypothesis in pairs]
        return [as_tokens(encoding) for encoding in encoder.encoded(texts)]

    def read(self, row: Float32Array) -> Probabilities:
        """Read class 1 at the first token of tokens × classes."""
        first = row[0] if row.ndim == 2 else row
        return binary(softmax(first)[1])
