"""Exact checks of a claim's amounts, dates, times and speakers against the window that covers it best.

A fact of the claim is `found` when the window says the same, `conflict` when the window says something else of the
same kind in its place, and `missing` otherwise. The findings feed the fitted model and, in words, the rationale.
What no passage holds to the letter (an address, a code) is not supported by an offline judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from sys import getsizeof
from typing import Literal

from everyclaim.core.errors import JudgeError
from everyclaim.core.lifetime import remembered
from everyclaim.core.types import (
    Claim,
    Difference,
    FailureMode,
    JudgedClaim,
    Label,
    Passage,
    Probabilities,
    Span,
    Verdict,
)
from everyclaim.text.agreement import AGREES, Fact, Relation, relation, same
from everyclaim.text.cues import antonyms
from everyclaim.text.dates import Moment, moments
from everyclaim.text.exact import absent_things, replaced_number
from everyclaim.text.periods import Period, holds, periods
from everyclaim.text.quantities import Quantity, quantities
from everyclaim.text.tokens import STOPWORDS, content_stems, stem, tokenize
from everyclaim.verify.lexical.fields import under_another
from everyclaim.verify.lexical.reading import number_value
from everyclaim.verify.lexical.speech import reports, same_speaker

Status = Literal["found", "conflict", "missing"]
MOST_FACTS = 200  # of a claim; each is compared with each of the window
_SAME_CONTENT = 0.5  # share of the claimed words that makes another report one of the same thing
_LONGEST = 4000  # characters of a window that are read for reports
_NEAR = 48  # characters around a value whose words say what it is a value of
_FEW = 2  # values that differ from a claim's: among more, as in a table, the words beside a value must tell
_SAME_SUBJECT = 0.5  # share of a claim's other words in a window that makes its value one of the same thing
_TURN = re.compile(r", (?:but|while|whereas|although|though|and|with)\b")
_TOTALS = frozenset({"altogether", "total", "totals", "totalling", "totaling", "combined", "sum"})
_RESTATED = 0.025  # how far a value in brackets, in another unit, may lie from the one it repeats: 350 °F (175 °C)
_STEPS = re.compile(r"\bsteps?\s+\d{1,2}(?:(?:\s*(?:,|and|or|to|through|&|-|–)\s*)+\d{1,2})*\b", re.IGNORECASE)
_AT = re.compile(r"\b(?:in|on|at) $", re.IGNORECASE)  # endpos ends the text
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[;\n]")
# Words that say which of several measures of one thing is given.
_MEASURES = """
tall height high elevation altitude | wide width broad breadth | long length | deep depth | thick thickness | diameter
radius | weigh weight heavy | area | born birth birthday | died death dead | open opening | close closing
founded established | minimum least | maximum most | arrive arrival arrives | depart departure departs leaves
"""


@dataclass(frozen=True, slots=True)
class FactCheck:
    """One quantity or moment of the claim, and what the window says in its place (its text; empty: nothing)."""

    fact: Fact
    status: Status
    said: str
    at: tuple[int, int]  # where the claim says it
    instead: str = ""
    relation: Relation = "none"  # of what the window says to what the claim says
    rival: Fact | None = None  # what is in conflict
    rival_words: str = ""
    is_elsewhere: bool = False  # the value is stated, under another label than the claim names

    @property
    def kind(self) -> Literal["quantity", "moment"]:
        """Say which of the two kinds the fact is."""
        return "quantity" if isinstance(self.fact, Quantity) else "moment"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who the claim says said it (`claimed`), whether the window has that speaker, and who said it there instead."""

    status: Status | Literal["none"]
    claimed: str = ""
    instead: str = ""


