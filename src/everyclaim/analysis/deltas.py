"""What is measured of the answers of a run, and its difference between two runs, on all answers or on some of them.

The mean score is the primary measure and tested at 5 % by itself; the others are secondary, and Holm's correction keeps
the chance of any false finding among them at 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis import NO_NUMBER, percent, points, written
from everyclaim.analysis.slices import FEW, JOINT, MODE, expanded, shown_name
from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import did_you_mean, one_line, words
from everyclaim.core.types import Label
from everyclaim.stats.intervals import FEW_EVENTS, clustered_ratio
from everyclaim.stats.paired import exchanges, holm, independent_difference, paired_difference, sign_flip_test
from everyclaim.stats.proportions import detectable_paired_difference, normal_p_value, normal_quantile
from everyclaim.stats.types import ROUGH_CLUSTERS, Floats, Inference, Interval, standard_error
from everyclaim.store.store import Figures

LEVEL = 0.95
FEWEST = 10  # answers on a side; fewer are not tested
FEWEST_EVENTS = 5  # claims or answers of a kind, in both runs together; fewer are not tested
_POWER = 0.8
_EXACT = 200  # samples that differ; of more the sum of the signs is as good as normal
_FAR = 0.2  # p-values above this need not be exact
_SAME = 1e-9  # a difference that is rounding only

Rate = tuple[Floats, Floats]  # numerators and denominators, by row
Where = tuple[tuple[str, str], ...]  # tags with their values; empty: all answers


class DeltaFinding(StrEnum):
    """What is shown of a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    NO_DIFFERENCE = "not significant"
    TOO_FEW = "too few samples"


@dataclass(frozen=True, slots=True)
class AnswerMeasure:
    """What is measured of answers: `name` in JSON, `title` and `rate` in words, whether more of it is better."""

    name: str
    title: str
    rate: str
    more_is_better: bool = False

    @property
    def is_score(self) -> bool:
        """Whether it is the mean score, not a rate."""
        return self.name == "score"

    def level(self, value: float | None) -> str:
        """Write a value of it: a mean score from 0 to 1, a rate in per cent."""
        return f"{value:.3f}" if self.is_score and value is not None else percent(value)

    def levels(self, before: float | None, after: float | None, to: str = " → ") -> str:
        """Write what it was before and is after."""
        sign = "" if self.is_score else " %"
        return to.join(self.level(value).removesuffix(" %") for value in (before, after)) + sign

    def to_json(self) -> str:
        """Return the name that stands for it in JSON."""
        return self.name


SCORE = AnswerMeasure("score", "mean score", "mean score", more_is_better=True)
SUPPORTED = AnswerMeasure("supported", "claims supported", "rate of supported claims", more_is_better=True)
UNSUPPORTED = AnswerMeasure("unsupported", "claims unsupported", "rate of unsupported claims")
CONTRADICTED = AnswerMeasure("contradicted", "claims contradicted", "rate of contradicted claims")
ANY_FAILING = AnswerMeasure("any_failing", "answers failing", "share of answers with a failing claim")
ANY_CONTRADICTED = AnswerMeasure(
    "any_contradicted", "answers contradicted", "share of answers with a contradicted claim"
)
WHOLE = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED, ANY_FAILING, ANY_CONTRADICTED)
OF_PARTS = (SCORE, UNSUPPORTED, CONTRADICTED)


