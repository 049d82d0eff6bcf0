"""A loaded classifier of (premise, hypothesis): what every family of them shares."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Probabilities
from everyclaim.models.local.hf.batching import Batcher
from everyclaim.models.local.hf.networks import Float32Array
from everyclaim.models.local.hf.tokens import TextEncoder, Tokens

TextPair = tuple[str, str]


class PairFamily(Protocol):
    """How a family of models writes a pair down and what its numbers mean."""

    def inputs(self, encoder: TextEncoder, pairs: Sequence[TextPair]) -> list[Tokens]:
        """Write pairs as inputs of the network. The texts hold no special tokens any more."""

    def read(self, row: Float32Array) -> Probabilities:
        """Read the network's output for one input."""


class LoadedPairs:
    """A `PairModel`. `max_tokens` bounds a whole input; a longer one is refused, never cut."""

    def __init__(
        self, family: PairFamily, encoder: TextEncoder, batcher: Batcher, max_tokens: int, parameters: Mapping[str, str]
    ) -> None:
        self.parameters = parameters
        self._family = family
        self._encoder = encoder
        self._batcher = batcher
        self._max_tokens = max_tokens
        around = len(family.inputs(encoder, [("", "")])[0].ids)
        self.limit = max_tokens - around

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return self._encoder.lengths(texts)

    async def judge(self, pairs: Sequence[TextPair]) -> list[Probabilities]:
        """Judge every pair, together with those that others ask for at the same time.

        Raises `JudgeError` when a pair is too long or the model gives no number.
        """
        inputs = await asyncio.to_thread(self._written, pairs)
        return [self._family.read(row) for row in await self._batcher.run(inputs)]

    def _written(self, pairs: Sequence[TextPair]) -> list[Tokens]:
        plain = self._encoder.plain
        inputs = self._family.inputs(self._encoder, [(plain(premise), plain(claim)) for premise, claim in pairs])
        longest = max((len(one.ids) for one in inputs), default=0)
        if longest > self._max_tokens:
            raise JudgeError("too_long", f"claim and passages are {longest} tokens; the model takes {self._max_tokens}")
        return inputs


def softmax(row: Float32Array) -> list[float]:
    """Turn logits into probabilities."""
    raised = np.exp(row.astype(np.float64) - float(row.max()))
    return [float(value) for value in raised / raised.sum()]


def binary(supported: float) -> Probabilities:
    """Make the probabilities of a model that only tells supported from not supported.

    Rounded to four places, below which padding and the order of sums show.
    """
    supported = round(min(max(supported, 0.0), 1.0), 4)
    return Probabilities(supported, round(1.0 - supported, 4), 0.0)
