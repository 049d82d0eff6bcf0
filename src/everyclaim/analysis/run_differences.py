"""Two runs compared, paired on sample ids where they share them: over the whole, by failure mode and by slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.deltas import (
    ANY_CONTRADICTED,
    ANY_FAILING,
    OF_PARTS,
    SCORE,
    WHOLE,
    AnswerMeasure,
    Delta,
    MeasuredPart,
    Rate,
    Where,
    as_primary,
    measure_delta,
    with_findings,
)
from everyclaim.analysis.slices import JOINT, MODE, expanded
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Label
from everyclaim.stats.types import Floats
from everyclaim.store.store import Figures

_PAIRED = 0.5  # of the smaller run's samples: when fewer are shared, all answers of both are compared, unpaired
_LABELS = tuple(Label)

Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of claims whose text stands in both answers of a pair: label before and after → claims.

    `only_before` and `only_after` are claims whose text the other answer of the pair does not have.
    """

    labels: Mapping[tuple[Label, Label], int]
    only_before: int
    only_after: int


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """An answer whose score changed: its places in the two runs, and what it came to each time."""

    id: str
    places: tuple[int, int]
    scores: tuple[float, float]
    failing: tuple[int, int]  # claims not supported
    contradicted: tuple[int, int]


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
    movers: tuple[ScoreChange, ...]
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

    With `other_judge` the pairs whose answer and passages are the same are compared on their own. `lower_is_better` is
    of the score. Raises `ConfigError` for a tag that no sample has, and `InputError` when a run holds nothing.
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
    if other_judge and matching.same_text:
        same = before.text[first] == after.text[second]
        alone = [delta(MeasuredPart(measure), (same, same), paired=True) for measure in WHOLE]
    secondary, parts, alone = with_findings([secondary, parts, alone])
    return RunDifferences(
        matching=matching,
        means=(_mean_score(before), _mean_score(after)),
        whole=(as_primary(primary), *secondary),
        parts=tuple(parts),
        changes=_changes(sides) if matching.paired else None,
        movers=_movers(sides, movers, lower_is_better=lower_is_better) if matching.paired else (),
        same_text=tuple(alone),
    )


class Counted:
    """The samples of one run that are compared, by row: counts of labels and of failure modes."""

    def __init__(self, run: Figures, rows: Rows | None = None) -> None:
        self.run, self.rows = run, np.arange(len(run.ids), dtype=np.int32) if rows is None else rows
        counts = np.zeros((len(run.ids), len(_LABELS)))
        np.add.at(counts, (run.sample, run.label), 1.0)
        counts[~run.scored] = 0.0
        self.counts = counts[self.rows]
        self.claims = self.counts.sum(axis=1)
        self.scored = run.scored[self.rows] & (self.claims > 0)
        self.score = run.score[self.rows]
        self.failing = self.claims - self.counts[:, _LABELS.index(Label.SUPPORTED)]
        self.contradicted = self.counts[:, _LABELS.index(Label.CONTRADICTED)]

    def rate(self, part: MeasuredPart, mask: Mask | None = None) -> Rate:
        """Return numerators and denominators of a measure, by row, of all rows or of those in a mask."""
        top, bottom = self._rate(part)
        return (top, bottom) if mask is None else (top[mask], bottom[mask])

    def _rate(self, part: MeasuredPart) -> Rate:
        measure = part.measure
        if part.mode is not None:
            return self._mode_counts(part.mode), self.claims
        if measure is SCORE:
            has = np.isfinite(self.score)
            return np.where(has, self.score, 0.0), has.astype(float)
        if measure in (ANY_FAILING, ANY_CONTRADICTED):
            having = self.failing if measure is ANY_FAILING else self.contradicted
            return ((having > 0) & self.scored).astype(float), self.scored.astype(float)
        return self.counts[:, _LABELS.index(Label(measure.name.upper()))], self.claims

    def _mode_counts(self, mode: str) -> Floats:
        run = self.run
        if mode not in run.modes:
            return np.zeros(len(self.rows))
        having = np.bincount(run.sample[run.mode == run.modes.index(mode)], minlength=len(run.ids)).astype(float)
        having[~run.scored] = 0.0
        return having[self.rows]

    def inside(self, where: Where) -> Mask:
        """Return which rows have all these values."""
        found = np.ones(len(self.rows), dtype=bool)
        for name, value in where:
            found &= self._having(name, value)
        return found

    def has_tags(self, tags: Sequence[str]) -> Mask:
        """Return which rows have a value of each of these tags."""
        found = np.ones(len(self.rows), dtype=bool)
        for name in tags:
            found &= np.any([self._having(name, value) for value in ("", *self.run.tags.get(name, {}))], axis=0)
        return found

    def _having(self, name: str, value: str) -> Mask:
        has = np.zeros(len(self.run.ids), dtype=bool)
        has[self.run.tags.get(name, {}).get(value, [])] = True
        return np.asarray(has[self.rows])


