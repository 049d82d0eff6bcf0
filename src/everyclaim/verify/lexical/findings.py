"""A verdict's words: why a claim failed, said from the checks and the alignment, and the flags that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from everyclaim.core.types import FailureMode, Label, Passage
from everyclaim.text.cues import cues
from everyclaim.verify.lexical.analysis import NUMBER, Reading
from everyclaim.verify.lexical.checks import FactCheck
from everyclaim.verify.lexical.comparison import Comparison, cues_beside
from everyclaim.verify.lexical.features import negations
from everyclaim.verify.lexical.model import is_negated
from everyclaim.verify.lexical.modes.classify import Classified
from everyclaim.verify.lexical.modes.parting import stands

_NOTES: dict[str, str] = {
    "converted": "the passage says {theirs}, which is {ours}",
    "rounded": "the passage says {theirs}, which the claim rounds to {ours}",
    "about": "the passage says {theirs}, the claim {ours}",
    "within": "the passage says {theirs}, the claim {ours}",
}
_MENTIONED = 3  # at most so many missing words are named


class Findings(NamedTuple):
    """What there is to say about one claim beside its probabilities."""

    rationale: str
    flags: tuple[str, ...]


def explain(
    label: Label,
    it: Comparison,
    row: Mapping[str, float],
    failing: Classified | None,
    passages: Sequence[Passage],
) -> Findings:
    """Put the verdict into words: of a `failing` claim its difference, and what else speaks against it."""
    hedged = _hedge(it, row)
    flags = ("hedge_mismatch",) if hedged else ()
    if label is Label.SUPPORTED or failing is None:
        share = row["exact_main"]
        how = "nearly word for word" if row["common"] > 0.9 else f"{share:.0%} of the claim's weight, in order"
        said = (f"the passage covers the claim ({how})", *_notes(it.checks), hedged)
        return Findings("; ".join(filter(None, said)), flags)
    reason = failing.difference.reason
    others = [reason for mode, reason in _reasons(it, row, hedged) if mode is not failing.mode]
    if failing.mode is not FailureMode.INVENTION:
        others.append(_not_mentioned(it, passages, reason))
    return Findings("; ".join(dict.fromkeys(filter(None, [reason, *others]))), flags)


def _reasons(it: Comparison, row: Mapping[str, float], hedged: str) -> list[tuple[FailureMode, str]]:
    """List what speaks against the claim, the most telling first; what no passage mentions comes behind it."""
    found: list[tuple[FailureMode, str]] = []
    for check in it.checks:
        if check.status == "conflict":
            mode = FailureMode.NUMERIC_MISMATCH if check.kind == "quantity" else FailureMode.TEMPORAL
            found.append((mode, f"passage says {check.instead}, claim says {check.said}"))
    speaker = it.attribution
    if speaker.status == "conflict":
        at = it.claim.text.find(speaker.claimed)
        claimed = it.spelling.written[slice(*it.spelling.origin(at, at + len(speaker.claimed)))]
        said = f"passage attributes this to {speaker.instead}, claim to {claimed}"
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


def _negation(it: Comparison) -> str:
    """Say which side is negated, and by which word; empty where what it denies is not said on the other side."""
    if it.answers:
        return next((f"the passage says '{answer.field}'" for answer in it.answers if not answer.agrees), "")
    ours, theirs = negations(it)
    for mine, reading, places, keys, said in (
        (True, it.claim, ours, it.keys, "the claim says '{}' where the passage does not"),
        (False, it.reading, theirs, it.claim.keys, "the passage says '{}' where the claim does not"),
    ):
        for place in places:
            if _denies(reading, place, len(reading.keys) if mine else it.end, set(keys)):
                return said.format(reading.text[slice(*reading.spans[place])])
    return ""


def _denies(reading: Reading, place: int, end: int, keys: set[str]) -> bool:
    """Say whether the word at `place` denies what `keys` say: the next telling word, for "no" also the one behind."""
    behind = [at for at in reading.content if place < at < end][: 2 if reading.norms[place] == "no" else 1]
    return bool(behind) and all(reading.keys[at] in keys for at in behind)


def _not_mentioned(it: Comparison, passages: Sequence[Passage], told: str) -> str:
    """Name some words of the claim that no passage holds and that `told` does not name; empty where there are none."""
    named = told.casefold()
    words = [word for word in _missing(it) if _tells(word) and word.casefold() not in named]
    if not words:
        return ""
    texts = [f"{passage.title or ''}\n{passage.text}".lower() for passage in passages]
    listed = [f"'{word}'" for word in islice((word for word in words if not stands(word, texts)), _MENTIONED)]
    return f"no passage mentions {', '.join(listed)}" if listed else ""


def _tells(word: str) -> bool:
    """Say whether a word says something by itself: a lone letter does not, unless it names something."""
    return len(word) > 1 or word.isdigit() or (word.isascii() and word.isupper())


def _missing(it: Comparison) -> list[str]:
    """Words of the claim that no passage holds, in any form: numbers and names first, then by weight."""
    claim, whole = it.claim, it.alignment.soft.max(axis=1)
    found: dict[str, tuple[int, float]] = {}
    for number, position in enumerate(claim.content):
        kind = claim.kinds[position]
        if claim.keys[position] not in it.source.index and (kind != 0 or whole[number] < 0.6):
            start, end = it.spelling.origin(*claim.spans[position])
            value = next((check for check in it.checks if check.at[0] < end and start < check.at[1]), None)
            if value is not None and value.status != "missing":
                continue
            word, kind = (value.said, NUMBER) if value is not None else (it.spelling.written[start:end], kind)
            found.setdefault(word, (kind, float(claim.weights[number])))
    ranked = sorted(found.items(), key=lambda item: (item[1][0] == 0, -item[1][1], item[0]))
    return [word for word, _ in ranked]


def _hedge(it: Comparison, row: Mapping[str, float]) -> str:
    """Say which side hedges what the other states firmly; empty when both do or neither does."""
    if row["exact_main"] < 0.5:
        return ""
    ours = [cue.text for cue in cues(it.claim.text) if cue.kind == "hedge"]
    theirs = [cue.text for cue in cues_beside(it) if cue.kind == "hedge"]
    if ours and not theirs:
        return f"the claim hedges ('{ours[0]}') what the passage states firmly"
    if theirs and not ours and row["hedge_only_source"]:
        return f"the passage hedges ('{theirs[0]}') what the claim states firmly"
    return ""
