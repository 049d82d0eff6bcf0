"""Pointing: at the sentences of the passages that bear on a claim, and at the words of the claim that fail."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np

from everyclaim.core.types import Evidence, Passage
from everyclaim.models.local.cross_encoder import TokenScore
from everyclaim.verify.embedded.premise import Premise
from everyclaim.verify.lexical.alignment import AlignedSource
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.evidence import shown
from everyclaim.verify.lexical.shortlist import Piece

_READING = 0.5  # what the network's word weighs beside the covered share of the claim
_SECOND = 0.15  # share of the claim's weight a second place must add to be shown


def evidence(
    compared: LexicalComparison, premise: Premise, scores: Sequence[TokenScore], pieces: Sequence[Piece],
    passages: Sequence[Passage],
) -> tuple[Evidence, ...]:  # fmt: skip
    """Give one sentence, or two when the second covers what the first does not; none where only a title matches."""
    source, alignment = compared.source, compared.alignment
    read = _read_share(compared, premise, scores)
    held = np.maximum(alignment.exact, alignment.soft)
    worth = alignment.weights @ held + _READING * read
    worth[read < 0] = -1.0  # not in the premise
    first = int(np.argmax(worth))
    gains = alignment.weights @ np.maximum(held - held[:, [first]], 0.0) + _READING * np.maximum(read, 0.0) - _READING
    gains = np.where(read < 0, -1.0, gains + _READING * 0.5)
    gains[first] = -1.0
    answering = _answering(compared)
    if first in answering:  # a field that answers needs no other beside it, but one that answers as well
        gains[[column for column in range(len(gains)) if column not in answering]] = -1.0
    second = int(np.argmax(gains))
    chosen = sorted({first, second} if gains[second] >= _SECOND else {first})
    return shown(((column, column) for column in chosen), source, pieces, passages)


def _answering(compared: LexicalComparison) -> set[int]:
    """List the sentences that are fields which answer a claim."""
    columns = _columns(compared.source)
    found = (_column(compared.source, columns, field.reading, field.start) for field in compared.named)
    return {column for column in found if column is not None}


def _columns(source: AlignedSource) -> dict[tuple[int, int], int]:
    """Say which column the sentences are that have one."""
    return {place: column for column, place in enumerate(source.places)}


def _column(source: AlignedSource, columns: Mapping[tuple[int, int], int], number: int, start: int) -> int | None:
    """Find the sentence of reading `number` that holds a character; None where it has no column."""
    reading = source.readings[number]
    return columns.get((number, bisect_right(reading.sentences, (start, len(reading.text) + 1)) - 1))


def _read_share(compared: LexicalComparison, premise: Premise, scores: Sequence[TokenScore]) -> np.ndarray:
    """Give every sentence the mean probability of its tokens to be evidence; -1 where it was not read."""
    source = compared.source
    columns = _columns(source)
    total, count = np.zeros(len(columns)), np.zeros(len(columns))
    for score in scores:
        place = premise.place(score.start, score.end)
        if place is None:
            continue
        number, start, _ = place
        column = _column(source, columns, number, start)
        if column is not None:
            total[column] += 1.0 / (1.0 + np.exp(-score.logit))
            count[column] += 1
    return np.where(count > 0, total / np.maximum(count, 1), -1.0)
