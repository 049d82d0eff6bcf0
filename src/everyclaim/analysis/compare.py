"""Two runs compared: paired on sample ids where they share them, overall, by failure mode and by slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.looks import (
    ANY_CONTRADICTED,
    ANY_FAILING,
    CONTRADICTED,
    OF_PARTS,
    SCORE,
    SUPPORTED,
    UNSUPPORTED,
    WHOLE,
    Look,
    Measure,
    Rate,
    Word,
    as_primary,
    look_at,
    of_mode,
    with_words,
)
from everyclaim.analysis.slices import JOINT, MODE, expanded
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Label, Outcome
from everyclaim.stats.types import Floats
from everyclaim.store.figures import Figures

_PAIRED = 0.5  # of the smaller run's samples: when fewer are shared, all answers of both are compared, unpaired
_LABELS = tuple(Label)
_OUTCOMES = tuple(Outcome)
Rows = NDArray[np.int32]
Where = tuple[tuple[str, str], ...]


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

    @property
    def title(self) -> str:
        """What it is called in a sentence."""
        return self.release or self.name or self.id


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of claims whose text stands in both answers of a pair: label before and after → claims.

    `only_before` and `only_after` are claims whose text the other answer of the pair does not have.
    """

    labels: Mapping[tuple[Label, Label], int]
    only_before: int
    only_after: int


@dataclass(frozen=True, slots=True)
class Mover:
    """An answer whose score moved: its places in the two runs, and what it came to each time."""

    id: str
    places: tuple[int, int]
    scores: tuple[float, float]
    failing: tuple[int, int]  # claims not supported
    contradicted: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matching:
    """Which samples are compared. `repeated` ids occur unequally often, so none of them has a partner."""

    paired: bool
    shared: int
    only_before: int
    only_after: int
    repeated: int
    same_text: int  # pairs with the same answer and passages


@dataclass(frozen=True, slots=True)
class Compared:
    """The numbers of a comparison: looks at the whole, at failure modes and slices, claims that changed, movers."""

    matching: Matching
    means: tuple[float | None, float | None]  # mean scores of the whole runs, whatever is compared
    whole: tuple[Look, ...]
    parts: tuple[Look, ...]
    changes: Changes | None  # None without pairs
    movers: tuple[Mover, ...]
    same_text: tuple[Look, ...] = field(default=())  # over pairs with the same answer: what the judge did alone

    def of(self, measure: Measure) -> Look:
        """Return the look at a measure of the whole."""
        return next(look for look in self.whole if look.measure is measure)


def compare_figures(
    before: Figures,
    after: Figures,
    *,
    by: Sequence[str] = (),
    movers: int = 10,
    other_judge: bool = False,
    lower_is_better: bool = False,
) -> Compared:
    """Compare two runs. `by` names slices, `tag+tag` for a two-way cut, `tag+mode` for failure modes within slices.

    With `other_judge` the pairs whose answer and passages are the same are looked at on their own. `lower_is_better` is
    of the score. Raises `ConfigError` for a tag that no sample has, and `InputError` when a run holds nothing.
    """
    for run, what in ((before, "first"), (after, "second")):
        if not len(run.ids):
            raise InputError(f"the {what} run holds no samples: there is nothing to compare")
    first, second, matching = _matched(before, after)
    sides = (Counted(before, first), Counted(after, second))
    paired = matching.paired
    whole = [look_at(m, sides[0].rate(m), sides[1].rate(m), paired=paired) for m in WHOLE]
    parts = list(_looks_at_modes(sides, paired=paired))
    for cut in expanded(by):
        parts += _looks_at_slices(sides, cut, paired=paired)
    alone = []
    if other_judge and matching.same_text:
        same = before.text[first] == after.text[second]
        alone = [look_at(m, _cut(sides[0].rate(m), same), _cut(sides[1].rate(m), same), paired=True) for m in WHOLE]
    if lower_is_better:
        whole, parts, alone = (
            [replace(look, more_is_better=False) if look.measure is SCORE else look for look in looks]
            for looks in (whole, parts, alone)
        )
    primary, *secondary = whole
    secondary, parts, alone = with_words([secondary, parts, alone])
    return Compared(
        matching=matching,
        means=(_mean_score(before), _mean_score(after)),
        whole=(as_primary(primary), *secondary),
        parts=tuple(parts),
        changes=_changes(sides) if paired else None,
        movers=_movers(sides, movers, lower_is_better=lower_is_better) if paired else (),
        same_text=tuple(alone),
    )


