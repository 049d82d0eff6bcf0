"""What to do about a judge's error, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from everyclaim.analysis.calibration import TARGET, Rates, standing
from everyclaim.stats.intervals import Estimate
from everyclaim.stats.power import labels_for_half_width

_NARROWEST, _USUAL = 0.02, 0.05  # half widths that more labels should bring
_FEWEST = 50  # labels of a kind before a rate says much


def advice(rates: Rates, run: str) -> tuple[str, ...]:
    """Say what would help: another setting of the judge, another judge, or labels, how many and which."""
    return tuple(_said(rates, run))


def _said(rates: Rates, run: str) -> Iterator[str]:
    strict, lax = standing(rates.tpr), standing(rates.tnr)
    if strict == "missed":
        yield (
            "too strict: it calls failing what people call supported. Lower the threshold, let what follows from "
            "the passages count as supported, take a larger model, or show it the evidence span."
        )
    if lax == "missed":
        yield (
            "too lax: it calls supported what people call failing. Take a judge of another family than the writer, "
            "or a larger one, judge each passage alone (--strategy each), or require evidence (--strict)."
        )
    if strict == lax == "met":
        yield f"both rates are shown to be at least {TARGET * 100:.0f} %."
    for name, rate, labels in (("supported", rates.tpr, rates.supported), ("failing", rates.tnr, rates.failing)):
        if standing(rate) == "not shown":
            more = more_labels(rate, labels)
            yield (
                f"too few labels of claims that are {name} to tell whether {TARGET * 100:.0f} % is met "
                f"({labels:,} so far): about {more:,} more of that kind are needed. "
                f"everyclaim label {run} --by {'random' if name == 'supported' else 'stratified'} chooses some."
            )


def more_labels(rate: Estimate, labels: int) -> int:
    """Return how many more labels would tell a rate from its target, or narrow it to ± 5 points where it is close."""
    if rate.value is None:
        return _FEWEST
    distance = abs(rate.value - TARGET)
    wanted = labels_for_half_width(rate.value, distance if distance >= _NARROWEST else _USUAL)
    if rate.low is not None and rate.high is not None and labels:
        # Claims of one answer are alike: an interval that is wider than that of independent ones needs more.
        independent = labels_for_half_width(rate.value, min(0.49, max(1e-3, (rate.high - rate.low) / 2)))
        wanted = math.ceil(wanted * max(1.0, labels / max(1, independent)))
    return max(1, wanted - labels, _FEWEST - labels)
