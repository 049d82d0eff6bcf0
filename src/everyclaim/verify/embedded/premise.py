"""What the network reads for one claim, what the fitted model is told of that, and the sentences pointed at for it.

Of the premise, the sentences of the passages that settle a claim are taken greedily, within a budget: what covers most
of the claim's weight that is not covered yet goes first, and of those that still add to it, a neighbour of a taken
sentence is preferred. What adds nothing is not read, so that text around the evidence does not change a verdict, and
neither is a sentence that was read before: chunks of a text overlap.
Passages that hold far less of the claim than the best one are not read either. What is taken is laid out passage by
passage, the one that matters most first, so that it makes no difference in which order they come; a gap within a
passage is marked, and so is the step to another passage.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.types import Evidence, Passage
from everyclaim.models.local.cross_encoder import Scores, TokenScore
from everyclaim.verify.lexical.alignment import AlignedSource, Alignment, Bools, shown
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.passages import Piece

FloatArray = npt.NDArray[np.floating[Any]]
GAP, STEP = " … ", " | "  # within a passage, to another passage
_AGAIN = 0.25  # what covering a word once more is worth
_ADDS = 0.12  # what a sentence after the first must be worth to be read
_NEXT = 0.12  # what standing beside a taken sentence is worth
_STRANGE = 0.5  # a passage whose best sentence holds less than this share of what the best of all holds is not read
_USUAL = 20  # tokens of a claim that the budget is meant for; a longer claim says more, in more places
_MOST = 256  # tokens beyond which a long claim's budget does not grow
_CHARACTERS = 4.2  # of one token, on average
_WORDS = 0.8  # of one token: text of short words and signs has more tokens than its length says


_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}),(\d\d?|\d{4,})(?![\d]|[.,]\d)")


def pointed(text: str) -> str:
    """Write 3,5 as 3.5, which the network knows; every character keeps its place."""
    return _DECIMAL_COMMA.sub(r"\1.\2", text)


class Excerpt(NamedTuple):
    """A run of sentences: ``premise.text[at:at + end - start] == readings[reading].text[start:end]``."""

    at: int
    reading: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Premise:
    """What is read for a claim, and where each part of it is from."""

    text: str
    parts: tuple[Excerpt, ...]

    def place(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Find where ``text[start:end]`` is from: reading, start and end there; None when it is in no single part."""
        for part in self.parts:
            low, high = max(start, part.at), min(end, part.at + part.end - part.start)
            if low < high:
                return part.reading, part.start + low - part.at, part.start + high - part.at
        return None


def budget(claim: str, tokens: int) -> int:
    """Return how many tokens of premise a claim deserves: `tokens`, and in proportion more where it is long."""
    longer = _tokens(claim, 0, len(claim)) / _USUAL
    return max(tokens, min(round(tokens * longer), _MOST))


def most(tokens: int) -> int:
    """Return how many tokens of a premise are read at most: the budget is met by estimates, which may fall short."""
    return tokens * 5 // 4 + 8


def choose(source: AlignedSource, alignment: Alignment, tokens: int) -> Premise:
    """Take the sentences of `source` that matter most for the aligned claim, about `tokens` tokens of them."""
    held = (alignment.exact + alignment.soft) / 2
    whole = alignment.weights @ held  # what each sentence holds of the claim
    best = np.zeros(len(source.readings))  # of each passage: what its best sentence holds
    np.maximum.at(best, source.owner, whole.round(6))
    costs = np.array([_cost(source, number, sentence) for number, sentence in source.places])
    passages = sorted(range(len(best)), key=lambda number: (-best[number], source.readings[number].text))
    rank = {number: at for at, number in enumerate(passages)}
    new = _said_first(source, rank)
    near = new & (best[source.owner] >= _STRANGE * best.max())
    taken = _greedy(source, alignment.weights, held, _AGAIN * whole, costs, near, tokens)
    places = [place for place, use in zip(source.places, taken, strict=True) if use]
    return _laid_out(source, sorted(places, key=lambda place: (rank[place[0]], place[1])))


