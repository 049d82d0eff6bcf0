"""Prediction-powered inference: a few labels and many verdicts, together better than the labels alone.

PPI++ (arXiv 2311.01453): θ = λ·mean_N f + mean_n(Y − λf), with Y the labels, f the judge's verdicts on the same units
and on N others. Whatever the judge is worth, θ is right on average; the better it is, the shorter the interval. Units
may come in clusters, and a cluster may hold labelled units and others.

The labels must be a random sample of the units: those that a judge was unsure of are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.core.plaintext import counted
from everyclaim.stats.proportions import student_quantile, wilson
from everyclaim.stats.types import (
    Floats,
    Inference,
    Interval,
    binary,
    cluster_codes,
    column,
    few_clusters,
    few_of_a_kind,
    same_length,
)

FEW_ERRORS = 10  # labels that the judge got wrong
_FEW_ERRORS = f"too few to estimate its error rate ({FEW_ERRORS} needed)"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Units with a label: what is true, what the judge says, and optionally their clusters and what each stands for."""

    truth: ArrayLike
    judged: ArrayLike
    clusters: ArrayLike | None = None
    weights: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """The other units: what the judge says, and their clusters where the labelled ones have them."""

    judged: ArrayLike
    clusters: ArrayLike | None = None


def ppi_rate(labelled: Labelled, others: Unlabelled, level: float = 0.95) -> Inference:
    """Return the share of units that are true, from truth and verdicts of 0 or 1; its interval serves small counts.

    With verdicts of 0 and 1, PPI++ is the share true among the units called 1 and among those called 0, weighted by
    how many are called so: θ = q·a + (1 − q)·b, λ = (a − b)·(1 + n/N)⁻¹ on the other units alone. Here a, b and q have
    Wilson's interval each, and these are joined (Zou and Donner 2008) and stretched by the root of the design effect
    of clusters; a normal interval has hardly a width where judge and labels never differ. Labels with weights count as
    the number of equal ones that is worth as much (Kish 1965). Where that is no shorter
    than Wilson's interval of the labels alone, or a verdict has no label, λ is 0 and `method` is `labels`. Raises
    ValueError for fewer than two labels, and without other units.
    """
    truth, judged = binary(labelled.truth, "truth"), binary(labelled.judged, "judged")
    verdicts = np.concatenate([judged, binary(others.judged, "verdicts of the others")])
    n, total = len(truth), len(verdicts)
    weights = np.ones(n) if labelled.weights is None else column(labelled.weights, "weights", 0)
    same_length(truth=truth, judged=judged, weights=weights)
    if n < 2:
        raise ValueError("at least two labels are needed")
    if (labelled.clusters is None) != (others.clusters is None):
        raise ValueError("clusters are needed for the labelled and for the other units, or for neither")
    clusters = [np.asarray(given) for given in (labelled.clusters, others.clusters) if given is not None]
    codes = cluster_codes(np.concatenate(clusters) if clusters else None, total)
    size, groups = int(codes.max()) + 1, len(np.unique(codes[:n]))
    found = _estimate(truth, judged, verdicts, weights, level)
    of_verdicts = np.bincount(codes, verdicts - verdicts.mean(), size) / total
    influence = np.bincount(codes[:n], found.residuals, size) + found.power * of_verdicts
    variance = math.fsum(influence**2)
    wrong = int(np.count_nonzero(truth != judged))
    told = (
        *(f"labels of {told}" for told in few_clusters(groups)),
        *few_of_a_kind(sum(truth == 1), sum(truth == 0)),
        *([f"{counted(wrong, 'judge error')} in {n} labels: {_FEW_ERRORS}"] if wrong < FEW_ERRORS else []),
    )
    design = max(1.0, variance / found.variance) if found.variance > 0 else n / groups
    freedom = student_quantile(level, max(1, groups - 1)) / student_quantile(level, n - 1)
    stretch = math.sqrt(design) * max(1.0, freedom)
    low, high = found.value - stretch * found.below, found.value + stretch * found.above
    # One cluster says nothing of the spread.
    interval = Interval(max(0.0, low), min(1.0, high), level) if groups > 1 else Interval(0.0, 1.0, level)
    method = "ppi++" if found.power else "labels"
    return Inference(found.value, interval, math.sqrt(variance), n, groups, method, told)


