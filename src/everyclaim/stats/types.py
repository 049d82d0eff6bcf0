"""What the statistics take and give: checked rows, numbers with their interval, when not to trust it, and clusters.

An interval is trusted where 93 to 97 % of its kind held the truth at a nominal 95 % in simulation
(`benchmarks/statistics`). Each reason not to is one plain sentence part, to be shown beside the interval. A wrong array
is an error that names it, never a number.

Of things that come in clusters there are sums, and the standard error that does not count them as independent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.core.plaintext import counted

Floats = NDArray[np.float64]

RESAMPLES = 2000
FEW_CLUSTERS = 30  # fewer: the spread itself is hardly known
ROUGH_CLUSTERS = 100  # fewer: an interval holds a point or two less, or more, often than it says
FEW_OF_A_KIND = 10  # labels, of either kind
KINDS = ("supported", "failing")  # claims that are positives, and negatives, where nothing else is said
NO_SPREAD = 1e-9  # a standard error that is rounding only: all clusters are alike


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
        return (f"only {counted(clusters, 'answer')}; below {FEW_CLUSTERS} the interval is unreliable",)
    if clusters < ROUGH_CLUSTERS:
        return (f"only {counted(clusters, 'answer')}; below {ROUGH_CLUSTERS} the interval is rough",)
    return ()


def few_of_a_kind(
    positives: float, negatives: float, kinds: tuple[str, str] = KINDS, labels: tuple[int, int] | None = None
) -> tuple[str, ...]:
    """Return what to say where one of two kinds of label is rare; `labels` are all of both, numbers the independent."""
    place = int(negatives <= positives)
    rarer = (positives, negatives)[place]
    if rarer >= FEW_OF_A_KIND:
        return ()
    worth, of = max(1, math.floor(rarer + 1e-9)), f"of {kinds[place]} claims"
    few = f"{counted(worth, 'label')} {of}"
    if labels and labels[place] > worth:
        few = f"{worth} of {labels[place]:,} labels {of} are independent"
    return (f"only {few}; at least {FEW_OF_A_KIND} are needed",)


def cluster_codes(clusters: ArrayLike | None, rows: int) -> NDArray[np.intp]:
    """Return the number of each row's cluster, from 0; every row its own when `clusters` is None.

    Raises ValueError when there is not one cluster for each row, or when one is missing (None, NaN).
    """
    if clusters is None:
        return np.arange(rows)
    names = np.asarray(clusters)
    if names.shape != (rows,):
        raise ValueError(f"one cluster is needed for each row: {names.shape}, {(rows,)}")
    if (names.dtype.kind == "f" and np.isnan(names).any()) or (names.dtype == object and any(x is None for x in names)):
        raise ValueError("a row has no cluster: give each row without one a unique cluster")
    try:
        return np.unique(names, return_inverse=True)[1]
    except TypeError:
        raise ValueError("clusters must be all texts or all numbers") from None


def numbered(names: Iterable[Hashable]) -> NDArray[np.int64]:
    """Number names from 0 in the order in which they first occur; equal names have one number."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def sum_by(codes: NDArray[np.intp], column: Floats) -> Floats:
    """Sum a column by cluster, in order of value, so that rounding does not depend on the order of the rows."""
    clusters = int(codes.max()) + 1 if codes.size else 0
    if np.array_equal(column, np.rint(column)):  # sums of whole numbers are exact in any order
        return np.asarray(np.bincount(codes, weights=column, minlength=clusters), dtype=np.float64)
    order = np.lexsort((column, codes))
    return np.asarray(np.bincount(codes[order], weights=column[order], minlength=clusters), dtype=np.float64)


def cluster_sums(columns: Sequence[Floats], clusters: ArrayLike | None) -> Floats:
    """Return a table with a row per cluster and the sums of each column."""
    if clusters is None:
        return np.column_stack(columns)
    codes = cluster_codes(clusters, len(columns[0]))
    return np.column_stack([sum_by(codes, column) for column in columns])


def standard_error(numerators: ArrayLike, denominators: ArrayLike) -> float:
    """Return the cluster-robust standard error of sum/sum; one row per cluster.

    For a mean this is SE² = Var/n + (1/n²) Σ_clusters Σ_{i≠j} (s_i − s̄)(s_j − s̄) (arXiv 2411.00640).
    """
    top, bottom = np.asarray(numerators, float), np.asarray(denominators, float)
    total = math.fsum(bottom)
    residuals = top - math.fsum(top) / total * bottom
    return math.sqrt(math.fsum(residuals * residuals)) / total
