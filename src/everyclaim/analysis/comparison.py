"""What a comparison says: the numbers, the claims that changed, a sentence for a decision, and when to roll back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rapidfuzz import fuzz

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.compare import Changes, Compared, Matching, Mover, Side, Where, regressions
from everyclaim.analysis.correction import Correction, corrected
from everyclaim.analysis.estimates import percent, points
from everyclaim.analysis.looks import (
    ANY_CONTRADICTED,
    ANY_FAILING,
    CONTRADICTED,
    LEVEL,
    SCORE,
    SUPPORTED,
    UNSUPPORTED,
    Look,
    Word,
)
from everyclaim.analysis.rollback import RollBack, roll_back
from everyclaim.core.plaintext import counted, one_line, wrapped
from everyclaim.core.types import Label, Provenance
from everyclaim.store.figures import ClaimRow

COMPARISON_SCHEMA = 1
_ALIKE = 70  # of 100: claims of two answers that are as alike are taken for the same statement, worded otherwise
MOST_UNPAIRED = 0.1  # of a run's answers; with more of them without a partner no gate passes
OTHER_MEAN = 0.02  # by which a run's mean over all answers may differ from that over the compared ones
_RATES = {
    SCORE: "the mean score",
    SUPPORTED: "the rate of supported claims",
    UNSUPPORTED: "the rate of unsupported claims",
    CONTRADICTED: "the rate of contradicted claims",
    ANY_FAILING: "the share of answers with a failing claim",
    ANY_CONTRADICTED: "the share of answers with a contradicted claim",
}


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that changed: as it stood in each answer (None: not there), and how the two were matched."""

    before: ClaimRow | None
    after: ClaimRow | None
    by: str  # text, likeness, none