def parts_with_masks(
    sides: Sequence[Counted], by: Sequence[str], *, paired: bool = False
) -> Iterator[tuple[MeasuredPart, Sequence[Mask]]]:
    """Yield what is measured beside the whole and there at all, with the rows of each side that it is measured on.

    Raises `ConfigError` for a cut by what no sample has.
    """
    where, masks = None, [side.inside(()) for side in sides]
    for part in _parts(sides, by):
        if part.where != where:
            where, masks = part.where, [side.inside(part.where) for side in sides]
            if paired:  # a pair is in a slice by the tags of its newer answer, or of the older where that has none
                masks = [np.where(sides[1].has_tags([tag for tag, _ in where]), masks[1], masks[0])] * 2
        if part.mode is None:
            is_there = any(mask.any() for mask in masks)
        else:
            is_there = any(side.rate(part, mask)[0].any() for side, mask in zip(sides, masks, strict=True))
        if is_there:
            yield part, masks


def _parts(sides: Sequence[Counted], by: Sequence[str]) -> Iterator[MeasuredPart]:
    """Yield what is measured beside the whole: failure modes, then what is asked for within slices."""
    modes = sorted({mode for side in sides for mode in side.run.modes})
    yield from (MeasuredPart.of_mode(mode) for mode in modes)
    for cut in expanded(by):
        tags, by_mode = _tags_of(sides, cut)
        values = [sorted({value for side in sides for value in side.run.tags.get(tag, {})}) for tag in tags]
        for chosen in product(*values):
            where = tuple(zip(tags, chosen, strict=True))
            if by_mode:
                yield from (MeasuredPart.of_mode(mode, where) for mode in modes)
            else:
                yield from (MeasuredPart(measure, where) for measure in OF_PARTS)


def _tags_of(sides: Sequence[Counted], cut: str) -> tuple[list[str], bool]:
    """Return the tags of a cut, and whether it is by failure modes too. Raises `ConfigError` for what no sample has."""
    names = cut.split(JOINT)
    by_mode = names[-1] == MODE
    tags = names[:-1] if by_mode else names
    if not tags:
        raise ConfigError(f"failure modes are always compared over all answers; within slices write TAG+{MODE}")
    known = sorted({name for side in sides for name in side.run.tags})
    for name in tags:
        if name not in known:
            there = f"the tags are {', '.join(known)}" if known else "the samples of these runs have no tags"
            raise ConfigError(
                f"no sample has a tag {name!r}: {there}; slices without tags are auto:length and others, failure modes"
                f" within slices TAG+{MODE}"
            )
    return tags, by_mode


def _match(before: Figures, after: Figures) -> tuple[Rows, Rows, SampleMatching]:
    """Pair samples by id, and repeated ones in their order where both runs have as many."""
    times, others = Counter(before.ids), Counter(after.ids)
    uneven = {name for name, number in times.items() if name in others and number != others[name]}
    keyed = [_occurrences(run.ids, uneven) for run in (before, after)]
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


def _occurrences(ids: Sequence[str], without: set[str]) -> dict[tuple[str, int], int]:
    seen: Counter[str] = Counter()
    rows = {}
    for row, name in enumerate(ids):
        if name not in without:
            rows[name, seen[name]] = row
            seen[name] += 1
    return rows


def _mean_score(run: Figures) -> float | None:
    scores = run.score[np.isfinite(run.score)]
    return float(scores.mean()) if len(scores) else None


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
    table = np.zeros((len(_LABELS), len(_LABELS)), dtype=int)
    np.add.at(table, (labels[0][first], labels[1][second]), 1)
    moved = {(a, b): int(table[i, j]) for i, a in enumerate(_LABELS) for j, b in enumerate(_LABELS) if table[i, j]}
    return Changes(moved, len(keys[0]) - len(first), len(keys[1]) - len(second))


def _movers(sides: Sequence[Counted], most: int, *, lower_is_better: bool) -> tuple[ScoreChange, ...]:
    """Return the answers whose score changed most, then those with more contradictions than before or fewer."""
    a, b = sides
    both = a.scored & b.scored & np.isfinite(a.score) & np.isfinite(b.score)
    rise: Floats = np.where(both, np.nan_to_num(b.score) - np.nan_to_num(a.score), 0.0)
    torn = np.where(both, np.abs(b.contradicted - a.contradicted), 0.0)
    worse = rise > 0 if lower_is_better else rise < 0
    order = np.lexsort((np.arange(len(rise)), ~worse, -torn, -np.abs(rise)))
    return tuple(
        ScoreChange(
            id=b.run.ids[b.rows[row]],
            places=(int(a.run.positions[a.rows[row]]), int(b.run.positions[b.rows[row]])),
            scores=(float(a.score[row]), float(b.score[row])),
            failing=(int(a.failing[row]), int(b.failing[row])),
            contradicted=(int(a.contradicted[row]), int(b.contradicted[row])),
        )
        for row in order[:most].tolist()
        if rise[row] or torn[row]
    )
