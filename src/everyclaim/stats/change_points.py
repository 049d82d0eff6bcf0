"""Where a short series of measured rates changed its level, and whether it drifts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.inputs import column, same_length, share
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.stats.types import Floats, Inference, Interval

DRAWS = 2000
_MOST_DRAWS = 200_000
_FINEST = 1e-100
_RARE = 0.005
_FEWEST = 3  # fewer points have no change to speak of


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The level changed with value number `at` (from 0), from `before` to `after`, the weighted means on either side.

    `p_value` is of this split within its stretch of the series.
    """

    at: int
    before: float
    after: float
    p_value: float


def change_points(
    values: ArrayLike, errors: ArrayLike | None = None, level: float = 0.95, seed: int = 0
) -> list[ChangePoint]:
    """Find changes of level in a series in order of time, by binary segmentation (Scott and Knott 1974).

    In each stretch the split with the largest standardised difference of weighted means is tested, and kept when fewer
    than 1 − `level` of series without a change have one as large; then both sides are searched. With `errors`, the
    standard error of each value, weights are 1/error² and such series are drawn from the normal distribution (so three
    values can do); without, the values are shuffled, which needs about eight and hardly sees a level that came back.
    Changes are in order of time; within each stretch one is claimed by chance at most that often. Raises ValueError for
    errors of 0 or less.
    """
    series = column(values, "values")
    share(level, "level")
    known = None if errors is None else _positive(errors, series)
    random = np.random.default_rng(seed)
    found: list[int] = []
    chances: dict[int, float] = {}
    stretches = [(0, len(series))]
    while stretches:
        start, end = stretches.pop()
        if end - start < _FEWEST:
            continue
        part, spread = series[start:end], None if known is None else known[start:end]
        at, p_value = _split(part, spread, random, DRAWS)
        if p_value < _RARE and 1 - level < 10 / DRAWS:  # so rare, and so rare asked for, that it takes more to tell
            at, p_value = _split(part, spread, random, min(_MOST_DRAWS, round(10 / (1 - level))))
        if p_value <= 1 - level:
            found.append(start + at)
            chances[start + at] = p_value
            stretches += [(start + at, end), (start, start + at)]
    ends = [0, *sorted(found), len(series)]
    weights = np.ones_like(series) if known is None else known**-2
    means = [float(np.average(series[a:b], weights=weights[a:b])) for a, b in pairwise(ends)]
    return [ChangePoint(at, means[i], means[i + 1], chances[at]) for i, at in enumerate(sorted(found))]


def trend(values: ArrayLike, errors: ArrayLike, times: ArrayLike | None = None, level: float = 0.95) -> Inference:
    """Return the slope per unit of `times` (default: per value) of a weighted straight line, with its normal interval.

    Weights are 1/error². A line that fits worse than the errors allow (χ² above its degrees of freedom) has its error
    raised by √(χ²/df), and a warning. Raises ValueError for fewer than three values, or times that are all alike.
    """
    series = column(values, "values")
    spread = _positive(errors, series)
    when = np.arange(len(series), dtype=float) if times is None else column(times, "times")
    same_length(values=series, times=when)
    if len(series) < _FEWEST:
        raise ValueError(f"a trend needs at least {_FEWEST} values, not {len(series)}")
    weights = spread**-2
    apart = when - np.average(when, weights=weights)
    below = float(weights @ apart**2)
    if below <= 0:
        raise ValueError("a trend needs values at different times")
    middle = float(np.average(series, weights=weights))
    slope = float(weights @ (apart * (series - middle))) / below
    misfit = float(weights @ (series - middle - slope * apart) ** 2) / (len(series) - 2)
    error = math.sqrt(max(1.0, misfit) / below)
    told: tuple[str, ...] = ()
    if misfit > 2:
        told = (f"the values scatter {math.sqrt(misfit):.1f} times as far about a line as their errors say",)
    half = normal_quantile(level) * error
    interval = Interval(slope - half, slope + half, level)
    return Inference(slope, interval, error, len(series), len(series), "weighted_line", told)


def _split(values: Floats, errors: Floats | None, random: np.random.Generator, draws: int) -> tuple[int, float]:
    """The best split of one stretch, and how often one as good comes by chance."""
    if errors is None:
        null = random.permuted(np.tile(values, (draws, 1)), axis=1)
        weights = np.ones_like(values)
    else:
        null = random.standard_normal((draws, len(values))) * errors
        weights = errors**-2
    standing = _standing_out(values[None, :], weights)[0]
    seen = float(standing.max())
    hits = int(np.count_nonzero(_standing_out(null, weights).max(axis=1) >= seen * (1 - 1e-9)))
    return int(standing.argmax()) + 1, (hits + 1) / (draws + 1)


def _standing_out(rows: Floats, weights: Floats) -> Floats:
    """|mean of the left − mean of the right| / its standard error at each split; rows × splits."""
    left = np.cumsum(weights)[:-1]
    whole = weights.sum()
    sums = np.cumsum(rows * weights, axis=1)
    before, after = sums[:, :-1] / left, (sums[:, -1:] - sums[:, :-1]) / (whole - left)
    return np.asarray(np.abs(before - after) * np.sqrt(left * (whole - left) / whole), dtype=np.float64)


def _positive(errors: ArrayLike, values: Floats) -> Floats:
    spread = column(errors, "errors", 0)
    same_length(values=values, errors=spread)
    if spread.min() < _FINEST or spread.max() > 1 / _FINEST:
        raise ValueError(f"errors must be above 0 to weigh values by: within {_FINEST:g} and {1 / _FINEST:g}")
    return spread
