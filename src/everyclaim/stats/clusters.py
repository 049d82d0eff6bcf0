"""Things that come in clusters: sums by cluster, and the standard error that does not count them as independent."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.types import Floats

NO_SPREAD = 1e-9  # a standard error that is rounding only: all clusters are alike


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