class MeasuredPart(NamedTuple):
    """A measure on the answers of a slice, or the rate of a failure mode there."""

    measure: AnswerMeasure
    where: Where = ()
    mode: str | None = None

    @classmethod
    def of_mode(cls, mode: str, where: Where = ()) -> MeasuredPart:
        """Return the rate of a failure mode among all claims."""
        return cls(AnswerMeasure("failure_mode", words(mode), f"rate of failure mode {words(mode)}"), where, mode)

    @property
    def slice(self) -> dict[str, str]:
        """The tags with their values, of which none is twice; empty: all answers."""
        return dict(self.where)

    @property
    def on(self) -> str:
        """On which answers, in words; empty: on all."""
        named = " and ".join(f"{one_line(shown_name(tag), 40)}={one_line(value, 40)}" for tag, value in self.where)
        return f" on answers with {named}" if named else ""

    def __str__(self) -> str:
        return self.measure.rate + self.on


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference of one measure between two runs, on some of their answers.

    `difference` is after − before, with its own 95 % interval. `p_value` is of this difference alone, `adjusted` for
    all secondary ones; both are None where there is too little to test. `answers` are pairs, or the smaller side's
    without pairs.
    """

    part: MeasuredPart
    before: float | None
    after: float | None
    answers: int
    claims: tuple[int, int]  # in the denominators; of answers or claims, before and after
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    detectable: float | None = None  # the difference that so many answers show with a power of 80 %
    adjusted: float | None = None
    finding: DeltaFinding = DeltaFinding.TOO_FEW
    warnings: tuple[str, ...] = ()
    more_is_better: bool = False
    other_judge: bool = False  # of two judges neither improved or regressed

    @property
    def measure(self) -> AnswerMeasure:
        """What is measured."""
        return self.part.measure

    @property
    def where(self) -> Where:
        """The slice; empty: all answers."""
        return self.part.where

    @property
    def mode(self) -> str | None:
        """The failure mode; None: of all claims."""
        return self.part.mode

    @property
    def levels(self) -> str:
        """What the measure was before and is after."""
        return self.measure.levels(self.before, self.after)

    @property
    def change(self) -> str:
        """The difference in points, with its interval."""
        if self.difference is None or self.low is None or self.high is None:
            return NO_NUMBER
        between = f"{points(self.low)} … {points(self.high)}"
        return f"{'+' if self.difference > 0 else ''}{points(self.difference)} ({between})"

    @property
    def clause(self) -> str:
        """What rose or fell, by how many points, from which value to which, with the interval."""
        if self.difference is None or self.low is None or self.high is None:
            return f"{self.part} could not be compared"
        between = f"(95 % {points(self.low)} to {points(self.high)} points)"
        if not self.difference:
            return f"{self.part} stayed at {self.measure.level(self.after)} {between}"
        verb, side = ("rose", "higher") if self.difference > 0 else ("fell", "lower")
        by = f"{points(abs(self.difference))} points"
        moved = f"is {by} {side}" if self.other_judge else f"{verb} by {by}"
        return f"{self.part} {moved}, from {self.measure.levels(self.before, self.after, ' to ')} {between}"

    @property
    def is_shown(self) -> bool:
        """Whether a difference is shown."""
        return self.finding in (DeltaFinding.IMPROVED, DeltaFinding.REGRESSED)

    @property
    def word(self) -> str:
        """The finding; of two judges, which is higher or lower."""
        if self.other_judge and self.is_shown:
            return "higher" if (self.difference or 0.0) > 0 else "lower"
        return self.finding.value

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return (
            written(self.part, "measure mode slice")
            | written(self, "before after difference low high answers units=claims detectable p_value")
            | written(self, "p_adjusted=adjusted word warnings")
        )


def measure_delta(part: MeasuredPart, sides: Sequence[Rate], *, paired: bool) -> Delta:
    """Measure a difference, without a finding yet; rows of both are the same samples when they are `paired`."""
    has = [bottom > 0 for _, bottom in sides]
    if paired:
        has = [has[0] & has[1]] * 2
    before, after = ((top[mask], bottom[mask]) for (top, bottom), mask in zip(sides, has, strict=True))
    answers = min(len(before[0]), len(after[0]))
    units = int(before[1].sum()), int(after[1].sum())
    first, second = (float(top.sum() / bottom.sum()) if bottom.sum() else None for top, bottom in (before, after))
    found = Delta(part, first, second, answers, units)
    if answers < 2 or first is None or second is None:
        return found
    difference = _difference(before, after, paired=paired)
    error = difference.interval.width / 2 / normal_quantile(LEVEL)
    found = replace(
        found,
        difference=difference.value,
        low=difference.interval.low,
        high=difference.interval.high,
        detectable=error * detectable_paired_difference(1, 1.0, _POWER, LEVEL),
        warnings=difference.warnings,
    )
    # What is of the rarer kind, in both together: the same whichever run a sample came from.
    tops = before[0].sum() + after[0].sum()
    events = min(tops, before[1].sum() + after[1].sum() - tops)
    if answers < FEWEST or (not part.measure.is_score and events < FEWEST_EVENTS):
        return found
    return replace(found, p_value=_p_value(before, after, difference, paired=paired))


def _difference(before: Rate, after: Rate, *, paired: bool) -> Inference:
    if paired:
        return paired_difference(before, after, level=LEVEL)
    events = [min(np.count_nonzero(top > 0), np.count_nonzero(top < bottom)) for top, bottom in (before, after)]
    if min(len(before[0]), len(after[0])) >= ROUGH_CLUSTERS and min(events) >= FEW_EVENTS:
        (a, units_a), (b, units_b) = before, after
        value = float(b.sum() / units_b.sum() - a.sum() / units_a.sum())
        error = math.hypot(standard_error(a, units_a), standard_error(b, units_b))
        half = normal_quantile(LEVEL) * error
        interval = Interval(max(-1.0, value - half), min(1.0, value + half), LEVEL)
        return Inference(value, interval, error, len(a) + len(b), len(a) + len(b), "clustered_normal")
    return independent_difference(clustered_ratio(*before), clustered_ratio(*after), LEVEL)


def _p_value(before: Rate, after: Rate, difference: Inference, *, paired: bool) -> float:
    if not paired:
        return normal_p_value(difference.value / difference.error) if difference.error else 1.0
    swaps = exchanges(before, after)
    differ = int(np.count_nonzero(np.abs(swaps) > _SAME))
    if differ > FEW:
        about = normal_p_value(float(swaps.sum() / np.sqrt((swaps**2).sum())))
        if differ > _EXACT or about > _FAR:
            return about
    return sign_flip_test(swaps)


def as_primary(delta: Delta) -> Delta:
    """Say what the primary measure shows: one test at 5 %, uncorrected.

    Test and interval never disagree: where the test alone does not show a difference, the interval reaches to 0.
    """
    if delta.p_value is not None and delta.p_value > 1 - LEVEL and delta.low is not None and delta.high is not None:
        delta = replace(delta, low=min(delta.low, 0.0), high=max(delta.high, 0.0))
    return _with_finding(delta, delta.p_value)


def with_findings(families: Sequence[Sequence[Delta]]) -> list[list[Delta]]:
    """Say what every secondary difference shows; a family does not weaken another family.

    The 5 % for any false finding are shared out equally among the families that test anything, and Holm's correction
    keeps them within each (Holm 1979).
    """
    sharing = max(1, sum(any(delta.p_value is not None for delta in family) for family in families))
    return [
        [
            _with_finding(delta, None if p_value is None else min(1.0, p_value * sharing))
            for delta, p_value in zip(family, adjusted([delta.p_value for delta in family]), strict=True)
        ]
        for family in families
    ]


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct for as many tests as there are (Holm 1979); None, of what is not tested, stays None."""
    tested = [value for value in p_values if value is not None]
    known = iter(np.minimum(1.0, holm(tested)).tolist() if tested else [])
    return [None if value is None else next(known) for value in p_values]


