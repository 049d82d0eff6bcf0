"""More than two runs in their order: where a measure changed its level, and whether it drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from everyclaim.analysis.compare import Side
from everyclaim.analysis.comparison import points
from everyclaim.analysis.looks import CONTRADICTED, LEVEL, SCORE, SUPPORTED, UNSUPPORTED, Measure
from everyclaim.core.plaintext import one_line, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.change_points import ChangePoint, change_points
from everyclaim.stats.intervals import Estimate, clustered_mean, clustered_ratio
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.store.figures import Figures

TREND_SCHEMA = 1
_TESTED = (SCORE, UNSUPPORTED, CONTRADICTED)  # supported is what the other two leave


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
class Trend:
    """Runs in their order. `changes` are tested together at 5 %: the levels of three measures over the whole series."""

    points: tuple[Point, ...]
    changes: Mapping[Measure, tuple[ChangePoint, ...]]
    differs: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say of each measure where its level changed, or that it is not shown to."""
        told = []
        for measure, changes in self.changes.items():
            name = "mean score" if measure is SCORE else f"rate of {measure.name} claims"
            if not changes:
                told.append(f"{name}: no change of level shown over {len(self.points)} runs")
            told += [
                f"{name}: from {one_line(self.points[change.at].side.title, 60)} on, {100 * change.before:.1f} →"
                f" {100 * change.after:.1f} % (by {points(change.after - change.before)} points,"
                f" p {max(change.p_value, 0.001):.3f})"
                for change in changes
            ]
        return tuple(told)

    @property
    def advice(self) -> str:
        """Say when contradictions rose and stayed up, so that rolling back should be considered."""
        changes = self.changes.get(CONTRADICTED, ())
        if not changes or changes[-1].after <= changes[-1].before:
            return ""
        change = changes[-1]
        first = one_line(self.points[change.at].side.title, 60)
        good = one_line(self.points[change.at - 1].side.title, 60)
        since = len(self.points) - change.at
        lasting = (
            f"in all {since} runs since" if since > 1 else "in the newest run; whether it lasts, the next will show"
        )
        return (
            f"Consider rolling back to {good}: from {first} on the rate of contradicted claims is"
            f" {100 * change.after:.1f} % instead of {100 * change.before:.1f} %, {lasting}."
        )

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
            "differs": list(self.differs),
            "sentences": list(self.sentences),
            "advice": self.advice,
        }


def trend_of(sides: Sequence[Side], runs: Sequence[Figures], differs: tuple[str, ...] = ()) -> Trend:
    """Find where the level of a measure changed over runs in their order; runs without a number are passed over."""
    found = tuple(Point(side, _rates(run)) for side, run in zip(sides, runs, strict=True))
    level = 1 - (1 - LEVEL) / len(_TESTED)
    changes = {}
    for measure in _TESTED:
        known = [place for place, point in enumerate(found) if point.rates[measure].value is not None]
        values = [found[place].rates[measure].value for place in known]
        errors = [_error(found[place].rates[measure]) for place in known]
        moved = change_points([value or 0.0 for value in values], errors, level) if known else []
        changes[measure] = tuple(ChangePoint(known[one.at], one.before, one.after, one.p_value) for one in moved)
    return Trend(found, changes, differs)


def _rates(run: Figures) -> dict[Measure, Estimate]:
    counts = np.zeros((len(run.ids), len(Label)))
    np.add.at(counts, (run.sample, run.label), 1.0)
    counts[~run.scored] = 0.0
    claims = counts.sum(axis=1)
    by_label = dict(zip(Label, counts.T, strict=True))
    has = np.isfinite(run.score)
    labels = {SUPPORTED: Label.SUPPORTED, UNSUPPORTED: Label.UNSUPPORTED, CONTRADICTED: Label.CONTRADICTED}
    rates = {measure: clustered_ratio(by_label[label], claims) for measure, label in labels.items()}
    return {SCORE: clustered_mean(run.score[has]), **rates}


def _error(rate: Estimate) -> float:
    assert rate.low is not None
    assert rate.high is not None
    return max(1e-9, (rate.high - rate.low) / 2 / normal_quantile(LEVEL))
