"""Runs in their order: where a measure changed its level, and a release against those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everyclaim.analysis import plain, points, written
from everyclaim.analysis.comparison import Comparison, Side
from everyclaim.analysis.deltas import (
    CONTRADICTED,
    FEWEST,
    FEWEST_EVENTS,
    LEVEL,
    SCORE,
    SUPPORTED,
    UNSUPPORTED,
    AnswerMeasure,
    Counted,
    Mask,
    MeasuredPart,
    parts_with_masks,
)
from everyclaim.analysis.run_differences import WATCHED, RollBack, compare_figures, roll_back
from everyclaim.core.plaintext import one_line, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.intervals import Estimate, clustered_ratio
from everyclaim.stats.prevalence import JudgeCounts
from everyclaim.stats.proportions import normal_quantile
from everyclaim.stats.sequential import ChangePoint, change_points
from everyclaim.store.store import Figures

TREND_SCHEMA = 1
_SHOWN = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED)
_TESTED = (SCORE, UNSUPPORTED, CONTRADICTED)  # supported is what the other two leave
_FEWEST_RUNS = 3


@dataclass(frozen=True, slots=True)
class Series:
    """A measure on the answers of a slice, or a failure mode there, run by run, and where its level changed."""

    part: MeasuredPart
    rates: tuple[Estimate, ...]
    changes: tuple[ChangePoint, ...] = ()

    @property
    def is_testable(self) -> bool:
        """Whether the runs hold enough: answers in each that has a number, and claims of a kind in all together."""
        known = [rate for rate in self.rates if rate.value is not None]
        if len(known) < _FEWEST_RUNS or any(rate.clusters < FEWEST for rate in known):
            return False
        tops = sum((rate.value or 0.0) * rate.n for rate in known)
        return self.part.measure.is_score or min(tops, sum(rate.n for rate in known) - tops) >= FEWEST_EVENTS

    def tested(self, chance: float) -> Series:
        """Return it with the changes of level that come by chance at most this often; runs without a number aside."""
        known = [(place, rate) for place, rate in enumerate(self.rates) if rate.value is not None]
        if not known:
            return self
        widths = [(rate.high or 0.0) - (rate.low or 0.0) for _, rate in known]
        errors = [max(1e-9, width / 2 / normal_quantile(LEVEL)) for width in widths]
        found = change_points([rate.value or 0.0 for _, rate in known], errors, 1 - chance)
        return replace(self, changes=tuple(replace(change, at=known[change.at][0]) for change in found))


@dataclass(frozen=True, slots=True)
class Trend:
    """Runs in their order, as a whole and in parts.

    All changes are tested together at 5 %, half for the levels of three measures over the whole series, half for parts.
    """

    sides: tuple[Side, ...]  # the runs
    whole: tuple[Series, ...]  # of all answers, one for each measure
    differs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()  # the data sets, where neighbouring runs share less than half of their samples
    parts: tuple[Series, ...] = ()
    rule: RollBack | None = None  # on the runs since claims that fail rose, against the one before; None: they did not

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say of each measure where its level changed, or that it is not shown to."""
        told = []
        for series in (*(self.of(measure) for measure in _TESTED), *self.parts):
            part = series.part
            if not (series.changes or part.where or part.mode):
                told.append(f"{part}: no significant change over {len(self.sides)} runs")
            for change in series.changes:
                levels, by = part.measure.levels(change.before, change.after), points(change.after - change.before)
                since = one_line(self.sides[change.at].title, 60)
                chance = max(change.p_value, 0.001)
                told.append(f"{part}: from {since} on, {levels} (by {by} points, p {chance:.3f})")
        return tuple(told)

    def of(self, measure: AnswerMeasure) -> Series:
        """Return the series of a measure over all answers."""
        return next(series for series in self.whole if series.part.measure is measure)

    @property
    def advice(self) -> str:
        """What the rule of a release report says where claims that fail rose and stayed up; else empty."""
        return self.rule.advice if self.rule else ""

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in (*self.sentences, self.advice) if line)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""

        def at(series: Series) -> list[dict[str, Any]]:
            return [{"run": self.sides[change.at].id} | plain(change) for change in series.changes]

        return {
            "schema": TREND_SCHEMA,
            "runs": [
                written(side, "id name release total")
                | {"rates": {series.part.measure.name: plain(series.rates[place]) for series in self.whole}}
                for place, side in enumerate(self.sides)
            ],
            "changes": [
                {"measure": series.part.measure.name} | change for series in self.whole for change in at(series)
            ],
            "parts": [
                written(series.part, "measure mode slice") | written(series, "rates") | {"changes": at(series)}
                for series in self.parts
            ],
            **written(self, "differs data sentences advice rule"),
        }


def share_half(one: frozenset[Any], other: frozenset[Any]) -> bool:
    """Say whether at least half of the smaller of two sets is in the other: then they are of the same data."""
    return 2 * len(one & other) >= min(len(one), len(other))


def trend_of(
    sides: Sequence[Side],
    runs: Sequence[Figures],
    differs: tuple[str, ...] = (),
    by: Sequence[str] = (),
    judge: Mapping[Label, JudgeCounts] | None = None,
) -> Trend:
    """Find where the level of a measure changed over runs in their order; runs without a number are passed over.

    `by` names slices as for a comparison; `judge` is what labels say of the judge. Raises `ConfigError` for a tag that
    no sample has.
    """
    counted = [Counted(run) for run in runs]
    everything = [side.inside(()) for side in counted]
    whole = [Series(part := MeasuredPart(measure), _rates(counted, part, everything)) for measure in _SHOWN]
    parts = [Series(part, _rates(counted, part, masks)) for part, masks in parts_with_masks(counted, by)]
    testable = sum(series.is_testable for series in parts)
    share = (1 - LEVEL) / (2 if testable else 1)
    chance = share / len(_TESTED)
    whole = [series.tested(chance) if series.part.measure in _TESTED else series for series in whole]
    parts = [series.tested(share / testable) if series.is_testable else series for series in parts]
    found = Trend(tuple(sides), tuple(whole), differs, (), tuple(parts))
    return replace(found, rule=_rule(found, runs, judge))


def _rule(found: Trend, runs: Sequence[Figures], judge: Mapping[Label, JudgeCounts] | None) -> RollBack | None:
    """Apply the rule to the runs since the last rise that was not undone, against the run before it."""
    sides, watched = found.sides, [found.of(measure).changes for measure in WATCHED]
    rises = [[change.at for change in known if change.before < min(change.after, known[-1].after)] for known in watched]
    starts = [rise[-1] for rise in rises if rise]
    if not starts:
        return None
    first = min(starts)
    parts = [
        (side.title, compare_figures(runs[first - 1], run, movers=0).whole)
        for side, run in zip(sides[first:], runs[first:], strict=True)
        if len(run.ids)
    ]
    return roll_back(sides[first - 1].title, sides[-1].title, parts, judge)


def _rates(counted: Sequence[Counted], part: MeasuredPart, masks: Sequence[Mask]) -> tuple[Estimate, ...]:
    return tuple(clustered_ratio(*side.rate(part, mask)) for side, mask in zip(counted, masks, strict=True))


RELEASE_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """What there is to say of a release. `trend` is over its parts and those before, where there are three or more."""

    comparison: Comparison
    rule: RollBack
    trend: Trend | None = None
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What changed, in words."""
        return self.comparison.sentence

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in (self.sentence, self.rule.sentence, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        parts = written(self, "rule comparison notes trend") | written(self.comparison, "calibration")
        return {"schema": RELEASE_SCHEMA} | parts