@dataclass(frozen=True, slots=True)
class Moved:
    """An answer that moved, with its claims that changed."""

    mover: Mover
    claims: tuple[ClaimChange, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared. `differs` names what judged them differently: then a difference may be the judge's.

    `advice` is empty unless claims that fail rose. While there are `doubts`, no gate passes.
    """

    before: Side
    after: Side
    numbers: Compared
    moved: tuple[Moved, ...]
    differs: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    calibration: Calibration | None = None  # what labels say of the judge of both
    rule: RollBack | None = None  # of a release with several parts; None: the answers of `after` are the only part

    @property
    def matching(self) -> Matching:
        """Which samples are compared."""
        return self.numbers.matching

    @property
    def changes(self) -> Changes | None:
        """What became of the claims that stand in both answers of a pair; None without pairs."""
        return self.numbers.changes

    @property
    def looks(self) -> tuple[Look, ...]:
        """Every look: at the whole, then at failure modes and slices."""
        return (*self.numbers.whole, *self.numbers.parts)

    @property
    def regressed(self) -> tuple[Look, ...]:
        """What got worse, shown beyond chance: the whole first, then the parts, surest first."""
        return tuple(regressions(self.numbers))

    @property
    def improved(self) -> tuple[Look, ...]:
        """What got better, shown beyond chance."""
        return tuple(look for look in self.looks if look.word is Word.IMPROVED)

    @property
    def sentence(self) -> str:
        """Say what changed, with intervals, or that no difference is shown; and how good the judge is, if known."""
        judge = self.calibration.sentence if self.calibration else ""
        return " ".join(part for part in (sentence(self.before, self.after, self.numbers), judge) if part)

    @property
    def correction(self) -> Correction | None:
        """The rate of contradicted claims without the judge's error; None where nobody labelled a claim."""
        if self.calibration is None:
            return None
        return corrected(self.numbers.of(CONTRADICTED), Label.CONTRADICTED, self.calibration.counts)

    @property
    def advice(self) -> str:
        """What the rule of a release report says where claims that fail rose; empty where no rise is shown."""
        judge = self.calibration.counts if self.calibration else None
        parts = [(self.after.title, self.numbers.whole)]
        return (self.rule or roll_back(self.before.title, self.after.title, parts, judge)).advice

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the comparison cannot show that nothing got worse: what of the two runs it does not cover."""
        return tuple(_doubts(self.before, self.after, self.numbers))

    def __str__(self) -> str:
        """Tell in a few lines, at most 80 columns wide."""
        lines = [f"{self.before.title} → {self.after.title}", pairing(self.matching), self.sentence, self.advice]
        if self.differs:
            lines.insert(2, "judged differently: " + "; ".join(self.differs))
        return "\n".join(wrapped(one_line(line)) for line in lines if line)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return comparison_to_json(self)


def provenance_differences(before: Provenance, after: Provenance) -> tuple[str, ...]:
    """Name what judged two runs differently: parts, version of the library, and parameters such as prompts."""
    names = ("metric", "decomposer", "verifier", "strategy", "version")
    found = [(name, getattr(before, name), getattr(after, name)) for name in names]
    keys = sorted({*before.parameters, *after.parameters})
    found += [(key, before.parameters.get(key, "none"), after.parameters.get(key, "none")) for key in keys]
    return tuple(f"{name} {one} → {other}" for name, one, other in found if one != other)


def claim_changes(before: Sequence[ClaimRow], after: Sequence[ClaimRow]) -> tuple[ClaimChange, ...]:
    """Match the claims of two answers, by text, then by likeness; return those that changed their label or failed.

    A claim of one answer alone is told when it fails: it appeared, or went.
    """
    left, right = list(before), list(after)
    pairs: list[ClaimChange] = []
    by_text = {_key(row): row for row in reversed(right)}
    for row in before:
        other = by_text.pop(_key(row), None)
        if other is not None:
            left.remove(row)
            right.remove(other)
            pairs.append(ClaimChange(row, other, "text"))
    scored = sorted(
        ((fuzz.ratio(_key(a), _key(b)), i, j) for i, a in enumerate(left) for j, b in enumerate(right)), reverse=True
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    for alike, i, j in scored:
        if alike >= _ALIKE and i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append(ClaimChange(left[i], right[j], "likeness"))
    alone = [ClaimChange(row, None, "none") for i, row in enumerate(left) if i not in taken[0]]
    alone += [ClaimChange(None, row, "none") for j, row in enumerate(right) if j not in taken[1]]
    changed = [one for one in pairs if one.before and one.after and one.before.label is not one.after.label]
    changed += [one for one in alone if _failing(one.before or one.after)]
    return tuple(sorted(changed, key=lambda one: -_weight(one)))


def pairing(matching: Matching) -> str:
    """Say which samples are compared."""
    if not matching.paired:
        shared = "no ids" if not matching.shared else f"only {counted(matching.shared, 'id')}"
        return f"not paired: the runs share {shared}, so all answers of one stand against all of the other"
    left = [
        f"{number:,} only in the {which}"
        for number, which in ((matching.only_before, "first"), (matching.only_after, "second"))
        if number
    ]
    if matching.repeated:
        left.append(f"{counted(matching.repeated, 'id')} occurring unequally often left out")
    same = f"{matching.same_text:,} with the same answer and passages" if matching.same_text else ""
    return ", ".join(part for part in (f"{counted(matching.shared, 'sample')} paired by id", same, *left) if part)


def sentence(before: Side, after: Side, numbers: Compared) -> str:
    """Say what the primary measure, the mean score, shows; then the surest changes of the secondary ones."""
    primary, *others = numbers.whole
    secondary, parts = ([look for look in looks if look.shown] for looks in (others, numbers.parts))
    subject = f"Release {after.release}" if after.release else f"Run {after.title}"
    told = [] if primary.shown else [_nothing_shown(before, after, numbers)]
    words = (Word.REGRESSED, Word.IMPROVED)
    for word in sorted(words, key=lambda word: word is not primary.word):
        whole = primary if primary.word is word else _surest(secondary, word)
        chosen = [whole, _narrowed(_surest(parts, word), parts)]
        clauses = [_clause(look) for look in chosen if look is not None]
        if len(clauses) > 1 and clauses[1].startswith(head := clauses[0].split(" by ")[0] + " by "):
            clauses[1] = "by " + clauses[1].removeprefix(head)  # the same measure, where it moved most surely
        if clauses:
            also = "also " if told and primary.shown else ""
            told.append(f"{'It' if told and primary.shown else subject} {also}{', and '.join(clauses)}.")
    return " ".join(told)


def _doubts(before: Side, after: Side, numbers: Compared) -> Iterator[str]:
    for side in (before, after):
        if side.status != "finished":
            yield f"run {one_line(side.title, 60)} is {side.status}: the answers that it lacks are not compared"
    primary, matching = numbers.of(SCORE), numbers.matching
    lacking = (matching.only_before, matching.only_after) if matching.paired else (before.total, after.total)
    compared = (primary.before, primary.after)
    for side, number, whole, paired in zip((before, after), lacking, numbers.means, compared, strict=True):
        name = one_line(side.title, 60)
        if number > MOST_UNPAIRED * side.total:
            share = f"{percent(number / side.total)}, more than {percent(MOST_UNPAIRED)}"
            yield f"{number:,} of {counted(side.total, 'answer')} of {name} have no partner in the other run ({share})"
        if whole is not None and paired is not None and abs(whole - paired) > OTHER_MEAN:
            yield f"the mean score of {name} is {whole:.3f} over all its answers, {paired:.3f} over those compared"
    if primary.word is Word.TOO_FEW:
        yield f"{counted(primary.answers, 'answer')} that both scored are too few"


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Write a comparison as plain JSON values; what has no number is null."""
    numbers = comparison.numbers
    return {
        "schema": COMPARISON_SCHEMA,
        "sentence": comparison.sentence,
        "advice": comparison.advice,
        "judge": _judge_to_json(comparison.calibration),
        "contradicted_corrected": comparison.correction and comparison.correction.to_json(),
        "before": _side_to_json(comparison.before),
        "after": _side_to_json(comparison.after),
        "differs": list(comparison.differs),
        "by": list(comparison.by),
        "matching": asdict(numbers.matching),
        "doubts": list(comparison.doubts),
        "level": LEVEL,
        "primary": SCORE.name,
        "correction": "holm",
        "whole": [look_to_json(look) for look in numbers.whole],
        "parts": [look_to_json(look) for look in numbers.parts],
        "same_text": [look_to_json(look) for look in numbers.same_text],
        "changes": _changes_to_json(numbers.changes),
        "moved": [_moved_to_json(one) for one in comparison.moved],
    }


def look_to_json(look: Look) -> dict[str, Any]:
    """Write one look as plain JSON values."""
    return {
        "measure": look.measure.name,
        "mode": look.mode,
        "slice": dict(look.where),
        "before": look.before,
        "after": look.after,
        "difference": look.difference,
        "low": look.low,
        "high": look.high,
        "answers": look.answers,
        "units": list(look.claims),
        "detectable": look.detectable,
        "p_value": look.p_value,
        "p_adjusted": look.adjusted,
        "word": look.word.value,
        "warnings": list(look.warnings),
    }


def _surest(looks: Sequence[Look], word: Word) -> Look | None:
    """The surest look; of equally sure ones the first, so the mean score before its parts."""
    return min((look for look in looks if look.word is word), key=lambda look: look.adjusted or 0.0, default=None)


def _narrowed(look: Look | None, parts: Sequence[Look]) -> Look | None:
    """The surest look inside this one where the difference is larger, and so on: where it comes from."""
    while look is not None:
        inside = [one for one in parts if one.word is look.word and _is_inside(one, look)]
        narrower = min(inside, key=lambda one: one.adjusted or 0.0, default=None)
        if narrower is None:
            return look
        look = narrower
    return None


def _is_inside(one: Look, other: Look) -> bool:
    same_mode = one.mode == other.mode or other.mode is None
    is_narrower = (len(one.where), one.mode is not None) > (len(other.where), other.mode is not None)
    larger = abs(one.difference or 0.0) > abs(other.difference or 0.0)
    return same_mode and is_narrower and larger and set(other.where) <= set(one.where)


def _clause(look: Look) -> str:
    assert look.difference is not None and look.low is not None and look.high is not None  # noqa: PT018 - it is shown
    verb, sign = ("raised", 1) if look.difference > 0 else ("lowered", -1)
    low, high = sorted((sign * look.low, sign * look.high))
    by = f"by {points(abs(look.difference))} points (95 % {points(low)} to {points(high)})"
    return f"{verb} {_what(look)} {by}{_on(look.where)}"


def _what(look: Look) -> str:
    return f"the rate of {look.measure.title}" if look.mode else _RATES[look.measure]


def _on(where: Where) -> str:
    named = " and ".join(f"{one_line(tag, 40)}={one_line(value, 40)}" for tag, value in where)
    return f" on answers with {named}" if named else ""


def _nothing_shown(before: Side, after: Side, numbers: Compared) -> str:
    look = numbers.of(SCORE)
    names = f"{one_line(before.title, 60)} and {one_line(after.title, 60)}"
    if look.before is None or look.after is None or look.difference is None or look.low is None or look.high is None:
        return f"Nothing can be said of {names}: no score stands on either side."
    head = "Too few samples to tell" if look.word is Word.TOO_FEW else "No difference is shown between"
    head += f" {names}" if look.word is not Word.TOO_FEW else f" {names} apart"
    sign = "+" if look.difference > 0 else ""
    scored = counted(look.answers, "answer")
    over = f"over {scored} that both scored" if numbers.matching.paired else f"over {scored} or more on each side"
    power = ""
    if look.detectable:
        power = f" With this many answers, a change of {points(look.detectable)} points is detected with 80 % power."
    return (
        f"{head}: the mean score went from {look.before:.3f} to {look.after:.3f}, by {sign}{points(look.difference)}"
        f" points (95 % {points(look.low)} to {points(look.high)}), {over}.{power}"
    )


def _key(row: ClaimRow) -> str:
    return " ".join(row.text.split()).casefold()


def _failing(row: ClaimRow | None) -> bool:
    return row is not None and row.label is not Label.SUPPORTED


def _weight(change: ClaimChange) -> int:
    rank = {None: 0, Label.SUPPORTED: 0, Label.UNSUPPORTED: 1, Label.CONTRADICTED: 2}
    before, after = (rank[row.label if row else None] for row in (change.before, change.after))
    return abs(after - before) * 4 + after


def _judge_to_json(found: Calibration | None) -> dict[str, Any] | None:
    if found is None:
        return None
    rates = found.rates
    return {
        "run": found.run,
        "supported_called_so": {**asdict(rates.tpr), "labels": rates.supported},
        "failing_called_so": {**asdict(rates.tnr), "labels": rates.failing},
    }


def _side_to_json(side: Side) -> dict[str, Any]:
    return {
        "id": side.id,
        "name": side.name,
        "release": side.release,
        "judge": side.judge,
        "status": side.status,
        "total": side.total,
        "outcomes": {outcome.value: number for outcome, number in side.outcomes.items()},
    }


def _changes_to_json(changes: Changes | None) -> Mapping[str, Any] | None:
    if changes is None:
        return None
    return {
        "labels": [
            {"before": before.value, "after": after.value, "claims": number}
            for (before, after), number in changes.labels.items()
        ],
        "only_before": changes.only_before,
        "only_after": changes.only_after,
    }


def _moved_to_json(moved: Moved) -> dict[str, Any]:
    mover = moved.mover
    return {
        "id": mover.id,
        "score": list(mover.scores),
        "failing": list(mover.failing),
        "contradicted": list(mover.contradicted),
        "claims": [
            {"before": _claim_to_json(one.before), "after": _claim_to_json(one.after), "matched_by": one.by}
            for one in moved.claims
        ],
    }


def _claim_to_json(row: ClaimRow | None) -> dict[str, Any] | None:
    return None if row is None else {"text": row.text, "label": row.label.value, "failure_mode": row.mode}
