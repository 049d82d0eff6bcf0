"""Checks of what comes in: a wrong array is an error that names it, never a number."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.types import Floats


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
        raise ValueError(f"{name} must lie {_within(low, high)}; number {at} is {row[at]:g}")
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
        raise ValueError(f"{name} must lie between 0 and 1, not {value:g}")
    return value


def count(value: float, name: str, least: int = 0) -> float:
    """Return the value when it is a finite number of at least `least`; raises ValueError otherwise."""
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} must be at least {least}, not {value:g}")
    return value


def _within(low: float, high: float) -> str:
    if low == -math.inf:
        return f"at or below {high:g}"
    return f"at or above {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
