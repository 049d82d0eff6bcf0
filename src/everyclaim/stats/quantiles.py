"""Quantiles of the normal and of Student's t distribution, without a statistics package."""

from __future__ import annotations

import math
from statistics import NormalDist

from everyclaim.stats.types import share


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal lies within ±z with probability `level`."""
    return NormalDist().inv_cdf(0.5 + share(level, "level") / 2)


def normal_p_value(z: float) -> float:
    """Return the probability that a standard normal lies at least as far from 0 as z, on either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_quantile(level: float, freedom: int) -> float:
    """Return t such that a Student variable with `freedom` ≥ 1 degrees lies within ±t with probability `level`."""
    if freedom > 200:
        # The first terms of the expansion around the normal quantile; off by less than 1e-6 here.
        z = normal_quantile(level)
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        if _within(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def student_below(t: float, freedom: int) -> float:
    """Return the probability that a Student variable with `freedom` ≥ 1 degrees is below t."""
    return (1 + math.copysign(_within(math.atan(abs(t) / math.sqrt(freedom)), freedom), t)) / 2


def _within(angle: float, freedom: int) -> float:
    """Probability that |T| < √freedom·tan(angle), by the finite series for whole degrees of freedom."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        term = total = 1.0
        for k in range(2, freedom, 2):
            term *= (k - 1) / k * cosine**2
            total += term
        return sine * total
    term = cosine
    total = term if freedom > 1 else 0.0
    for k in range(3, freedom, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    return 2 / math.pi * (angle + sine * total)
