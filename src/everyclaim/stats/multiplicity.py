"""Many looks at once: p-values adjusted so that what is called a difference stays as rare as promised."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.types import Floats, column


def holm(p_values: ArrayLike) -> Floats:
    """Return adjusted p-values, in the order given, that bound the chance of any false finding (Holm 1979).

    Reject where the adjusted value is at most the level; whatever the tests' dependence. Raises ValueError for an empty
    row and for what is not a probability.
    """
    p = column(p_values, "p_values", 0, 1)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_place(stepped, order)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Return adjusted p-values, in the order given, that bound the share of false findings among the findings.

    Benjamini and Hochberg 1995; for tests that are independent or positively dependent, as overlapping slices are.
    """
    return _step_up(column(p_values, "p_values", 0, 1), 1.0)


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Return adjusted p-values as `benjamini_hochberg`, for tests of any dependence (Benjamini and Yekutieli 2001)."""
    p = column(p_values, "p_values", 0, 1)
    return _step_up(p, float(np.sum(1 / np.arange(1, len(p) + 1))))


def _step_up(p: Floats, factor: float) -> Floats:
    order = np.argsort(p, kind="stable")
    raised = p[order] * factor * len(p) / np.arange(1, len(p) + 1)
    return _in_place(np.minimum.accumulate(raised[::-1])[::-1], order)


def _in_place(adjusted: Floats, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Floats:
    back = np.empty_like(adjusted)
    back[order] = np.minimum(adjusted, 1.0)
    return back
