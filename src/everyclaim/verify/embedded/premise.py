"""Choosing what the network reads for one claim: the sentences of the passages that settle it, within a budget.

Sentences are taken greedily: what covers most of the claim's weight that is not covered yet goes first, and of those
that still add to it, a neighbour of a taken sentence is preferred. What adds nothing is not read, so that text around
the evidence does not change a verdict. Passages that hold far less of the claim than the best one are not read either.
What is taken is laid out passage by passage, the one that matters most first, so that it makes no difference in which
order they come; a gap within a passage is marked, and so is the step to another passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.verify.lexical.alignment import AlignedSource, Alignment, Bools

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
    near = best[source.owner] >= _STRANGE * best.max()
    taken = _greedy(source, alignment.weights, held, _AGAIN * whole, costs, near, tokens)
    places = [place for place, use in zip(source.places, taken, strict=True) if use]
    passages = sorted(range(len(best)), key=lambda number: (-best[number], source.readings[number].text))
    rank = {number: at for at, number in enumerate(passages)}
    return _laid_out(source, sorted(places, key=lambda place: (rank[place[0]], place[1])))


def _cost(source: AlignedSource, number: int, sentence: int) -> float:
    """Estimate the tokens of a sentence, and of the gap before it."""
    reading = source.readings[number]
    return _tokens(reading.text, *reading.sentences[sentence]) + 1


def _tokens(text: str, start: int, end: int) -> float:
    """Estimate the tokens of a part of a text."""
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
