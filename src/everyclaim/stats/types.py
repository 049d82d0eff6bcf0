"""What the statistics take and give: checked rows, intervals, numbers with their interval, and when not to trust it.

An interval is trusted where 93 to 97 % of its kind held the truth at a nominal 95 % in simulation
(`benchmarks/statistics`). Each reason not to is one plain sentence part, to be shown beside the interval. A wrong array
is an error that names it, never a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.core.plaintext import counted

Floats = NDArray[np.float64]

RESAMPLES = 2000
FEW_CLUSTERS = 30  # fewer: the spread itself is hardly known
ROUGH_CLUSTERS = 100  # fewer: an interval holds a point or two less, or more, often than it says
FEW_OF_A_KIND = 10  # labels, of either kind
FEW_DIFFERENCES = 10  # labels that the judge got wrong
FEW_CHANGED = 20
LOPSIDED = 0.3  # skewness of a mean, above which its normal interval misses on one side


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; `level` is the share of such intervals that hold the true value, when all is well."""

    low: float
    high: float
    level: float = 0.95

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def holding(self, value: float) -> Interval:
        """Widen it to a value that a bound or rounding leaves outside."""
        return Interval(min(self.low, value), max(self.high, value), self.level)

    @property
    def width(self) -> float:
        """Distance of the two ends."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Inference:
    """A number, its interval, and why not to trust them, if there is a reason.

    `error` is the standard error; `n` counts the units seen, `clusters` what was taken as independent.
    """

    value: float
    interval: Interval
    error: float
    n: int
    clusters: int
    method: str
    warnings: tuple[str, ...] = ()

    @property
    def reliable(self) -> bool:
        """Whether the interval holds what its level promises, as far as is known (`benchmarks/statistics`)."""
        return not self.warnings


@dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are made: their level, and seed and number of the resamples."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES


DEFAULT = Sampling()


def column(values: ArrayLike, name: str, low: float = -math.inf, high: float = math.inf) -> Floats:
    """Return the values as one row of finite numbers within [low, high]; at least one.

    Raises ValueError that says what `name` is instead.
    """
    try:
        row = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be one row of numbers") from None
    if row.ndim != 1:
        raise ValueError(f"{name} must be one row of numbers, not an array of shape {row.shape}")
    if not row.size:
        raise ValueError(f"{name} is empty")
    if not np.isfinite(row).all():
        at = int(np.flatnonzero(~np.isfinite(row))[0])
        raise ValueError(f"{name} must be finite numbers; number {at} is {row[at]}")
    if row.min() < low or row.max() > high:
        at = int(np.flatnonzero((row < low) | (row > high))[0])
        raise ValueError(f"{name} must be between {low:g} and {high:g}; number {at} is {row[at]:g}")
    return row


def binary(values: ArrayLike, name: str) -> Floats:
    """Return the values as one row of 0 and 1; at least one. Raises ValueError for anything else."""
    row = column(values, name)
    if not np.all((row == 0) | (row == 1)):
        raise ValueError(f"{name} must be 0 or 1 each, not {row[(row != 0) & (row != 1)][0]:g}")
    return row


def same_length(**rows: Floats | NDArray[np.intp]) -> None:
    """Raise ValueError unless all rows are of one length."""
    if len({len(row) for row in rows.values()}) > 1:
        lengths = ", ".join(f"{name} {len(row)}" for name, row in rows.items())
        raise ValueError(f"rows of one length are needed: {lengths}")


def share(value: float, name: str) -> float:
    """Return the value when it lies strictly between 0 and 1; raises ValueError otherwise."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must be between 0 and 1, not {value:g}")
    return value


def count(value: float, name: str, least: int = 0) -> float:
    """Return the value when it is a finite number of at least `least`; raises ValueError otherwise."""
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} must be at least {least}, not {value:g}")
    return value


def few_clusters(clusters: int) -> tuple[str, ...]:
    """Return what to say of an interval that rests on so many clusters."""
    if clusters < FEW_CLUSTERS:
        return (f"{clusters} independent answers: with fewer than {FEW_CLUSTERS} the interval is unreliable",)
    if clusters < ROUGH_CLUSTERS:
        return (f"{clusters} independent answers: with fewer than {ROUGH_CLUSTERS} the interval is rough",)
    return ()


def lopsided(influence: Floats) -> tuple[str, ...]:
    """Return what to say of a normal interval of a mean, from what each cluster adds to it.

    The skewness of the mean, Σψ³/(Σψ²)^1.5, is the first term by which it differs from normal (Edgeworth).
    """
    spread = float(np.sum(influence**2))
    if spread == 0 or abs(float(np.sum(influence**3))) > LOPSIDED * spread**1.5:
        return ("a few answers dominate the mean: the true coverage is below 95 %",)
    return ()


def few_of_a_kind(rarer: float, counted: str = "") -> tuple[str, ...]:
    """Return what to say where one of the two kinds of label is rare; `counted` says how they are."""
    if rarer < FEW_OF_A_KIND:
        labels = "label" if f"{rarer:.3g}" == "1" else "labels"
        return (f"one of the two kinds has only {rarer:.3g} {labels}{counted}; at least {FEW_OF_A_KIND} are needed",)
    return ()


def few_differences(truth: Floats, judged: Floats) -> tuple[str, ...]:
    """Return what to say where the judge was seen to be wrong too rarely to know how often it is."""
    wrong = int(np.count_nonzero(truth != judged))
    if wrong < FEW_DIFFERENCES:
        told = f"{counted(wrong, 'judge error')} in {len(truth)} labels"
        return (f"{told}: too few to estimate its error rate ({FEW_DIFFERENCES} needed)",)
    return ()


def few_changes(changed: int) -> tuple[str, ...]:
    """Return what to say of a difference that rests on so few clusters that changed."""
    if changed >= FEW_CHANGED:
        return ()
    return (f"{changed} samples or clusters changed: the interval is rough, mostly wider than it needs to be",)
