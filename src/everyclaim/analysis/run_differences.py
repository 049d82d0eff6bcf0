"""Two runs compared, paired on sample ids where they share them; and the rule for taking a release back.

Contradicted or unsupported claims rose, beyond chance, and the rise lasts; a mean score that is shown to be worse
without that is watched. Where claims are labelled, the rates that count are those without the judge's error; the others
stand beside them. Both runs have the judge that the labels speak of; its error is taken to be the same on the answers
of either. Every part of the new release, a run of it or a stretch of its time, is compared with the previous release.
Holm's correction over the parts and both rates keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal

import numpy as np

from everyclaim.analysis import written
from everyclaim.analysis.deltas import (
    CONTRADICTED,
    LABELS,
    LEVEL,
    SCORE,
    UNSUPPORTED,
    WHOLE,
    AnswerMeasure,
    Counted,
    Delta,
    DeltaFinding,
    Mask,
    MeasuredPart,
    Rows,
    adjusted,
    as_primary,
    measure_delta,
    parts_with_masks,
    with_findings,
)
from everyclaim.analysis.slices import FEW
from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import JudgedClaim, Label
from everyclaim.stats.prevalence import JudgeCounts, rogan_gladen_difference
from everyclaim.stats.proportions import normal_quantile
from everyclaim.stats.types import Floats
from everyclaim.store.store import Figures

_PAIRED = 0.5  # of the smaller run's samples: when fewer are shared, all answers of both are compared, unpaired


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of claims whose text stands in both answers of a pair: label before and after → claims.

    `only_before` and `only_after` are claims whose text the other answer of the pair does not have.
    """

    labels: Mapping[tuple[Label, Label], int]
    only_before: int
    only_after: int


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that changed: as it stood in each answer (None: not there), and how the two were matched."""

    before: JudgedClaim | None
    after: JudgedClaim | None
    by: str  # text, likeness, none

    @property
    def weight(self) -> int:
        """How far its label changed, and how bad it is now."""
        rank = {None: 0, Label.SUPPORTED: 0, Label.UNSUPPORTED: 1, Label.CONTRADICTED: 2}
        before, after = (rank[row.verdict.label if row else None] for row in (self.before, self.after))
        return abs(after - before) * 4 + after

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        before, after = (
            row and {"text": row.text} | written(row.verdict, "label failure_mode") for row in (self.before, self.after)
        )
        return {"before": before, "after": after, "matched_by": self.by}


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer whose score changed: its places in the two runs, and what it came to each time."""

    id: str
    places: tuple[int, int]
    scores: tuple[float, float]
    failing: tuple[int, int]  # claims not supported
    contradicted: tuple[int, int]
    claims: tuple[ClaimChange, ...] = ()  # that changed, once they are looked up


@dataclass(frozen=True, slots=True)
class SampleMatching:
    """Which samples are compared. `repeated` ids occur unequally often, so none of them has a partner."""

    paired: bool
    shared: int
    only_before: int
    only_after: int
    repeated: int
    same_text: int  # pairs with the same answer and passages


@dataclass(frozen=True, slots=True)
class RunDifferences:
    """The numbers of a comparison: the whole, failure modes and slices, claims and answers that changed."""

    matching: SampleMatching
    means: tuple[float | None, float | None]  # mean scores of the whole runs, whatever is compared
    whole: tuple[Delta, ...]
    parts: tuple[Delta, ...]
    changes: Changes | None  # None without pairs
    moved: tuple[AnswerChange, ...]
    same_text: tuple[Delta, ...] = ()  # over pairs with the same answer: what the judge did alone

    def of(self, measure: AnswerMeasure) -> Delta:
        """Return the difference of a measure over the whole."""
        return next(delta for delta in self.whole if delta.measure is measure)