def _with_finding(delta: Delta, p_value: float | None) -> Delta:
    if p_value is None or delta.low is None or delta.high is None or delta.difference is None:
        return delta
    if p_value <= 1 - LEVEL and not delta.low <= 0 <= delta.high:
        is_better = (delta.difference > 0) == delta.more_is_better
        return replace(delta, adjusted=p_value, finding=DeltaFinding.IMPROVED if is_better else DeltaFinding.REGRESSED)
    finding = DeltaFinding.TOO_FEW if delta.answers < FEW else DeltaFinding.NO_DIFFERENCE
    return replace(delta, adjusted=p_value, finding=finding)


LABELS = tuple(Label)

Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]


class Counted:
    """The samples of one run that are compared, by row: counts of labels and of failure modes."""

    def __init__(self, run: Figures, rows: Rows | None = None) -> None:
        self.run, self.rows = run, np.arange(len(run.ids), dtype=np.int32) if rows is None else rows
        counts = np.zeros((len(run.ids), len(LABELS)))
        np.add.at(counts, (run.sample, run.label), 1.0)
        counts[~run.scored] = 0.0
        self.counts = counts[self.rows]
        self.claims = self.counts.sum(axis=1)
        self.scored = run.scored[self.rows] & (self.claims > 0)
        self.score = run.score[self.rows]
        self.failing = self.claims - self.counts[:, LABELS.index(Label.SUPPORTED)]
        self.contradicted = self.counts[:, LABELS.index(Label.CONTRADICTED)]

    def rate(self, part: MeasuredPart, mask: Mask | None = None) -> Rate:
        """Return numerators and denominators of a measure, by row, of all rows or of those in a mask."""
        measure, bottom = part.measure, self.claims
        if part.mode is not None:
            run = self.run
            has = run.mode == run.modes.index(part.mode) if part.mode in run.modes else np.zeros(len(run.mode), bool)
            top = np.where(run.scored, np.bincount(run.sample[has], minlength=len(run.ids)), 0.0)[self.rows]
        elif measure is SCORE:
            bottom = np.isfinite(self.score).astype(float)
            top = np.where(bottom, self.score, 0.0)
        elif measure in (ANY_FAILING, ANY_CONTRADICTED):
            having, bottom = self.failing if measure is ANY_FAILING else self.contradicted, self.scored.astype(float)
            top = ((having > 0) & self.scored).astype(float)
        else:
            top = self.counts[:, LABELS.index(Label(measure.name.upper()))]
        return (top, bottom) if mask is None else (top[mask], bottom[mask])

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
            meant = did_you_mean(name, known)
            raise ConfigError(f"no sample has a tag {name!r}: {there}, automatic slices start with auto:{meant}")
    return tags, by_mode
