"""Changes over time: where a short series of rates changed its level, and a watch on a rate as answers come in.

The watch has a stated rate of false alarms however often one looks. Evidence against "the mean is at most `limit`" is
the wealth of bettors who win when values are high (Waudby-Smith and Ramdas 2023): each value x in [0, 1] multiplies the
wealth of one by 1 + bet·(x − limit). While the mean of each value, given the ones before, is at most the limit, no
wealth is expected to grow, whatever the values' distribution: shares of an answer's claims serve as well as 0 and 1.
Several bettors, from timid to bold, start with equal stakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.types import Floats, column, same_length, share

_STAKES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)  # what a bettor loses of its wealth on a value of 0
_START = (1.0,) * len(_STAKES)
_RICHEST = 1e300
DRAWS = 2000
_MOST_DRAWS = 200_000
_FINEST = 1e-100
_RARE = 0.005
_FEWEST = 3  # fewer points have no change to speak of
_LONGEST = 12  # values of a level that came back; a longer one is found by its ends


@dataclass(frozen=True, slots=True)
class Watch:
    """How far a watch has come; start with `Watch(limit)`, go on with `observe`.

    `alarms` are the wealths of bettors who begin anew whenever they hold less than the stake: the e-CUSUM of Shin,
    Ramdas and Rinaldo (2024). Of each `begun` says after how many values it did so last, `since` at which time as told,
    and `totals` is the sum of the values since.
    """

    limit: float
    seen: int = 0
    alarms: tuple[float, ...] = _START
    begun: tuple[int, ...] = (0,) * len(_STAKES)
    totals: tuple[float, ...] = (0.0,) * len(_STAKES)
    since: tuple[str, ...] = ("",) * len(_STAKES)

    def __post_init__(self) -> None:
        share(self.limit, "limit")

    def has_risen(self, values_between_false_alarms: float) -> bool:
        """Whether the mean rose above the limit at some time, now or before.

        While it never does, this is so for the first time after that many values or more, on average; mostly many more.
        """
        if not values_between_false_alarms >= 1:
            raise ValueError(f"values between false alarms must be at least 1, not {values_between_false_alarms:g}")
        return sum(self.alarms) / len(self.alarms) >= values_between_false_alarms

    @property
    def leader(self) -> int:
        """Which bettor holds the most: with its stake the rise pays best, so it has been betting since about then."""
        return max(range(len(self.alarms)), key=self.alarms.__getitem__)


def observe(watch: Watch, values: ArrayLike, when: str = "") -> Watch:
    """Return the watch after these values within [0, 1], in order of time (`when`); the one given is unchanged.

    Look at `has_risen` after each value or few: an alarm fades when the values fall again.
    """
    row = column(values, "values", 0, 1).tolist()
    alarms, begun, totals, since = list(watch.alarms), list(watch.begun), list(watch.totals), list(watch.since)
    for at, value in enumerate(row, start=watch.seen):
        gain = value / watch.limit - 1
        factors = [1 + stake * gain for stake in _STAKES]
        for bettor, held in enumerate(alarms):
            if held <= 1:
                begun[bettor], totals[bettor], since[bettor] = at, 0.0, when
            totals[bettor] += value
        alarms = [min(_RICHEST, max(1.0, held) * factor) for held, factor in zip(alarms, factors, strict=True)]
    return Watch(watch.limit, watch.seen + len(row), tuple(alarms), tuple(begun), tuple(totals), tuple(since))


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The level changed with value number `at` (from 0), from `before` to `after`, the weighted means on either side.

    `p_value` is of this split within its stretch of the series.
    """

    at: int
    before: float
    after: float
    p_value: float


def change_points(values: ArrayLike, errors: ArrayLike, level: float = 0.95) -> list[ChangePoint]:
    """Find changes of level in a series in order of time, by circular binary segmentation (Olshen and others 2004).

    In each stretch the part with the largest standardised difference of weighted means from the rest is tested: all
    from one value on, or up to a dozen values in the middle, whose level came back. It is kept when fewer than
    1 − `level` of series without a change, drawn from the normal distribution, have one as large; then its parts are
    searched. `errors` are the standard errors of the values, weights are 1/error². Changes are in order of time; within
    each stretch one is claimed by chance at most that often. Raises ValueError for errors of 0 or less.
    """
    series = column(values, "values")
    share(level, "level")
    known = column(errors, "errors", 0)
    same_length(values=series, errors=known)
    if known.min() < _FINEST or known.max() > 1 / _FINEST:
        raise ValueError(f"errors must be above 0 to weigh values by: within {_FINEST:g} and {1 / _FINEST:g}")
    random = np.random.default_rng(0)
    found: list[int] = []
    chances: dict[int, float] = {}
    stretches = [(0, len(series))]
    while stretches:
        start, end = stretches.pop()
        if end - start < _FEWEST:
            continue
        part, spread = series[start:end], known[start:end]
        (first, last), p_value = _split(part, spread, random, DRAWS)
        if p_value < _RARE and 1 - level < 10 / DRAWS:  # so rare, and so rare asked for, that it takes more to tell
            (first, last), p_value = _split(part, spread, random, min(_MOST_DRAWS, round(10 / (1 - level))))
        if p_value <= 1 - level:
            inner = [start + at for at in (first, last) if 0 < at < end - start]
            found += inner
            chances |= dict.fromkeys(inner, p_value)
            stretches += pairwise([start, *inner, end])
    ends = [0, *sorted(found), len(series)]
    weights = known**-2
    means = [float(np.average(series[a:b], weights=weights[a:b])) for a, b in pairwise(ends)]
    return [ChangePoint(at, means[i], means[i + 1], chances[at]) for i, at in enumerate(sorted(found))]


def _split(values: Floats, errors: Floats, random: np.random.Generator, draws: int) -> tuple[tuple[int, int], float]:
    """Return the part of a stretch that stands out most, and how often one as good comes by chance."""
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
    return np.cumsum(np.insert(values, 0, 0.0, axis=-1), axis=-1)
