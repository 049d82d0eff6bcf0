"""A verdict's words: why a claim failed, said from the checks and the alignment, and the flags that go with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Evidence, FailureMode
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.checks import FactCheck
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.features import hedges, negations
from everyclaim.verify.lexical.model import is_negated
from everyclaim.verify.lexical.modes.classify import Classified
from everyclaim.verify.lexical.modes.differences import denial

_NOTES: dict[str, str] = {
    "converted": "the passage says {theirs}, which equals {ours}",
    "rounded": "the passage says {theirs}, which the claim rounds to {ours}",
    "about": "the passage says {theirs}, the claim says {ours}",
    "within": "the passage says {theirs}, the claim says {ours}",
}
_WORD = re.compile(r"\w+")
_LONGEST_QUOTE = 160  # characters of the sentence that supports a claim


class Findings(NamedTuple):
    """What there is to say about one claim beside its probabilities."""

    rationale: str
    flags: tuple[str, ...]


def explain(
    it: LexicalComparison, row: Mapping[str, float], failing: Classified | None, evidence: Sequence[Evidence]
) -> Findings:
    """Put the verdict into words: what supports a claim, or where a `failing` one differs, and what else does."""
    hedged = _hedge(it, row)
    flags = ("hedge_mismatch",) if hedged else ()
    if failing is None:
        # A title is no place in its passage, and so no evidence; it is named all the same.
        quote = one_line(max((one.quote for one in evidence), key=_telling(it), default=it.text), _LONGEST_QUOTE)
        support = f"supported by{'' if evidence else ' the title'}: «{quote}»"
        return Findings("; ".join(filter(None, [support, *_notes(it.checks), hedged])), flags)
    others = [reason for mode, reason in _reasons(it, row, hedged) if mode is not failing.mode]
    return Findings("; ".join(dict.fromkeys(filter(None, [failing.difference.reason, *others]))), flags)


def _telling(it: LexicalComparison) -> Callable[[str], tuple[int, int]]:
    """Rank quotes by how many of the claim's values, then of its words, they have."""
    values = [check.instead.casefold() for check in it.checks if check.instead]
    said = set(_WORD.findall(it.claim.text.casefold()))
    return lambda quote: (
        sum(value in quote.casefold() for value in values),
        len(said & set(_WORD.findall(quote.casefold()))),
    )


def _reasons(it: LexicalComparison, row: Mapping[str, float], hedged: str) -> list[tuple[FailureMode, str]]:
    """List what speaks against the claim, the most telling first."""
    found: list[tuple[FailureMode, str]] = []
    for check in it.checks:
        if check.status == "conflict":
            mode = FailureMode.NUMERIC_MISMATCH if check.kind == "quantity" else FailureMode.TEMPORAL
            found.append((mode, f"the passage says {check.instead}, the claim says {check.said}"))
    speaker = it.attribution
    if speaker.status == "conflict":
        at = it.claim.text.find(speaker.claimed)
        claimed = it.spelling.written[slice(*it.spelling.origin(at, at + len(speaker.claimed)))]
        said = f"the passage attributes this to {speaker.instead}, the claim to {claimed}"
        found.append((FailureMode.WRONG_ATTRIBUTION, said))
    if is_negated(row):
        found.append((FailureMode.NEGATION, _negation(it)))
    if hedged:
        found.append((FailureMode.HEDGE_MISMATCH, hedged))
    return found


def _notes(checks: Sequence[FactCheck]) -> list[str]:
    """Say which values agree without being the same: rounded, converted, loosened."""
    return [
        _NOTES[check.relation].format(theirs=check.instead, ours=check.said)
        for check in checks if check.relation in _NOTES and check.instead.casefold() != check.said.casefold()
    ]  # fmt: skip


def _negation(it: LexicalComparison) -> str:
    """Say which side is negated, and by which word; empty where what it denies is not said on the other side."""
    if it.answers:
        return next((f"the passage says '{answer.field}'" for answer in it.answers if not answer.agrees), "")
    ours, theirs = negations(it)
    for mine, reading, places, keys, said in (
        (True, it.claim, ours, it.keys, "the claim says '{}', the passage does not"),
        (False, it.reading, theirs, it.claim.keys, "the passage says '{}', the claim does not"),
    ):
        for place in places:
            if _denies(reading, place, len(reading.keys) if mine else it.end, set(keys)):
                return said.format(reading.text[slice(*denial(reading, place))])
    return ""


def _denies(reading: Reading, place: int, end: int, keys: set[str]) -> bool:
    """Say whether the word at `place` denies what `keys` say: the next telling word, for "no" also the one behind."""
    behind = [at for at in reading.content if place < at < end][: 2 if reading.norms[place] == "no" else 1]
    return bool(behind) and all(reading.keys[at] in keys for at in behind)


def _hedge(it: LexicalComparison, row: Mapping[str, float]) -> str:
    """Say which side hedges what the other states firmly; empty when both do or neither does."""
    if row["exact_main"] < 0.5:
        return ""
    ours, theirs = hedges(it)
    if ours and not theirs:
        return f"the claim says '{ours[0].text}', the passage states it as certain"
    if theirs and not ours and row["hedge_only_source"]:
        return f"the passage says '{theirs[0].text}', the claim states it as certain"
    return ""