def allocate_to_strata(weights: ArrayLike, spreads: ArrayLike, labels: int) -> list[int]:
    """Share labels out among strata, n_k ∝ w_k σ_k (Neyman 1934), at least two for each that has weight.

    `weights` are the strata's sizes or shares, `spreads` the standard deviations of truth − λ·verdict in each. Raises
    ValueError for fewer than two labels a stratum, and where nothing has weight.
    """
    w, sigma = column(weights, "weights", 0), column(spreads, "spreads", 0)
    same_length(weights=w, spreads=sigma)
    wanted, taking = w * sigma, w > 0
    if not taking.any():
        raise ValueError("no stratum has weight")
    if labels < 2 * np.count_nonzero(taking):
        raise ValueError(f"{labels} labels are too few for {np.count_nonzero(taking)} strata: two are needed in each")
    if not wanted.any():
        wanted = w
    base = np.where(taking, 2.0, 0.0)
    rest = labels - base.sum()
    # What a stratum wants beyond its two; shares of the rest, whole numbers by the largest remainder.
    beyond = np.maximum(wanted / wanted.sum() * labels - base, 0)
    shares = beyond / beyond.sum() * rest if beyond.any() else w / w.sum() * rest
    whole = np.floor(shares + 1e-9)
    first = np.argsort(-(shares - whole), kind="stable")[: round(rest - whole.sum())]
    whole[first] += 1
    return [round(number) for number in base + whole]


@dataclass(frozen=True, slots=True)
class _RateEstimate:
    """A rate, how far its interval reaches, a − b, each label's influence, and the variance if independent."""

    value: float
    below: float
    above: float
    power: float
    residuals: Floats
    variance: float


def _estimate(truth: Floats, judged: Floats, verdicts: Floats, weights: Floats, level: float) -> _RateEstimate:
    """Return the shorter of the intervals with the verdicts and without them."""
    called, total = judged == 1, len(verdicts)
    rate, n = _mean(truth, weights)
    interval = wilson(rate * n, n, level)
    reaches = rate - interval.low, interval.high - rate
    alone = _RateEstimate(rate, *reaches, 0.0, weights * (truth - rate) / weights.sum(), rate * (1 - rate) / n)
    if called.all() or not called.any():
        return alone
    (a, ones), (b, zeros) = _mean(truth[called], weights[called]), _mean(truth[~called], weights[~called])
    if a <= b:
        return alone
    q = float(verdicts.mean())
    ways = (  # each unknown: its value, its interval, its weight in the rate
        (a, wilson(a * ones, ones, level), q),
        (b, wilson(b * zeros, zeros, level), 1 - q),
        (q, wilson(q * total, total, level), a - b),
    )
    below = math.hypot(*(weight * (p - part.low) for p, part, weight in ways))
    above = math.hypot(*(weight * (part.high - p) for p, part, weight in ways))
    if below + above >= sum(reaches):
        return alone
    standing = weights / np.where(called, weights[called].sum(), weights[~called].sum())
    influence = standing * np.where(called, q * (truth - a), (1 - q) * (truth - b))
    variance = q**2 * a * (1 - a) / ones + (1 - q) ** 2 * b * (1 - b) / zeros + (a - b) ** 2 * q * (1 - q) / total
    return _RateEstimate(q * a + (1 - q) * b, below, above, a - b, influence, variance)


def _mean(truth: Floats, weights: Floats) -> tuple[float, float]:
    """Return the weighted share that is true, and how many equal labels it is worth."""
    whole = math.fsum(weights)
    return math.fsum(weights * truth) / whole, whole**2 / math.fsum(weights**2)
