"""The network that ships: it reads a premise and a claim, and says what the one says about the other.

A BERT encoder of six layers (22 million parameters, 8-bit) with three heads: the claim's label, which of the claim's
tokens fail, and which of the premise's tokens are evidence. How it was made: `training/encoder/`.

A pair is read alone and unpadded, so that what the network says of it never depends on its neighbours in a batch
(activations are scaled by their largest value). Several processor cores read several pairs at a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.lifetime import once
from everyclaim.models.local.onnx import (
    CLS,
    SEP,
    read_each,
    shipped_tokenizer,
    single_threaded_session,
    threads_by_default,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Float32Array = npt.NDArray[np.float32]
POSITIONS = 512  # tokens of everything that is read at a time
CONTEXT, CLAIM = 48, 96  # tokens that are read at most; the premise has its own budget
_LONGEST = 100  # characters of a token and the space around it; what lies beyond is not tokenised
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: the tokenizer takes none


class Pair(NamedTuple):
    """What is read together. `context` (a question, a parent sentence) helps to understand the claim; may be empty.

    `tokens` of the premise are read at most, and never more than fit beside the rest.
    """

    premise: str
    claim: str
    context: str = ""
    tokens: int = POSITIONS


class TokenScore(NamedTuple):
    """The characters [start, end) of a premise or claim, and a log-odds."""

    start: int
    end: int
    logit: float


@dataclass(frozen=True, slots=True)
class Scores:
    """What the network says of one pair."""

    labels: tuple[float, float, float]  # logits: supported, unsupported, contradicted
    claim: tuple[TokenScore, ...]  # log-odds that this token is not supported
    premise: tuple[TokenScore, ...]  # log-odds that this token is evidence


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """The loaded network. `threads` pairs are read at a time."""

    session: InferenceSession
    tokenizer: Tokenizer
    threads: int

    def read(self, pairs: Sequence[Pair]) -> list[Scores]:
        """Read every pair; equal pairs are read once."""
        return read_each(self._one, pairs, self.threads)

    def _one(self, pair: Pair) -> Scores:
        premise = self._encoded(pair.premise, pair.tokens)
        context = self._encoded(pair.context, CONTEXT).ids if pair.context else []
        claim = self._encoded(pair.claim, CLAIM)
        ids, theirs, at = laid_out(premise.ids, context, claim.ids, pair.tokens)
        types = np.zeros((1, len(ids)), np.int64)
        types[0, at:-1] = 1
        labels, logits = self.session.run(None, {"ids": np.array([ids], np.int64), "types": types})
        supported, unsupported, contradicted = (float(value) for value in labels[0])
        return Scores(
            (supported, unsupported, contradicted),
            _scored(claim, logits[0, at:-1]),
            _scored(premise, logits[0, 1 : 1 + theirs]),
        )

    def _encoded(self, text: str, tokens: int) -> Encoding:
        """Tokenise as much of a text as `tokens` tokens may need; offsets are those of the text as given."""
        return self.tokenizer.encode(_SURROGATE.sub("\ufffd", text[: tokens * _LONGEST]), add_special_tokens=False)


def laid_out(
    premise: Sequence[int], context: Sequence[int], claim: Sequence[int], tokens: int
) -> tuple[list[int], int, int]:
    """Lay token ids out as they are read: [CLS] premise [SEP] (context [SEP]) claim [SEP]; training does so too.

    Of the premise `tokens` are read, and no more than fit beside the rest. Also returns how many they are, and where
    the claim begins.
    """
    context, claim = context[:CONTEXT], claim[:CLAIM]
    rest = [SEP, *([*context, SEP] if context else []), *claim, SEP]
    premise = premise[: min(tokens, POSITIONS - 1 - len(rest))]
    ids = [CLS, *premise, *rest]
    return ids, len(premise), len(ids) - 1 - len(claim)


def shipped_cross_encoder(threads: int = 0) -> CrossEncoder:
    """Return the network that ships, loaded once; 0 threads: as many as there are processor cores, at most four."""
    return replace(_shipped(), threads=threads) if threads else _shipped()


@once
def _shipped() -> CrossEncoder:
    with as_file(files("everyclaim.models").joinpath("data", "reader.onnx")) as path:
        return load_cross_encoder(path)


def load_cross_encoder(path: Path, threads: int = 0) -> CrossEncoder:
    """Load a network of this shape from an ONNX file."""
    return CrossEncoder(single_threaded_session(path), shipped_tokenizer(), threads or threads_by_default())


def _scored(encoding: Encoding, logits: Float32Array) -> tuple[TokenScore, ...]:
    return tuple(
        TokenScore(start, end, float(logit))
        for (start, end), logit in zip(encoding.offsets[: len(logits)], logits, strict=True)
    )