def compare_figures(
    before: Figures,
    after: Figures,
    *,
    by: Sequence[str] = (),
    movers: int = 10,
    other_judge: bool = False,
    lower_is_better: bool = False,
) -> RunDifferences:
    """Compare two runs. `by` names slices, `tag+tag` for a two-way cut, `tag+mode` for failure modes within slices.

    With `other_judge` the pairs whose answer and passages are the same, if not all are, are compared on their own.
    `lower_is_better` is of the score. Raises `ConfigError` for a tag that no sample has, and `InputError` when
    a run holds nothing.
    """
    for run, what in ((before, "first"), (after, "second")):
        if not len(run.ids):
            raise InputError(f"the {what} run has no samples to compare")
    first, second, matching = _match(before, after)
    sides = (Counted(before, first), Counted(after, second))
    everything = np.ones(len(first), dtype=bool), np.ones(len(second), dtype=bool)

    def delta(part: MeasuredPart, masks: Sequence[Mask], *, paired: bool = matching.paired) -> Delta:
        found = measure_delta(
            part, [side.rate(part, mask) for side, mask in zip(sides, masks, strict=True)], paired=paired
        )
        is_better = part.measure.more_is_better and not (lower_is_better and part.measure is SCORE)
        return replace(found, more_is_better=is_better)

    parts = [delta(part, masks) for part, masks in parts_with_masks(sides, by, paired=matching.paired)]
    primary, *secondary = (delta(MeasuredPart(measure), everything) for measure in WHOLE)
    alone: list[Delta] = []
    if other_judge and 0 < matching.same_text < matching.shared:
        same = before.text[first] == after.text[second]
        alone = [delta(MeasuredPart(measure), (same, same), paired=True) for measure in WHOLE]
    secondary, parts, alone = with_findings([secondary, parts, alone])
    scores = (run.score[np.isfinite(run.score)] for run in (before, after))
    means = [float(score.mean()) if len(score) else None for score in scores]
    return RunDifferences(
        matching=matching,
        means=(means[0], means[1]),
        whole=(as_primary(primary), *secondary),
        parts=tuple(parts),
        changes=_changes(sides) if matching.paired else None,
        moved=_moved(sides, movers, lower_is_better=lower_is_better) if matching.paired else (),
        same_text=tuple(alone),
    )


def _match(before: Figures, after: Figures) -> tuple[Rows, Rows, SampleMatching]:
    """Pair samples by id, and repeated ones in their order where both runs have as many."""
    times, others = Counter(before.ids), Counter(after.ids)
    uneven = {name for name, number in times.items() if name in others and number != others[name]}
    keyed = []
    for run in (before, after):
        seen: Counter[str] = Counter()
        rows = {}
        for row, name in enumerate(run.ids):
            if name not in uneven:
                rows[name, seen[name]] = row
                seen[name] += 1
        keyed.append(rows)
    shared = [key for key in keyed[0] if key in keyed[1]]
    is_paired = bool(shared) and len(shared) >= _PAIRED * min(len(before.ids), len(after.ids))
    same = 0
    if is_paired:
        first, second = (np.array([rows[key] for key in shared], dtype=np.int32) for rows in keyed)
        same = int(np.count_nonzero(before.text[first] == after.text[second]))
    else:
        first, second = (np.arange(len(run.ids), dtype=np.int32) for run in (before, after))
    left = len(before.ids) - len(shared), len(after.ids) - len(shared)
    return first, second, SampleMatching(is_paired, len(shared), *left, len(uneven), same)


def _changes(sides: Sequence[Counted]) -> Changes:
    keys, labels = [], []
    for side in sides:
        run = side.run
        pair = np.full(len(run.ids), -1, dtype=np.int64)
        pair[side.rows] = np.arange(len(side.rows))
        pair[~run.scored] = -1
        of_claim = pair[run.sample]
        inside = of_claim >= 0
        # Multiplying spreads the pair's number over all bits, so that equal texts of different pairs stay apart.
        keys.append(run.claim[inside] ^ (of_claim[inside].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)))
        labels.append(run.label[inside])
    _, first, second = np.intersect1d(keys[0], keys[1], return_indices=True)
    table = np.zeros((len(LABELS), len(LABELS)), dtype=int)
    np.add.at(table, (labels[0][first], labels[1][second]), 1)
    moved = {(a, b): int(table[i, j]) for i, a in enumerate(LABELS) for j, b in enumerate(LABELS) if table[i, j]}
    return Changes(moved, len(keys[0]) - len(first), len(keys[1]) - len(second))


def _moved(sides: Sequence[Counted], most: int, *, lower_is_better: bool) -> tuple[AnswerChange, ...]:
    """Return the answers whose score changed most, then those with more contradictions than before or fewer."""
    a, b = sides
    both = a.scored & b.scored & np.isfinite(a.score) & np.isfinite(b.score)
    rise: Floats = np.where(both, np.nan_to_num(b.score) - np.nan_to_num(a.score), 0.0)
    torn = np.where(both, np.abs(b.contradicted - a.contradicted), 0.0)
    worse = rise > 0 if lower_is_better else rise < 0
    order = np.lexsort((np.arange(len(rise)), ~worse, -torn, -np.abs(rise)))
    return tuple(
        AnswerChange(
            id=b.run.ids[b.rows[row]],
            places=(int(a.run.positions[a.rows[row]]), int(b.run.positions[b.rows[row]])),
            scores=(float(a.score[row]), float(b.score[row])),
            failing=(int(a.failing[row]), int(b.failing[row])),
            contradicted=(int(a.contradicted[row]), int(b.contradicted[row])),
        )
        for row in order[:most].tolist()
        if rise[row] or torn[row]
    )


