"""Where a claim parts from its passages: words that differ, values that clash, small words of one side only.

Positions are those of tokens: of the claim as it is compared, and of the window's reading.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.cues import Cue, cues
from everyclaim.text.dates import Moment
from everyclaim.verify.lexical.alignment import sentence
from everyclaim.verify.lexical.checks import FactCheck, facts
from everyclaim.verify.lexical.comparison import LexicalComparison, cues_beside
from everyclaim.verify.lexical.reading import NUMBER, PLAIN
from everyclaim.verify.lexical.speech import Report, reports

_ALIKE = 0.3  # least likeness of two words of which one may stand in the other's place
_NAMED = 0.4  # likeness of two names, or two numbers, whatever they are
_OTHER_KIND = 0.3  # what is taken off where one of the two is a name and the other is not
_BETWEEN = 0.3  # what standing between the same neighbours is worth
_STRANGE = 0.5  # likeness below which a word of the claim is not in other words in the window
_NARROW = 4  # words of the passage between such neighbours, at most
_LONGEST = 4000  # characters of a passage that are read for reports


@dataclass(frozen=True, slots=True)
class Swap:
    """A word of the claim, and a word of the window that may be what stands in its place."""

    mine: int
    theirs: int
    likeness: float


class Doubt(NamedTuple):
    """A stretch of the claim as it is compared, and as written (`at`), and how much it is doubted, 0 to 1."""

    start: int
    end: int
    at: tuple[int, int]
    weight: float


def doubt_of(low: int, high: int, doubts: Sequence[Doubt]) -> float:
    """Give the greatest doubt about a stretch of a claim; the doubts are in order and do not overlap."""
    first = bisect_right(doubts, low, key=lambda one: one.end)
    near = takewhile(lambda one: one.start < high, (doubts[at] for at in range(first, len(doubts))))
    return max((one.weight for one in near), default=0.0)


@dataclass(frozen=True)
class Parting:
    """A claim beside its passages, looked at for what differs."""

    it: LexicalComparison
    whole: tuple[str, ...] = ()  # what was read, with what tables say of something else
    is_contradicted: bool = False

    @cached_property
    def number(self) -> int:
        """The number of the reading that holds the window."""
        return self.it.source.places[self.it.alignment.main[0]][0]

    @cached_property
    def lone(self) -> list[int]:
        """Content words of the claim that the window does not hold."""
        window = set(self.it.keys)
        return [at for at in self.it.claim.content if self.it.claim.keys[at] not in window]

    @cached_property
    def unused(self) -> list[int]:
        """Content words of the window that the claim does not hold."""
        it, said = self.it, set(self.it.claim.keys)
        return [at for at in it.reading.content if it.start <= at < it.end and it.reading.keys[at] not in said]

    @cached_property
    def swaps(self) -> list[Swap]:
        """Words that may stand in each other's place, the likeliest first."""
        it = self.it
        if not self.lone or not self.unused:
            return []
        rows = dict(zip(it.claim.content, it.claim.rows, strict=True))
        others = dict(zip(it.reading.content, it.reading.rows, strict=True))
        alike = (
            it.vectors.matrix[[rows[at] for at in self.lone]] @ it.vectors.matrix[[others[at] for at in self.unused]].T
        )
        mine = np.array([it.claim.kinds[at] for at in self.lone])[:, None]
        theirs = np.array([it.reading.kinds[at] for at in self.unused])[None, :]
        alike = np.where((mine == theirs) & (mine != PLAIN), np.maximum(alike, _NAMED), alike)
        alike = np.where(mine != theirs, alike - _OTHER_KIND, alike)
        for gap in it.edits.gaps:
            inside = [n for n, at in enumerate(self.lone) if gap.a0 <= at < gap.a1]
            across = [n for n, at in enumerate(self.unused) if gap.b0 <= at - it.start < gap.b1]
            if inside and across and gap.closed and len(across) <= _NARROW:
                alike[np.ix_(inside, across)] += _BETWEEN
        alike = np.where((mine == NUMBER) != (theirs == NUMBER), -1.0, alike)
        found = [Swap(self.lone[m], self.unused[t], float(alike[m, t])) for m, t in np.argwhere(alike >= _ALIKE)]
        return sorted(found, key=lambda swap: (-swap.likeness, swap.mine, swap.theirs))

    @cached_property
    def nearest(self) -> str:
        """The one sentence of the passages that covers the claim best."""
        return sentence(self.it.source, self.it.alignment.best[1][0])

    @cached_property
    def cues(self) -> tuple[list[Cue], list[Cue]]:
        """Small words that change what the claim as written, and what the sentences that speak of it, commit to."""
        spelling = self.it.spelling
        ours = (
            cue
            for cue in cues(self.it.claim.text)
            if cue.text in spelling.written[slice(*spelling.origin(cue.start, cue.end))]
        )
        return list(ours), cues_beside(self.it)

    def only(self, kind: str, *, mine: bool) -> list[Cue]:
        """Give the cues of a kind that one side has and the other has not."""
        ours, others = self.cues if mine else self.cues[::-1]
        held = {cue.text.casefold() for cue in others}
        return [cue for cue in ours if cue.kind == kind and cue.text.casefold() not in held]

    def checks(self, status: str, *, time: bool) -> list[FactCheck]:
        """Give the checked values of a status: of time, or the others."""
        return [check for check in self.it.checks if check.status == status and is_time(check.fact) == time]

    @cached_property
    def off(self) -> list[FactCheck]:
        """Give the checked values of the claim that no sentence of the passages states."""
        open_ones = [check for check in self.it.checks if check.status != "found"]
        if not open_ones:
            return []
        stated = [fact for reading in self.it.source.readings for fact in facts(reading.text[:_LONGEST])]
        return [check for check in open_ones if not any(relation(check.fact, fact) in AGREES for fact in stated)]

    @cached_property
    def strange(self) -> list[int]:
        """Content words of the claim without a like in the window, and outside the values that are checked."""
        it = self.it
        first, last = it.alignment.main
        alike = it.alignment.soft[:, first : last + 1].max(axis=1)
        settled = [check.at for check in it.checks]
        found = []
        for row, at in enumerate(it.claim.content):
            start, end = it.spelling.origin(*it.claim.spans[at])
            if alike[row] < _STRANGE and not any(low < end and start < high for low, high in settled):
                found.append(at)
        return found

    @cached_property
    def reports(self) -> list[Report]:
        """What the claim reports somebody to have said."""
        return reports(self.it.claim.text)

    @cached_property
    def their_reports(self) -> list[tuple[int, Report]]:
        """What the passages report somebody to have said, each with its reading's number."""
        readings = enumerate(self.it.source.readings)
        return [(number, one) for number, reading in readings for one in reports(reading.text[:_LONGEST])]


def stands(words: str, texts: Iterable[str]) -> bool:
    """Say whether one of some texts in lower case holds some words, also where letters meet digits, as in "25bp".

    Hyphens are as good as blanks, and the last word may stand in the plural: "under five" stands in "under-fives".
    """
    low = words.lower()
    if not low:
        return False
    before = r"(?<!\d)" if low[0].isdigit() else r"(?<![^\W\d_])"
    behind = r"(?![\d]|[.,]\d)" if low[-1].isdigit() else r"s?(?![^\W\d_])"
    whole = re.compile(before + r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", low))) + behind)
    return any(whole.search(text) for text in texts)


def is_time(fact: Fact) -> bool:
    """Say whether a value is a date, a time, a length of time or a frequency; an age is an amount."""
    if isinstance(fact, Moment):
        return True
    if fact.dimension in ("duration", "frequency"):
        return fact.noun != "age"
    return fact.noun == "time" and fact.rate is not None and fact.rate.dimension == "duration"
