"""Where a claim parts from its passages: words that differ, values that clash, small words of one side only.

Positions are those of tokens: of the claim as it is compared, and of the window's reading.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from everyclaim.core.types import FailureMode
from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.cues import Cue, cues
from everyclaim.text.dates import Moment
from everyclaim.text.periods import periods
from everyclaim.text.quantities import Quantity
from everyclaim.text.tokens import STOPWORDS, content_stems
from everyclaim.verify.lexical.alignment import sentence
from everyclaim.verify.lexical.checks import FactCheck, facts, is_total, span, words_beside
from everyclaim.verify.lexical.comparison import LexicalComparison, calculations, cues_beside, is_exact, stated
from everyclaim.verify.lexical.reading import NUMBER, PLAIN
from everyclaim.verify.lexical.speech import Report, reports

_ALIKE = 0.3  # least likeness of two words of which one may stand in the other's place
_NAMED = 0.4  # likeness of two names, or two numbers, whatever they are
_OTHER_KIND = 0.3  # what is taken off where one of the two is a name and the other is not
_BETWEEN = 0.3  # what standing between the same neighbours is worth
_STRANGE = 0.5  # likeness below which a word of the claim is not in other words in the window
_NARROW = 4  # words of the passage between such neighbours, at most
_TELLING = 5  # smallest number of things that is looked for in a sum: smaller ones add up by chance
_LONGEST = 4000  # characters of a passage that are read for reports
FIGURE = re.compile(r"\d(?:[\d.,]*\d)?")
_REST = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?= $)")  # before a blank; endpos ends the text
_CLAUSE_END = re.compile(r"[,;:](?=\s)|[()|–—]")


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


class DifferencePlace(NamedTuple):
    """A stretch of a reading, by number."""

    reading: int
    start: int
    end: int


class FoundDifference(NamedTuple):
    """Where a claim as it was written and its passages differ; None where one of them has nothing in its place.

    `mode` is another than was asked for, where what differs shows it.
    """

    mine: tuple[int, int] | None
    theirs: DifferencePlace | None
    reason: str
    mode: FailureMode | None = None


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


def reckoned(it: LexicalComparison, check: FactCheck) -> str:
    """Say which values of the passages make a claim's, and how; empty where none do or where a passage states it."""
    mine, theirs = check.fact, stated(it.source, it.alignment)
    if not is_exact(mine) or any(relation(mine, other.fact) in AGREES for other in theirs):
        return ""
    is_count, is_sum = mine.dimension == "count", is_total(it.spelling.written, mine)
    values = [one for one in theirs if is_exact(one.fact) and (not is_count or one.fact.low >= _TELLING)]
    for how, words, is_near in calculations(mine, it.checks, values):
        if is_near or (how == "their sum" and (is_sum or not is_count)):
            said = words.removesuffix(" each") if how == "its multiple" else words
            return f"the passages say {said}, but do not state {how and f'{how}, '}{check.said}"
    named = content_stems(it.spelling.written)
    parts = [
        where[slice(*span(fact, whole=False))]
        for fact, where, _ in values
        if is_exact(fact)
        and fact.dimension == mine.dimension
        and content_stems(" ".join(words_beside(where, fact))) & named
    ]
    if len(parts) > 1 and is_sum:
        return f"the passages say {', '.join(parts[:-1])} and {parts[-1]}, the claim says {check.said}"
    return ""


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


def clash(parting: Parting, *, time: bool) -> FoundDifference | None:
    """Name a value of a claim, and what the window states in its place."""
    for check in parting.checks("conflict", time=time):
        place = _rival(parting, check)
        if place is not None and not check.is_elsewhere:
            place = _nearest(parting, check, place)
        if place is not None:
            return _against(parting, check, place)
    return None


def stated_elsewhere(parting: Parting) -> FoundDifference | None:
    """Name a value that the passages state under another label than the claim names, and what stands there."""
    for check in parting.it.checks:
        if check.is_elsewhere:
            place = _rival(parting, check)
            said = f"the passage says {check.instead}, the claim says {check.said}"
            return _against(parting, check, place) if place else FoundDifference(check.at, None, said, _mode(check))
    return None


def missing(parting: Parting, *, time: bool) -> FactCheck | None:
    """Give the first value that no passage states; an ordinal ("first") only where there is no other."""
    found = [check for check in parting.off if is_time(check.fact) == time]
    return min(found, key=lambda one: isinstance(one.fact, Quantity) and one.fact.dimension == "ordinal", default=None)


def one_instead(parting: Parting, check: FactCheck) -> FoundDifference | None:
    """Name the only value of a missing one's kind in the sentence that has most of the claim's other words."""
    it = parting.it
    number, place = it.source.places[it.alignment.best[1][0]]
    rest = content_stems(it.spelling.written) - content_stems(check.said)
    if 2 * len(rest & content_stems(parting.nearest)) <= len(rest):
        return None
    reading = it.source.readings[number]
    found = {reading.text[at.start : at.end]: at for at in _others(parting, check, number, reading.sentences[place])}
    return _against(parting, check, *found.values()) if len(found) == 1 else None


