"""More than two runs in their order: where a measure changed its level, and whether it drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from everyclaim.analysis.compare import Counted, Side, Where, cells, compare_figures, modes_of, tags_of_cut
from everyclaim.analysis.estimates import points
from everyclaim.analysis.looks import (
    CONTRADICTED,
    FEWEST,
    FEWEST_EVENTS,
    LEVEL,
    OF_PARTS,
    SCORE,
    SUPPORTED,
    UNSUPPORTED,
    Measure,
    Rate,
    of_mode,
)
from everyclaim.analysis.rollback import WATCHED, RollBack, roll_back
from everyclaim.analysis.slices import expanded
from everyclaim.core.plaintext import one_line, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.change_points import ChangePoint, change_points
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_ratio
from everyclaim.stats.prevalence import JudgeCounts
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.store.figures import Figures

TREND_SCHEMA = 1
_SHOWN = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED)
_TESTED = (SCORE, UNSUPPORTED, CONTRADICTED)  # supported is what the other two leave
_FEWEST_RUNS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a series, with its measures."""

    side: Side
    rates: Mapping[Measure, Estimate]

    @property
    def score(self) -> Estimate:
        """The mean score."""
        return self.rates[SCORE]


@dataclass(frozen=True, slots=True)
class Part:
    """A measure on the answers of one slice (`where` is empty: on all), or a failure mode there, run by run."""

    measure: Measure
    where: Where
    mode: str | None
    rates: tuple[Estimate, ...]
    changes: tuple[ChangePoint, ...]

    @property
    def title(self) -> str:
        """Name it in a sentence."""
        on = " and ".join(f"{one_line(tag, 40)}={one_line(value, 40)}" for tag, value in self.where)
        return named(self.measure, self.mode) + (f" on answers with {on}" if on else "")