class Counted:
    """The samples of one run that are compared, by row: counts of labels and of failure modes."""

    def __init__(self, run: Figures, rows: Rows) -> None:
        self.run, self.rows = run, rows
        counts = np.zeros((len(run.ids), len(_LABELS)))
        np.add.at(counts, (run.sample, run.label), 1.0)
        counts[~run.scored] = 0.0
        self.counts = counts[rows]
        self.claims = self.counts.sum(axis=1)
        self.scored = run.scored[rows] & (self.claims > 0)
        self.score = run.score[rows]
        self.failing = self.claims - self.counts[:, _LABELS.index(Label.SUPPORTED)]
        self.contradicted = self.counts[:, _LABELS.index(Label.CONTRADICTED)]

    def rate(self, measure: Measure) -> Rate:
        """Numerator and denominator by row."""
        if measure is SCORE:
            has = np.isfinite(self.score)
            return np.where(has, self.score, 0.0), has.astype(float)
        ones = self.scored.astype(float)
        if measure is ANY_FAILING:
            return ((self.failing > 0) & self.scored).astype(float), ones
        if measure is ANY_CONTRADICTED:
            return ((self.contradicted > 0) & self.scored).astype(float), ones
        label = {SUPPORTED: Label.SUPPORTED, UNSUPPORTED: Label.UNSUPPORTED, CONTRADICTED: Label.CONTRADICTED}[measure]
        return self.counts[:, _LABELS.index(label)], self.claims

    def mode_rate(self, mode: str) -> Rate:
        """Return claims that fail in this way, and all claims, by row."""
        run = self.run
        if mode not in run.modes:
            return np.zeros(len(self.rows)), self.claims
        having = np.bincount(run.sample[run.mode == run.modes.index(mode)], minlength=len(run.ids)).astype(float)
        having[~run.scored] = 0.0
        return having[self.rows], self.claims

    def having(self, name: str, value: str) -> NDArray[np.bool_]:
        """Return which rows have this value of a tag."""
        has = np.zeros(len(self.run.ids), dtype=bool)
        has[self.run.tags.get(name, {}).get(value, [])] = True
        return has[self.rows]

    def inside(self, where: Where) -> NDArray[np.bool_]:
        """Return which rows have all these values."""
        found = np.ones(len(self.rows), dtype=bool)
        for one in where:
            found &= self.having(*one)
        return found


Sides = Sequence[Counted]


def _matched(before: Figures, after: Figures) -> tuple[Rows, Rows, Matching]:
    """Pair samples by id, and repeated ones in their order where both runs have as many."""
    times, others = Counter(before.ids), Counter(after.ids)
    uneven = {name for name, number in times.items() if name in others and number != others[name]}
    keyed = [_occurrences(run.ids, uneven) for run in (before, after)]
    shared = [key for key in keyed[0] if key in keyed[1]]
    is_paired = bool(shared) and len(shared) >= _PAIRED * min(len(before.ids), len(after.ids))
    if is_paired:
        first, second = (np.array([rows[key] for key in shared], dtype=np.int32) for rows in keyed)
        same = int(np.count_nonzero(before.text[first] == after.text[second]))
    else:
        first, second = (np.arange(len(run.ids), dtype=np.int32) for run in (before, after))
        same = 0
    matching = Matching(
        paired=is_paired,
        shared=len(shared),
        only_before=len(before.ids) - len(shared),
        only_after=len(after.ids) - len(shared),
        repeated=len(uneven),
        same_text=same,
    )
    return first, second, matching


def _mean_score(run: Figures) -> float | None:
    scores = run.score[np.isfinite(run.score)]
    return float(scores.mean()) if len(scores) else None


def _occurrences(ids: Sequence[str], without: set[str]) -> dict[tuple[str, int], int]:
    seen: Counter[str] = Counter()
    rows = {}
    for row, name in enumerate(ids):
        if name not in without:
            rows[name, seen[name]] = row
            seen[name] += 1
    return rows


def _looks_at_modes(
    sides: Sides, *, paired: bool, where: Where = (), masks: Sequence[NDArray[np.bool_]] | None = None
) -> Iterator[Look]:
    for mode in modes_of(sides):
        rates = [side.mode_rate(mode) for side in sides]
        if masks is not None:
            rates = [_cut(rate, mask) for rate, mask in zip(rates, masks, strict=True)]
        if rates[0][0].any() or rates[1][0].any():
            yield look_at(of_mode(mode), rates[0], rates[1], paired=paired, where=where, mode=mode)