def check_facts(claim: str, window: Sequence[str], beside: Sequence[str] = ()) -> list[FactCheck]:
    """Check every quantity and moment of `claim` against those of a window, given sentence by sentence.

    `beside` are more sentences, those of the window among them, that may say that a value is one of something else.
    """
    steps = [match.span() for match in _STEPS.finditer(claim)]  # of the answer itself: "Repeat steps 4 and 5"
    own = tuple(fact for fact in facts(claim) if not any(low <= fact.start < high for low, high in steps))
    if len(own) > MOST_FACTS:
        told = f"a claim with {len(own):,} numbers and dates exceeds the limit of {MOST_FACTS}"
        raise JudgeError("too_long", f"{told}; split it")
    theirs = [(fact, sentence) for sentence in window for fact in facts(sentence)] if own else []
    claimed = [any(same(fact, other) for fact in own) for other, _ in theirs]
    checks = [_check(mine, claimed, theirs, claim, window) for mine in own]
    spans = [(period, sentence) for sentence in window for period in periods(sentence)] if own else []
    bounds = [(period.start, period.end) for period in periods(claim)] if spans else []
    checks = [
        check if any(low <= check.fact.start < high for low, high in bounds) else _in_time(check, claim, spans)
        for check in checks
    ]
    for place, (before, check) in enumerate(pairwise(checks), start=1):
        if check.status != "found" and before.status == "found" and _restates(check.fact, before.fact, claim):
            checks[place] = replace(before, fact=check.fact, said=check.said, at=check.at, relation="converted")
    lines = [(sentence, facts(sentence)) for sentence in beside or window] if own else []
    return [_placed(check, claim, lines) for check in checks]


def _in_time(check: FactCheck, claim: str, spans: Sequence[tuple[Period, str]]) -> FactCheck:
    """Lay a date that is in conflict with an end of a period beside the period: June is in April to October."""
    mine, rival = check.fact, check.rival
    if check.status != "conflict" or check.is_elsewhere or not isinstance(mine, Moment):
        return check
    for period, sentence in spans:
        if rival not in (period.first, period.last) or (inside := holds(period, mine)) is None:
            continue
        words = sentence[period.start : period.end]
        if not inside:
            return replace(check, instead=words)
        if period.first is None or period.last is None or mine.year is not None:
            return FactCheck(mine, "missing", check.said, check.at)
        at = _AT.search(claim, 0, mine.start)
        whole = mine._replace(start=at.start()) if at is not None else mine
        lasting = words if words.startswith("between") or at is None else f"from {words}"
        return FactCheck(whole, "found", check.said, check.at, lasting, "within")
    return check


def _restates(bracketed: Fact, before: Fact, claim: str) -> bool:
    """Say whether a value in brackets repeats the one before it in another unit."""
    if not isinstance(bracketed, Quantity) or not isinstance(before, Quantity):
        return False
    if claim[before.end : bracketed.start].strip(" ~≈") != "(" or not claim[bracketed.end :].lstrip().startswith(")"):
        return False
    room = _RESTATED * abs(before.low)
    return bracketed.dimension == before.dimension and abs(bracketed.low - before.low) <= room


def check_speaker(claim: str, window: str) -> Attribution:
    """Check who is said to have said what: `none` when the claim reports nobody's words."""
    mine = reports(claim)
    if not mine:
        return Attribution("none")
    theirs = reports(window[:_LONGEST])
    for report in mine:
        said = content_stems(claim[slice(*_first_clause(claim, report.content_span))])
        others = [(other, content_stems(window[slice(*other.content_span)])) for other in theirs]
        rivals = [other for other, words in others if _overlap(said, words) >= _SAME_CONTENT]
        if any(same_speaker(report.speaker, other.speaker) for other in rivals):
            continue
        if rivals:
            return Attribution("conflict", report.speaker, rivals[0].speaker)
        return Attribution("missing", report.speaker)
    return Attribution("found", mine[0].speaker)