LASTING = 2  # parts behind each other, the newest among them
# The gravest first.
WATCHED: Mapping[AnswerMeasure, Label] = {CONTRADICTED: Label.CONTRADICTED, UNSUPPORTED: Label.UNSUPPORTED}

RollBackVerdict = Literal["roll back", "watch", "keep", "too few samples"]
_GRAVITY: tuple[RollBackVerdict, ...] = ("roll back", "watch", "keep", "too few samples")


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels make of a difference of rates as judged; without `found`, `why` says what stands against it.

    With `is_blind` the labels say that the judge cannot tell: then no difference of its rates is one of answers.
    """

    found: Delta | None
    why: str = ""
    is_blind: bool = False

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes it unsure, or why there is none."""
        return self.found.warnings if self.found else (f"not corrected for the judge's error: {self.why}",)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values; null: not known, and `why_not` says why."""
        names = "before after difference low high p_value"
        row = written(self.found, names) if self.found else dict.fromkeys(names.split())
        warnings = list(self.found.warnings) if self.found else []
        return row | {"method": self.found and "rogan_gladen", "warnings": warnings, "why_not": self.why}


def correct(delta: Delta, label: Label, judge: Mapping[Label, JudgeCounts]) -> Correction:
    """Correct a difference of claims of this label by what labels say of the judge."""
    if (counts := judge.get(label)) is None:
        return Correction(None, f"labels of {label.value.lower()} claims and of others are needed for a correction")
    if delta.before is None or delta.after is None or delta.low is None or delta.high is None or delta.p_value is None:
        return Correction(None, "too few samples for a correction")
    error = (delta.high - delta.low) / (2 * normal_quantile(LEVEL))
    try:
        before, after, found, chance = rogan_gladen_difference((delta.before, delta.after), error, counts, LEVEL)
    except ValueError as reason:
        return Correction(None, str(reason), is_blind=True)
    rates: dict[str, Any] = {"before": before, "after": after, "difference": found.value, "p_value": chance}
    low, high = found.interval.low, found.interval.high
    return Correction(replace(delta, **rates, low=low, high=high, warnings=found.warnings))


@dataclass(frozen=True, slots=True)
class Step:
    """One rate in one part of the new release compared with the previous release, as judged and corrected.

    `adjusted` of both differences is p for all parts and rates.
    """

    title: str
    delta: Delta
    correction: Correction | None = None  # None: no claim is labelled

    @property
    def has_risen_as_judged(self) -> bool:
        """Whether the rate is shown to be higher by the judge alone."""
        return _finding(self.delta) == "risen"

    @property
    def has_risen(self) -> bool:
        """Whether the rate is shown to be higher: without the judge's error, where labels say what that is."""
        if self.correction and self.correction.found:
            return _finding(self.correction.found) == "risen"
        return self.has_risen_as_judged and not (self.correction and self.correction.is_blind)

    @property
    def is_lost(self) -> bool:
        """Whether the judge shows a rise that cannot be told from its error."""
        return self.has_risen_as_judged and not self.has_risen

    @property
    def rows(self) -> list[tuple[str, Delta, str]]:
        """What a table shows of it, as judged and then without the judge's error: name, difference, finding."""
        named = {self.delta.measure.name: self.delta, "corrected": self.correction and self.correction.found}
        return [(name, delta, _finding(delta)) for name, delta in named.items() if delta]

    def __str__(self) -> str:
        return ", corrected ".join(delta.levels for _, delta, _ in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "title": self.title,
            **written(self.delta, "measure before after difference low high answers p_value p_adjusted=adjusted"),
            **written(self, "has_risen has_risen_as_judged"),
            "corrected": self.correction
            and self.correction.to_json() | {"p_adjusted": self.correction.found and self.correction.found.adjusted},
        }


def _lasting(steps: Sequence[Step]) -> int:
    return len(list(takewhile(lambda step: step.has_risen, reversed(steps))))