def tags_of_cut(sides: Sides, cut: str) -> tuple[list[str], bool]:
    """Return the tags of a cut, and whether it is by failure modes too. Raises `ConfigError` for what no sample has."""
    names = cut.split(JOINT)
    by_mode = names[-1] == MODE
    tags = names[:-1] if by_mode else names
    if not tags:
        raise ConfigError(f"failure modes are always compared over all answers; within slices they are TAG+{MODE}")
    known = sorted({name for side in sides for name in side.run.tags})
    for name in tags:
        if name not in known:
            there = f"the tags are {', '.join(known)}" if known else "the samples of these runs have no tags"
            raise ConfigError(
                f"no sample has a tag {name!r}: {there}; slices without tags are auto:length and others, failure modes"
                f" within slices TAG+{MODE}"
            )
    return tags, by_mode


def _looks_at_slices(sides: Sides, cut: str, *, paired: bool) -> list[Look]:
    tags, by_mode = tags_of_cut(sides, cut)
    looks: list[Look] = []
    for where in cells(sides, tags):
        masks = [side.inside(where) for side in sides]
        if paired:  # a pair is in a slice by the tags of its newer answer, or of the older where that has none
            masks = [np.where(_tagged(sides[1], tags), masks[1], masks[0])] * 2
        if not (masks[0].any() or masks[1].any()):
            continue
        if by_mode:
            looks += _looks_at_modes(sides, paired=paired, where=where, masks=masks)
            continue
        looks += [
            look_at(m, _cut(sides[0].rate(m), masks[0]), _cut(sides[1].rate(m), masks[1]), paired=paired, where=where)
            for m in OF_PARTS
        ]
    return looks


def _tagged(side: Counted, tags: Sequence[str]) -> NDArray[np.bool_]:
    tagged = np.ones(len(side.rows), dtype=bool)
    for tag in tags:
        has = np.zeros(len(side.rows), dtype=bool)
        for value in side.run.tags.get(tag, {}):
            has |= side.having(tag, value)
        tagged &= has
    return tagged


def cells(sides: Sides, tags: Sequence[str]) -> list[Where]:
    """Return every combination of the values that these tags have in any run."""
    values = [sorted({value for side in sides for value in side.run.tags.get(tag, {})}) for tag in tags]
    return [tuple(zip(tags, found, strict=True)) for found in product(*values)]


def modes_of(sides: Sides) -> list[str]:
    """Return the failure modes that occur in any run."""
    return sorted({mode for side in sides for mode in side.run.modes})


def _cut(rate: Rate, mask: NDArray[np.bool_]) -> Rate:
    return rate[0][mask], rate[1][mask]


def _changes(sides: Sides) -> Changes:
    """Match the claims of pairs by their text."""
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
    moved: Counter[tuple[Label, Label]] = Counter()
    size = len(_LABELS)
    joint = np.bincount(labels[0][first].astype(int) * size + labels[1][second], minlength=size * size)
    for place, number in enumerate(joint.tolist()):
        if number:
            moved[_LABELS[place // size], _LABELS[place % size]] = number
    return Changes(dict(moved), len(keys[0]) - len(first), len(keys[1]) - len(second))


def _movers(sides: Sides, most: int, *, lower_is_better: bool) -> tuple[Mover, ...]:
    """The answers whose score moved furthest, then those with more contradictions than before or fewer."""
    a, b = sides
    both = a.scored & b.scored & np.isfinite(a.score) & np.isfinite(b.score)
    moved: Floats = np.where(both, np.abs(np.nan_to_num(b.score) - np.nan_to_num(a.score)), 0.0)
    torn = np.where(both, np.abs(b.contradicted - a.contradicted), 0.0)
    rise = np.nan_to_num(b.score) - np.nan_to_num(a.score)
    worse = both & (rise > 0 if lower_is_better else rise < 0)
    order = np.lexsort((np.arange(len(moved)), ~worse, -torn, -moved))
    found = [row for row in order[:most].tolist() if moved[row] > 0 or torn[row] > 0]
    return tuple(
        Mover(
            id=b.run.ids[b.rows[row]],
            places=(int(a.run.positions[a.rows[row]]), int(b.run.positions[b.rows[row]])),
            scores=(float(a.score[row]), float(b.score[row])),
            failing=(int(a.failing[row]), int(b.failing[row])),
            contradicted=(int(a.contradicted[row]), int(b.contradicted[row])),
        )
        for row in found
    )


def regressions(compared: Compared) -> list[Look]:
    """Return every look that got worse: the whole first, then the parts, surest first."""
    parts = sorted(
        (look for look in compared.parts if look.word is Word.REGRESSED), key=lambda look: look.adjusted or 0
    )
    return [look for look in compared.whole if look.word is Word.REGRESSED] + parts