def _first_clause(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Cut what is reported where the sentence turns to something else, which may be nobody's words."""
    turn = _TURN.search(text, *span)
    return (span[0], turn.start()) if turn is not None else span


def _overlap(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return len(mine & theirs) / len(mine) if mine else 0.0


def _check(
    mine: Fact, claimed: Sequence[bool], theirs: Sequence[tuple[Fact, str]], claim: str, window: Sequence[str]
) -> FactCheck:
    """Settle one fact: found, in conflict with one that the claim does not also state (`claimed`), or missing."""
    at = span(mine, whole=True)
    said = claim[slice(*at)]
    relations = [relation(mine, other) for other, _ in theirs]
    for agreeing in AGREES:
        if agreeing in relations:
            other, sentence = theirs[relations.index(agreeing)]
            return FactCheck(mine, "found", said, at, sentence[slice(*span(other, whole=True))], agreeing)
    rivals = [
        rival for rival, found, is_claimed in zip(theirs, relations, claimed, strict=True)
        if found == "differs" and not is_claimed
    ]  # fmt: skip
    if rivals and not any(same(mine, other) for other, _ in theirs):
        rival = _of_the_same(mine, rivals, claim, window)
        if rival is not None:
            other, sentence = rival
            instead, words = (sentence[slice(*span(other, whole=whole))] for whole in (True, False))
            return FactCheck(mine, "conflict", said, at, instead, "differs", other, words)
    return FactCheck(mine, "missing", said, at)


def _placed(check: FactCheck, claim: str, lines: Sequence[tuple[str, Sequence[Fact]]]) -> FactCheck:
    """Turn a value that was found into a conflict where it stands under another label than the claim names."""
    other = under_another(check.fact, claim, lines) if check.status == "found" else None
    if other is None:
        return check
    fact, sentence = other
    instead, words = (sentence[slice(*span(fact, whole=whole))] for whole in (True, False))
    return FactCheck(check.fact, "conflict", check.said, check.at, instead, "differs", fact, words, is_elsewhere=True)


def _of_the_same(
    mine: Fact, rivals: Sequence[tuple[Fact, str]], claim: str, window: Sequence[str]
) -> tuple[Fact, str] | None:
    """Choose the value that stands in the place of a claim's; None where all are values of something else."""
    around, beside = _around(claim, mine), frozenset(words_beside(claim, mine))
    shared = 0.0
    if isinstance(mine, Quantity) and mine.dimension == "count" and not mine.noun:
        around = beside  # a bare number may count anything
    elif len(rivals) <= _FEW:
        shared = _overlap(content_stems(claim), content_stems(" ".join(window)))
    named = frozenset(word for word in beside if word.capitalize() in claim)  # whose value it is, a name tells best
    best = max(rivals, key=lambda rival: _likeness((beside, named, around), *rival))
    if is_total(claim, mine) and not _around(best[1], best[0]) & _TOTALS:
        return None  # "Together that is €858": no single price is another sum
    return best if _of_one_thing(around, _around(best[1], best[0]), shared) else None


def is_total(claim: str, mine: Fact) -> bool:
    """Say whether a claim gives a value as a sum: "Together that is €858"."""
    return not {*_sides(claim, mine)[0], *words_beside(claim, mine)}.isdisjoint({*_TOTALS, "together"})


def span(fact: Fact, *, whole: bool) -> tuple[int, int]:
    """Give where a value stands; with `whole`, "about" and its like included."""
    return (fact.first, fact.last) if whole and isinstance(fact, Quantity) else (fact.start, fact.end)


@remembered(4_000_000, lambda found, text: getsizeof(text) + 300 * len(found))
def facts(text: str) -> tuple[Fact, ...]:
    """Read the quantities and moments of a text, in order."""
    found: list[Fact] = [*quantities(text), *moments(text)]
    return tuple(sorted(found, key=lambda fact: fact.start))


def _sides(text: str, fact: Fact) -> tuple[list[str], list[str]]:
    """Give the words on either side of a value, within its sentence."""
    left, right = text[max(0, fact.start - _NEAR) : fact.start], text[fact.end : fact.end + _NEAR]
    ends = [match.span() for match in _SENTENCE_END.finditer(left)]
    stop = _SENTENCE_END.search(right)
    sides = left[ends[-1][1] if ends else 0 :], right[: stop.start() if stop else len(right)]
    before, after = ([token.norm for token in tokenize(side) if number_value(token.norm) is None] for side in sides)
    return before, after


def _around(text: str, fact: Fact) -> frozenset[str]:
    before, after = _sides(text, fact)
    return frozenset(before + after)


def words_beside(text: str, fact: Fact) -> list[str]:
    """Give the nearest word that tells something on either side of a value."""
    before, after = _sides(text, fact)
    told = ([word for word in words if word not in STOPWORDS][:1] for words in (before[::-1], after))
    return [word for words in told for word in words]


def _likeness(mine: tuple[frozenset[str], ...], other: Fact, sentence: str) -> tuple[float, int, int]:
    """Say how much the nearest words, then the names among them, then all words around two values are alike."""
    beside, named, around = ({stem(word) for word in words} for words in mine)
    theirs = {stem(word) for word in words_beside(sentence, other)}
    wide = around & {stem(word) for word in _around(sentence, other)}
    return len(beside & theirs) / max(len(theirs), 1), len(named & theirs), len(wide)


def _of_one_thing(mine: frozenset[str], theirs: frozenset[str], shared: float) -> bool:
    """Say whether two values are of the same property of something, as far as the words around them tell.

    `shared` is the share of the claim's words that the window has.
    """
    ours, others = _measured(mine), _measured(theirs)
    if ours and others and not ours & others:
        return False
    if any(antonyms(word) & theirs for word in mine - theirs):
        return False
    if {stem(word) for word in mine - STOPWORDS} & {stem(word) for word in theirs - STOPWORDS}:
        return True
    return shared >= _SAME_SUBJECT


def _measured(words: frozenset[str]) -> set[int]:
    """Give which measures some words name."""
    stems = {stem(word) for word in words}
    return {number for number, names in enumerate(_STEMS) if names & stems}


_STEMS = tuple(
    frozenset(stem(word) for word in names.split()) for names in _MEASURES.strip().replace("\n", " | ").split(" | ")
)


_SURE = Probabilities(0.03, 0.92, 0.05)
_SURE_OF_ANOTHER = Probabilities(0.02, 0.06, 0.92)
_EXACT_MODES = frozenset({FailureMode.NUMERIC_MISMATCH, FailureMode.TEMPORAL})


def compared_exactly(claim: Claim, verdict: Verdict, passages: Sequence[Passage]) -> Verdict:
    """Return the verdict; of a supported claim that holds what no passage holds to the letter, another one."""
    if verdict.label is not Label.SUPPORTED:
        return verdict
    # A claim that says all of its sentence has the code in that as its own.
    code = claim.sentence if len(claim.text) > 0.7 * len(claim.sentence) else ""
    absent = absent_things(claim.text, (f"{one.title}\n{one.text}" for one in passages), code)
    if not absent:
        return verdict
    thing, nearest = absent[0]
    mode = FailureMode.ENTITY_SWAP if nearest else FailureMode.INVENTION
    return _replaced(verdict, Label.UNSUPPORTED, mode, claim.text, thing, nearest)


def contradicted_exactly(claim: JudgedClaim, passages: Sequence[Passage]) -> JudgedClaim | None:
    """Return a claim in a language that its judge does not read as CONTRADICTED; None where nothing exact differs.

    Values, dates, addresses and codes are compared in every language.
    """
    if claim.verdict.label is Label.CONTRADICTED and claim.verdict.failure_mode in _EXACT_MODES:
        return claim
    texts = [passage.text for passage in passages]
    number = replaced_number(claim.text, texts)
    thing = number or next((pair for pair in absent_things(claim.text, texts) if pair[1]), None)
    if thing is None:
        return None
    mode = FailureMode.NUMERIC_MISMATCH if number else FailureMode.ENTITY_SWAP
    return replace(claim, verdict=_replaced(claim.verdict, Label.CONTRADICTED, mode, claim.text, *thing))


def _replaced(verdict: Verdict, label: Label, mode: FailureMode, text: str, thing: str, nearest: str) -> Verdict:
    """Return the verdict on a claim of which something is not as in the passages, or not there at all."""
    reason = f"the passages say {nearest}, the claim says {thing}" if nearest else f"{thing} is in no passage"
    start = text.find(thing)
    return replace(
        verdict,
        label=label,
        probabilities=_SURE_OF_ANOTHER if label is Label.CONTRADICTED else _SURE,
        rationale=reason,
        failure_mode=mode,
        difference=Difference(reason, Span(start, start + len(thing)) if start >= 0 else None),
        flags=tuple(flag for flag in verdict.flags if flag != "unsure"),
    )