@dataclass(frozen=True, slots=True)
class Trend:
    """Runs in their order, as a whole and in parts.

    All changes are tested together at 5 %, half for the levels of three measures over the whole series, half for parts.
    """

    points: tuple[Point, ...]
    changes: Mapping[Measure, tuple[ChangePoint, ...]]
    differs: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    rule: RollBack | None = None  # on the runs since claims that fail rose, against the one before; None: they did not

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say of each measure where its level changed, or that it is not shown to."""
        told = []
        for measure, changes in self.changes.items():
            if not changes:
                told.append(f"{named(measure)}: no change of level shown over {len(self.points)} runs")
            told += [self._told(named(measure), change) for change in changes]
        return (*told, *(self._told(part.title, change) for part in self.parts for change in part.changes))

    def _told(self, name: str, change: ChangePoint) -> str:
        return (
            f"{name}: from {one_line(self.points[change.at].side.title, 60)} on, {100 * change.before:.1f} →"
            f" {100 * change.after:.1f} % (by {points(change.after - change.before)} points,"
            f" p {max(change.p_value, 0.001):.3f})"
        )

    @property
    def advice(self) -> str:
        """What the rule of a release report says where claims that fail rose and stayed up; else empty."""
        return self.rule.advice if self.rule else ""

    def __str__(self) -> str:
        """Tell in a few lines, at most 80 columns wide."""
        return "\n".join(wrapped(line) for line in (*self.sentences, self.advice) if line)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {
            "schema": TREND_SCHEMA,
            "runs": [
                {
                    "id": point.side.id,
                    "name": point.side.name,
                    "release": point.side.release,
                    "total": point.side.total,
                    "rates": {measure.name: asdict(rate) for measure, rate in point.rates.items()},
                }
                for point in self.points
            ],
            "changes": [
                {"measure": measure.name, "run": self.points[change.at].side.id} | asdict(change)
                for measure, changes in self.changes.items()
                for change in changes
            ],
            "parts": [
                {
                    "measure": part.measure.name,
                    "mode": part.mode,
                    "slice": dict(part.where),
                    "rates": [asdict(rate) for rate in part.rates],
                    "changes": [{"run": self.points[change.at].side.id} | asdict(change) for change in part.changes],
                }
                for part in self.parts
            ],
            "differs": list(self.differs),
            "sentences": list(self.sentences),
            "advice": self.advice,
            "rule": self.rule and self.rule.to_json(),
        }


def named(measure: Measure, mode: str | None = None) -> str:
    """Name a measure in a sentence."""
    if mode is not None:
        return f"rate of {measure.title}"
    return "mean score" if measure is SCORE else f"rate of {measure.name} claims"


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
    counted = [Counted(run, np.arange(len(run.ids), dtype=np.int32)) for run in runs]
    found = tuple(
        Point(side, {measure: _estimate(one.rate(measure)) for measure in _SHOWN})
        for side, one in zip(sides, counted, strict=True)
    )
    parts = _parts(counted, by)
    tested = [part for part in parts if _is_tested(part)]
    share = (1 - LEVEL) / (2 if tested else 1)
    changes = {
        measure: _changes([point.rates[measure] for point in found], share / len(_TESTED)) for measure in _TESTED
    }
    level = share / max(1, len(tested))
    parts = [replace(part, changes=_changes(part.rates, level)) if _is_tested(part) else part for part in parts]
    return Trend(found, changes, differs, tuple(parts), _rule(sides, runs, changes, judge))


def _rule(
    sides: Sequence[Side],
    runs: Sequence[Figures],
    changes: Mapping[Measure, Sequence[ChangePoint]],
    judge: Mapping[Label, JudgeCounts] | None,
) -> RollBack | None:
    """Apply the rule to the runs since the last rise that was not undone, against the run before it."""
    rises = [
        [change.at for change in changes[measure] if change.before < min(change.after, changes[measure][-1].after)]
        for measure in WATCHED
    ]
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


def _parts(counted: Sequence[Counted], by: Sequence[str]) -> list[Part]:
    """Return failure modes over all answers, and what is asked for within slices, without changes yet."""
    found = _modes(counted, ())
    for cut in expanded(by):
        tags, by_mode = tags_of_cut(counted, cut)
        for where in cells(counted, tags):
            if not any(one.inside(where).any() for one in counted):
                continue
            if by_mode:
                found += _modes(counted, where)
            else:
                rates = {m: tuple(_estimate(_within(one, one.rate(m), where)) for one in counted) for m in OF_PARTS}
                found += [Part(measure, where, None, found_rates, ()) for measure, found_rates in rates.items()]
    return found


def _modes(counted: Sequence[Counted], where: Where) -> list[Part]:
    parts = []
    for mode in modes_of(counted):
        rates = [_within(one, one.mode_rate(mode), where) for one in counted]
        if any(top.any() for top, _ in rates):
            parts.append(Part(of_mode(mode), where, mode, tuple(map(_estimate, rates)), ()))
    return parts


def _within(counted: Counted, rate: Rate, where: Where) -> Rate:
    inside = counted.inside(where)
    return rate[0][inside], rate[1][inside]


def _estimate(rate: Rate) -> Estimate:
    has = rate[1] > 0
    return clustered_ratio(rate[0][has], rate[1][has]) if has.any() else NOTHING


def _is_tested(part: Part) -> bool:
    """Whether the runs hold enough: answers in each that has a number, and claims of a kind in all together."""
    known = [rate for rate in part.rates if rate.value is not None]
    if len(known) < _FEWEST_RUNS or any(rate.clusters < FEWEST for rate in known):
        return False
    tops = sum((rate.value or 0.0) * rate.n for rate in known)
    return part.measure.is_score or min(tops, sum(rate.n for rate in known) - tops) >= FEWEST_EVENTS


def _changes(rates: Sequence[Estimate], chance: float) -> tuple[ChangePoint, ...]:
    known = [place for place, rate in enumerate(rates) if rate.value is not None]
    if not known:
        return ()
    values = [rates[place].value or 0.0 for place in known]
    found = change_points(values, [_error(rates[place]) for place in known], 1 - chance)
    return tuple(ChangePoint(known[one.at], one.before, one.after, one.p_value) for one in found)


def _error(rate: Estimate) -> float:
    assert rate.low is not None
    assert rate.high is not None
    return max(1e-9, (rate.high - rate.low) / 2 / normal_quantile(LEVEL))
