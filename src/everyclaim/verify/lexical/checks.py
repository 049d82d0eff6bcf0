"""Exact checks of a claim's amounts, dates, times and speakers against the window that covers it best.

A fact of the claim is `found` when the window says the same, `conflict` when the window says something else of the
same kind in its place, and `missing` otherwise. The findings feed the fitted model and, in words, the rationale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

from everyclaim.text import dates, quantities
from everyclaim.text.dates import Moment
from everyclaim.text.quantities import Quantity
from everyclaim.text.speech import Report, reports
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

Status = Literal["found", "conflict", "missing"]
Fact = TypeVar("Fact", Quantity, Moment)
_SAME_CONTENT = 0.5  # share of the claimed words that makes another report one of the same thing
_LONGEST = 4000  # characters of a window that are read for facts


@dataclass(frozen=True, slots=True)
class FactCheck:
    """One quantity or moment of the claim, and what the window says in its place (its text; empty: nothing)."""

    kind: Literal["quantity", "moment"]
    status: Status
    said: str
    instead: str = ""
    at: int = 0  # where the passage's words start in the window's text


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who the claim says said it (`claimed`), whether the window has that speaker, and who said it there instead."""

    status: Status | Literal["none"]
    claimed: str = ""
    instead: str = ""


def check_facts(claim: str, window: str) -> list[FactCheck]:
    """Check every quantity and moment of `claim` against the text of a window."""
    amounts, times = facts(claim)
    if not amounts and not times:
        return []
    their_amounts, their_times = facts(window[:_LONGEST])
    checks = [
        _check("quantity", mine, amounts, their_amounts, (claim, window), (_same_amount, quantities.conflict))
        for mine in amounts
    ]
    checks += [
        _check("moment", mine, times, their_times, (claim, window), (_same_moment, dates.conflict)) for mine in times
    ]
    return checks


def check_speaker(claim: str, window: str) -> Attribution:
    """Check who is said to have said what: `none` when the claim reports nobody's words."""
    mine = _reports(claim)
    if not mine:
        return Attribution("none")
    theirs = _reports(window[:_LONGEST])
    for report in mine:
        said = _words(claim, report.content_span)
        rivals = [other for other in theirs if _overlap(said, _words(window, other.content_span)) >= _SAME_CONTENT]
        if any(_same_speaker(report, other) for other in rivals):
            continue
        if rivals:
            return Attribution("conflict", report.speaker, rivals[0].speaker)
        return Attribution("missing", report.speaker)
    return Attribution("found", mine[0].speaker)


@lru_cache(maxsize=4096)
def _reports(text: str) -> tuple[Report, ...]:
    return tuple(reports(text))


def _words(text: str, span: tuple[int, int]) -> frozenset[str]:
    return frozenset(stem(t.norm) for t in tokenize(text[span[0] : span[1]]) if t.norm not in STOPWORDS)


def _overlap(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return len(mine & theirs) / len(mine) if mine else 0.0


def _same_speaker(mine: Report, theirs: Report) -> bool:
    """Say whether two speakers share a word; a pronoun may be anyone."""
    ours, others = (_words(report.speaker, (0, len(report.speaker))) for report in (mine, theirs))
    return not ours or not others or bool(ours & others)


@lru_cache(maxsize=4096)
def facts(text: str) -> tuple[tuple[Quantity, ...], tuple[Moment, ...]]:
    """Read the quantities and moments of a text."""
    return tuple(quantities.quantities(text)), tuple(dates.moments(text))


def _check(
    kind: Literal["quantity", "moment"],
    mine: Fact,
    own: Sequence[Fact],
    theirs: Sequence[Fact],
    texts: tuple[str, str],
    tests: tuple[Callable[[Fact, Fact], bool], Callable[[Fact, Fact], bool]],
) -> FactCheck:
    """Settle one fact: found, in conflict with one that the claim does not also state, or missing."""
    claim, window = texts
    same, conflict = tests
    said = claim[mine.start : mine.end]
    if any(same(mine, other) for other in theirs):
        return FactCheck(kind, "found", said)
    for other in theirs:
        if conflict(mine, other) and not any(same(fact, other) for fact in own):
            return FactCheck(kind, "conflict", said, window[other.start : other.end], other.start)
    return FactCheck(kind, "missing", said)


def _same_amount(mine: Quantity, theirs: Quantity) -> bool:
    return quantities.same(mine, theirs)


def _same_moment(mine: Moment, theirs: Moment) -> bool:
    return dates.covers(theirs, mine)
