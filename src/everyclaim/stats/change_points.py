"""Where a short series of measured rates changed its level, and whether it drifts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.quantiles import normal_quantile
from everyclaim.stats.types import Floats, Inference, Interval, column, same_length, share

DRAWS = 2000
_MOST_DRAWS = 200_000
_FINEST = 1e-100
_RARE = 0.005
_FEWEST = 3  # fewer points have no change to speak of
_LONGEST = 12  # values of a level that came back; a longer one is found by its ends


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
    """Find changes of level in a series in order of time, by circular binary segmentation (Olshen and others 2004).

    In each stretch the part with the largest standardised difference of weighted means from the rest is tested: all
    from one value on, or up to a dozen values in the middle, whose level came back. It is kept when fewer than
    1 − `level` of series without a change have one as large; then its parts are searched. With `errors`, the standard
    error of each value, weights are 1/error² and such series are drawn from the normal distribution (so three values
    can do); without, the values are shuffled, which needs about eight. Changes are in order of time; within each
    stretch one is claimed by chance at most that often. Raises ValueError for errors of 0 or less.
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
        (first, last), p_value = _split(part, spread, random, DRAWS)
        if p_value < _RARE and 1 - level < 10 / DRAWS:  # so rare, and so rare asked for, that it takes more to tell
            (first, last), p_value = _split(part, spread, random, min(_MOST_DRAWS, round(10 / (1 - level))))
        if p_value <= 1 - level:
            inner = [start + at for at in (first, last) if 0 < at < end - start]
            found += inner
            chances |= dict.fromkeys(inner, p_value)
            stretches += pairwise([start, *inner, end])
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


def _split(
    values: Floats, errors: Floats | None, random: np.random.Generator, draws: int
) -> tuple[tuple[int, int], float]:
    """Return the part of a stretch that stands out most, and how often one as good comes by chance."""
    if errors is None:
        null = random.permuted(np.tile(values, (draws, 1)), axis=1)
        weights = np.ones_like(values)
    else:
        null = random.standard_normal((draws, len(values))) * errors
        weights = errors**-2
    observed, part = _most_distinct(values[None, :], weights)
    hits = int(np.count_nonzero(_most_distinct(null, weights)[0] >= observed[0] * (1 - 1e-9)))
    return part, (hits + 1) / (draws + 1)


def _most_distinct(rows: Floats, weights: Floats) -> tuple[Floats, tuple[int, int]]:
    """Return for each row how far its most distinct part is from the rest, in standard errors; and that of the first.

    The statistic is |mean of the part − mean of the rest| / its standard error. A part runs from one value up to, and
    without, another.
    """
    size, values = len(weights), rows * weights
    left, left_values = _sums(weights), _sums(values)
    right, right_values = _sums(weights[::-1])[::-1], _sums(values[:, ::-1])[:, ::-1]
    best, where = np.zeros(len(rows)), (1, size)

    def consider(first: NDArray[np.intp], last: NDArray[np.intp], inside: Floats, total: Floats) -> None:
        nonlocal best, where
        rest, rest_values = left[first] + right[last], left_values[:, first] + right_values[:, last]
        apart = np.abs(total / inside - rest_values / rest) * np.sqrt(inside * rest / (inside + rest))
        place = int(apart[0].argmax())
        if apart[0, place] > best[0] * (1 + 1e-9):
            where = int(first[place]), int(last[place])
        best = np.maximum(best, apart.max(axis=1))

    tails = np.arange(1, size)
    consider(tails, np.full_like(tails, size), right[tails], right_values[:, tails])
    inside, total = np.zeros(size), np.zeros_like(values)
    for length in range(1, min(_LONGEST, size - 1) + 1):
        first = np.arange(size - length + 1)
        inside = inside[: len(first)] + weights[length - 1 :]
        total = total[:, : len(first)] + values[:, length - 1 :]
        consider(first, first + length, inside, total)
    return best, where


def _sums(values: Floats) -> Floats:
    """Return the sums of the first values along the last axis, from those of none to those of all."""
    none = np.zeros((*values.shape[:-1], 1))
    return np.concatenate([none, np.cumsum(values, axis=-1)], axis=-1)


def _positive(errors: ArrayLike, values: Floats) -> Floats:
    spread = column(errors, "errors", 0)
    same_length(values=values, errors=spread)
    if spread.min() < _FINEST or spread.max() > 1 / _FINEST:
        raise ValueError(f"errors must be above 0 to weigh values by: within {_FINEST:g} and {1 / _FINEST:g}")
    return spread