def _others(parting: Parting, check: FactCheck, number: int, sentence: tuple[int, int]) -> Iterator[DifferencePlace]:
    """Yield the values in a sentence that are of a value's kind, and none that the claim states."""
    text = parting.it.source.readings[number].text[slice(*sentence)]
    own = facts(parting.it.spelling.written)
    for fact in facts(text):
        if _is_comparable(check.fact, fact) and not any(relation(mine, fact) in AGREES for mine in own):
            start, end = span(fact, whole=True)
            within = (one for one in periods(text) if one.first and one.last and one.start <= start < one.end)
            start, end = next(((one.start, one.end) for one in within), (start, end))
            yield DifferencePlace(number, sentence[0] + start, sentence[0] + end)


def _is_comparable(mine: Fact, other: Fact) -> bool:
    if not isinstance(mine, Quantity) or not isinstance(other, Quantity):
        return relation(mine, other) == "differs"
    rates = [one.rate and one.rate.dimension for one in (mine, other)]
    return (mine.dimension, mine.noun, rates[0]) == (other.dimension, other.noun, rates[1])


def _nearest(parting: Parting, check: FactCheck, place: DifferencePlace) -> DifferencePlace | None:
    """Give a clashing value, or another where only that one's clause has words of the claim: "72 mm for the Swell".

    None for a value of another kind without such words.
    """
    reading = parting.it.source.readings[place.reading]
    low, high = next(one for one in reading.sentences if one[0] <= place.start < one[1])
    cuts = [low, *(low + cut.start() for cut in _CLAUSE_END.finditer(reading.text[low:high])), high]
    said = content_stems(parting.it.spelling.written) - content_stems(check.said)

    def clause(one: DifferencePlace) -> str:
        return reading.text[max(at for at in cuts if at <= one.start) : min(at for at in cuts if at >= one.end)]

    def shared(one: DifferencePlace) -> frozenset[str]:
        return said & content_stems(clause(one))

    others = list(_others(parting, check, place.reading, (low, high)))
    whole = next((one for one in others if one.start <= place.start < one.end), None)
    rest = [one for one in others if one is not whole and clause(one) != clause(place)]
    if rest and not shared(place) - frozenset().union(*map(shared, rest)):
        best = max(rest, key=lambda one: len(shared(one) - shared(place)))
        if shared(best) - shared(place):
            return best
    return whole or (place if shared(place) else None)


def _against(parting: Parting, check: FactCheck, place: DifferencePlace) -> FoundDifference:
    theirs, mine = _counted(parting, check, place)
    return FoundDifference(check.at, place, f"the passage says {theirs}, the claim says {mine}", _mode(check))


def _mode(check: FactCheck) -> FailureMode:
    return FailureMode.TEMPORAL if is_time(check.fact) else FailureMode.NUMERIC_MISMATCH


def _counted(parting: Parting, check: FactCheck, place: DifferencePlace) -> tuple[str, str]:
    """Two bare numbers with the word that stands beside both: "420 kr" and "380 kr", "day 2" and "day 5"."""
    text, written = parting.it.source.readings[place.reading].text, parting.it.spelling.written
    theirs, mine = text[place.start : place.end], check.said
    if (unit := _REST.match(text, place.end)) and unit.group() == written[check.at[1] :][: len(unit.group())]:
        return theirs + unit.group(), mine + unit.group()  # "14 °dH"
    if FIGURE.fullmatch(theirs) and FIGURE.fullmatch(mine):
        (before, after), (ours_before, ours_after) = _beside_value(text, place[1:]), _beside_value(written, check.at)
        if after and after == ours_after:
            return f"{theirs} {after}", f"{mine} {after}"
        if before and before == ours_before:
            return f"{before} {theirs}", f"{before} {mine}"
    return theirs, mine


def _beside_value(text: str, at: tuple[int, int]) -> tuple[str, str]:
    """Give the telling words right before and right behind a value, empty where there are none."""
    found = _LAST_WORD.search(text, 0, at[0]), re.match(r" ([^\W\d_]+)", text[at[1] :])
    words = (one.group().strip() if one else "" for one in found)
    before, after = ("" if word.lower() in STOPWORDS else word for word in words)
    return before, after


def _rival(parting: Parting, check: FactCheck) -> DifferencePlace | None:
    """Find where the window, or the field that a claim names, states the value that clashes with a claim's."""
    it = parting.it
    if check.rival is None:
        return None
    low = span(check.rival, whole=True)[0]
    window = range(it.alignment.main[0], it.alignment.main[1] + 1)
    for column in (*window, *(range(len(it.source.places)) if check.is_elsewhere else ())):
        text = sentence(it.source, column)
        at = text.rfind(check.instead, 0, low + len(check.instead))  # the value, or the period that it ends
        if at >= 0 and check.rival in facts(text):
            number, place = it.source.places[column]
            start = it.source.readings[number].sentences[place][0]
            return DifferencePlace(number, start + at, start + at + len(check.instead))
    return None


def numbered(parting: Parting, at: tuple[int, int]) -> tuple[int, int]:
    """Widen a bare number to the word that says what it counts: "20 people", of "to 20" as well."""
    written = parting.it.spelling.written
    *before, last = written[slice(*at)].split() or [""]
    if not FIGURE.fullmatch(last) or not STOPWORDS.issuperset(map(str.lower, before)):
        return at
    after = _beside_value(written, at)[1]
    return at[1] - len(last), at[1] + (len(after) + 1 if after else 0)