def _finding(delta: Delta) -> str:
    if delta.adjusted is None:
        return "too few samples"
    return "risen" if delta.adjusted <= 1 - LEVEL and (delta.low or 0.0) > 0 else "no rise shown"


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the rule says, and why. `steps` are the rates part by part, in their order in time.

    `worse` is the mean score of the newest part where it is shown to be worse.
    """

    before: str
    after: str
    steps: tuple[Step, ...]
    needed: int = LASTING
    worse: Delta | None = None

    def of(self, measure: AnswerMeasure) -> tuple[Step, ...]:
        """Return the steps of one rate."""
        return tuple(step for step in self.steps if step.delta.measure is measure)

    @property
    def measure(self) -> AnswerMeasure:
        """The rate that decides: of which the gravest is said, contradicted claims first."""
        return min(WATCHED, key=lambda measure: _GRAVITY.index(self._verdict(measure)))

    @property
    def verdict(self) -> RollBackVerdict:
        """What to do."""
        found = self._verdict(self.measure)
        return "watch" if self.worse and found in ("keep", "too few samples") else found

    @property
    def lasting(self) -> int:
        """How many parts in a row, up to the newest, are shown to be higher in the rate that decides."""
        return _lasting(self.of(self.measure))

    def _verdict(self, measure: AnswerMeasure) -> RollBackVerdict:
        steps = self.of(measure)
        newest, lasting = steps[-1], _lasting(steps)
        if newest.delta.adjusted is None:
            return "too few samples"
        is_few = sum(step.delta.answers for step in steps) < FEW
        if lasting >= self.needed:
            return "roll back"
        return "watch" if lasting or newest.is_lost else "too few samples" if is_few else "keep"

    @property
    def doubts(self) -> list[str]:
        """What makes the corrected rates unsure, or why there are none, each once."""
        found = [(step.delta.measure.name, step.correction.doubts) for step in self.steps if step.correction]
        return list(dict.fromkeys(f"{name} claims: {doubt}" for name, doubts in found for doubt in doubts))

    @property
    def advice(self) -> str:
        """What to do where a rise is shown; else empty."""
        return self.sentence if self.verdict in ("roll back", "watch") else ""

    @property
    def sentence(self) -> str:
        """Say what to do, and why, in a sentence or two."""
        before, after = one_line(self.before, 60), one_line(self.after, 60)
        steps, lasting = self.of(self.measure), self.lasting
        newest, rate = steps[-1], f"rate of {self.measure.name} claims"
        both = "; ".join(f"{measure.name} {self.of(measure)[-1]}" for measure in WATCHED)
        if self.verdict == "roll back":
            since = f" from {one_line(steps[-lasting].title, 60)} on" if lasting > 1 else ""
            return (
                f"Roll {after} back to {before}: its {rate} is higher in each of its last {lasting} parts{since} "
                f"(newest: {newest})."
            )
        if self.worse and not lasting and not newest.is_lost:
            return (
                f"Verdict: keep watching. The mean score of {after} is significantly worse than that of {before}; "
                f"failing claims: {both}."
            )
        if newest.is_lost:
            return (
                f"Verdict: keep watching. By the judge, {after} has a higher {rate} than {before}, but the labels "
                f"cannot rule out judge error ({newest}). Label more claims, preferably those it calls "
                f"{self.measure.name}."
            )
        if self.verdict == "watch":
            return (
                f"Verdict: keep watching. The newest answers of {after} have a higher {rate} than {before} ({newest}). "
                "Later answers will show whether it lasts."
            )
        if self.verdict == "keep":
            where = " in its newest answers" if len(steps) > 1 else ""
            return f"Keep {after}: no significant rise of failing claims over {before}{where} ({both})."
        return f"Too few samples to rule out a rise of failing claims in {after} over {before} ({both})."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return written(self, "verdict measure told=sentence needed lasting parts=steps")


def roll_back(
    before: str,
    after: str,
    parts: Sequence[tuple[str, Sequence[Delta]]],
    judge: Mapping[Label, JudgeCounts] | None = None,
    needed: int = LASTING,
) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time: the title of each and its differences.

    `judge` is what labels say of the judge, label by label; None: no claim is labelled.
    """
    rates = [
        (title, delta, None if judge is None else correct(delta, label, judge))
        for title, deltas in parts
        for measure, label in WATCHED.items()
        for delta in deltas
        if delta.measure is measure
    ]
    judged = adjusted([delta.p_value for _, delta, _ in rates])
    shown = adjusted([made.found.p_value if made and made.found else None for _, _, made in rates])
    steps = []
    for (title, delta, made), p_value, corrected in zip(rates, judged, shown, strict=True):
        if made and made.found:
            made = replace(made, found=replace(made.found, adjusted=corrected))  # noqa: PLW2901
        steps.append(Step(title, replace(delta, adjusted=p_value), made))
    worse = (one for one in parts[-1][1] if one.measure is SCORE and one.finding is DeltaFinding.REGRESSED)
    return RollBack(before, after, tuple(steps), needed, next(worse, None))
