"""Two runs compared, paired on sample ids where they share them: measures, answers and claims that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from everyclaim.analysis import written
from everyclaim.analysis.deltas import (
    LABELS,
    SCORE,
    WHOLE,
    AnswerMeasure,
    Counted,
    Delta,
    Mask,
    MeasuredPart,
    Rows,
    as_primary,
    measure_delta,
    parts_with_masks,
    with_findings,
)
from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted
from everyclaim.core.types import JudgedClaim, Label, Outcome
from everyclaim.stats.types import Floats
from everyclaim.store.store import Figures

_ALIKE = 70  # of 100: claims of two answers that are as alike are taken for the same statement, worded otherwise
_PAIRED = 0.5  # of the smaller run's samples: when fewer are shared, all answers of both are compared, unpaired


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs."""

    id: str
    name: str  # of the run
    release: str  # of its answers, when all have the same
    judge: str
    total: int
    outcomes: Mapping[Outcome, int]
    status: str
    is_release: bool = False  # called by its release; else by the name of the run

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        return (self.release if self.is_release else self.name) or self.release or self.name or self.id


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

    def __str__(self) -> str:
        if not self.paired:
            shared = "no ids" if not self.shared else f"only {counted(self.shared, 'id')}"
            return f"unpaired: the runs share {shared}; all answers of each are compared, their questions may differ"
        told = [f"{counted(self.shared, 'sample')} paired by id"]
        if self.same_text:
            told[0] += f" (answer and passages of {self.same_text:,} are the same)"
        for number, which in ((self.only_before, "first"), (self.only_after, "second")):
            if number:
                told.append(f"{number:,} only in the {which}")
        if self.repeated:
            told.append(f"{counted(self.repeated, 'id')} occurring unequally often left out")
        return ", ".join(told)


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
        return replace(found, more_is_better=is_better, other_judge=other_judge)

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


def claim_changes(before: Sequence[JudgedClaim], after: Sequence[JudgedClaim]) -> tuple[ClaimChange, ...]:
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
    likeness = ((fuzz.ratio(_key(a), _key(b)), i, j) for i, a in enumerate(left) for j, b in enumerate(right))
    rows, others = dict(enumerate(left)), dict(enumerate(right))
    for alike, i, j in sorted(likeness, reverse=True):
        if alike >= _ALIKE and i in rows and j in others:
            pairs.append(ClaimChange(rows.pop(i), others.pop(j), "likeness"))
    changed = [pair for pair in pairs if len({row.verdict.label for row in (pair.before, pair.after) if row}) > 1]
    changed += [ClaimChange(row, None, "none") for row in rows.values() if row.verdict.label is not Label.SUPPORTED]
    changed += [ClaimChange(None, row, "none") for row in others.values() if row.verdict.label is not Label.SUPPORTED]
    return tuple(sorted(changed, key=lambda change: -change.weight))


def _key(row: JudgedClaim) -> str:
    return " ".join(row.text.split()).casefold()
