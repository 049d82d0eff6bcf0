"""MiniCheck (arXiv 2404.10774): document and claim in one text, with the tokenizer's end token between them.

RoBERTa and DeBERTa are classifiers whose class 1 is "supported". Flan-T5 is asked with ``predict: `` before the text
and answers 0 or 1: the first token of either answer is compared at the first step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Probabilities
from everyclaim.models.local.hf.networks import Float32Array
from everyclaim.models.local.hf.pairs import TextPair, binary, softmax
from everyclaim.models.local.hf.tokens import TextEncoder, Tokens, as_tokens

MAX_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class MiniCheckClassifier:
    """Two classes, 1 is supported."""

    before: str = ""

    def inputs(self, encoder: TextEncoder, pairs: Sequence[TextPair]) -> list[Tokens]:
        """Write document, end token and claim as one text."""
        texts = [self.before + document + encoder.eos + claim for document, claim in pairs]
        return [as_tokens(encoding) for encoding in encoder.encoded(texts)]

    def read(self, row: Float32Array) -> Probabilities:
        """Read the probability of class 1."""
        return binary(softmax(row)[1])


@dataclass(frozen=True, slots=True)
class MiniCheckT5:
    """Two tokens of the vocabulary, `no` and `yes`; only they are compared."""

    no: int
    yes: int

    def inputs(self, encoder: TextEncoder, pairs: Sequence[TextPair]) -> list[Tokens]:
        """Write the instruction, document, end token and claim as one text."""
        return MiniCheckClassifier("predict: ").inputs(encoder, pairs)

    def read(self, row: Float32Array) -> Probabilities:
        """Read the probability of `yes` among the two."""
        return binary(softmax(np.asarray([row[self.no], row[self.yes]]))[1])


def verdict_tokens(encoder: TextEncoder) -> MiniCheckT5:
    """Find the tokens that "0" and "1" begin with (3 and 209 in Flan-T5's vocabulary)."""
    no, yes = encoder.ids("0")[:1], encoder.ids("1")[:1]
    if not no or not yes or no == yes:
        raise ConfigError("this tokenizer has no two tokens that tell the answers 0 and 1 apart")
    return MiniCheckT5(no[0], yes[0])