def _said_first(source: AlignedSource, rank: Mapping[int, int]) -> Bools:
    """Say of each sentence whether none before it is the same, passages by rank: chunks of a text often overlap."""
    first: dict[str, tuple[int, int]] = {}
    for number, sentence in sorted(source.places, key=lambda place: (rank[place[0]], place[1])):
        reading = source.readings[number]
        first.setdefault(reading.text[slice(*reading.sentences[sentence])], (number, sentence))
    places = set(first.values())
    return np.array([place in places for place in source.places])


def _cost(source: AlignedSource, number: int, sentence: int) -> float:
    """Estimate the tokens of a sentence, and of the gap before it."""
    reading = source.readings[number]
    return _tokens(reading.text, *reading.sentences[sentence]) + 1


def _tokens(text: str, start: int, end: int) -> float:
    return max((end - start) / _CHARACTERS, text.count(" ", start, end) / _WORDS)


def _greedy(
    source: AlignedSource,
    weights: FloatArray,
    held: FloatArray,
    again: FloatArray,
    costs: FloatArray,
    near: Bools,
    tokens: int,
) -> Bools:
    """Take sentences of near passages, the worthiest first, while there is room."""
    beside = source.owner[1:] == source.owner[:-1]
    taken = np.zeros(len(costs), dtype=bool)
    covered = np.zeros(len(held), dtype=held.dtype)
    left = float(tokens)
    while True:
        next_to = np.zeros(len(costs), dtype=bool)
        next_to[1:] |= taken[:-1] & beside
        next_to[:-1] |= taken[1:] & beside
        worth = weights @ np.maximum(held - covered[:, None], 0.0) + again
        adds = worth >= _ADDS if taken.any() else np.ones_like(taken)
        worth += _NEXT * next_to
        worth[taken | ~near | ~adds | ((costs > left) & taken.any())] = -1.0
        best = int(np.argmax(worth))
        if worth[best] < 0.0:
            return taken
        taken[best] = True
        covered = np.maximum(covered, held[:, best])
        left -= costs[best]


def _laid_out(source: AlignedSource, places: Sequence[tuple[int, int]]) -> Premise:
    """Join sentences in order; neighbours keep the text between them."""
    parts: list[Excerpt] = []
    runs: list[list[int]] = []  # reading, first, last sentence
    for number, sentence in places:
        if runs and runs[-1][0] == number and runs[-1][2] == sentence - 1:
            runs[-1][2] = sentence
        else:
            runs.append([number, sentence, sentence])
    text = ""
    previous = -1
    for number, first, last in runs:
        reading = source.readings[number]
        start, end = reading.sentences[first][0], reading.sentences[last][1]
        if text:
            text += GAP if number == previous else STEP
        parts.append(Excerpt(len(text), number, start, end))
        text += reading.text[start:end]
        previous = number
    return Premise(text, tuple(parts))


def describe(compared: LexicalComparison, scores: Scores) -> dict[str, float]:
    """Measure a claim that was laid beside its passages, pieces of which were read by the network."""
    row = measure(compared)
    supported, unsupported, contradicted = scores.labels
    row["read_supported"] = supported - _together(unsupported, contradicted)
    row["read_contradicted"] = contradicted - unsupported
    row["read_claim_tokens"] = math.log1p(len(scores.claim))
    return row


def _together(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))


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
    columns = {place: column for column, place in enumerate(source.places)}
    answering = {_column(source, columns, field.reading, field.start) for field in compared.named} - {None}
    if first in answering:  # a field that answers needs no other beside it, but one that answers as well
        gains[[column for column in range(len(gains)) if column not in answering]] = -1.0
    second = int(np.argmax(gains))
    chosen = sorted({first, second} if gains[second] >= _SECOND else {first})
    return shown(((column, column) for column in chosen), source, pieces, passages)


def _column(source: AlignedSource, columns: Mapping[tuple[int, int], int], number: int, start: int) -> int | None:
    """Find the sentence of reading `number` that holds a character; None where it has no column."""
    reading = source.readings[number]
    return columns.get((number, bisect_right(reading.sentences, (start, len(reading.text) + 1)) - 1))


def _read_share(compared: LexicalComparison, premise: Premise, scores: Sequence[TokenScore]) -> np.ndarray:
    """Give every sentence the mean probability of its tokens to be evidence; -1 where it was not read."""
    source = compared.source
    columns = {place: column for column, place in enumerate(source.places)}
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
