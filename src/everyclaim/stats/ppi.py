"""Prediction-powered inference: a few labels and many verdicts, together better than the labels alone.

PPI++ (arXiv 2311.01453): θ = λ·mean_N f + mean_n(Y − λf), with Y the labels, f the judge's verdicts on the same units
and on N others. Whatever the judge is worth, θ is right on average; the better it is, the shorter the interval. λ is
chosen for the smallest variance, within [0, 1]: λ = 0 is the labels alone, λ = 1 is PPI (arXiv 2301.09633). Stratified
(arXiv 2406.04291): θ = Σ w_k θ_k. Units may come in clusters, and a cluster may hold labelled units and others.

The labels must be a random sample of the units, or of each stratum: those that a judge was unsure of are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.clusters import cluster_codes
from everyclaim.stats.proportions import student_quantile, wilson
from everyclaim.stats.types import (
    Floats,
    Inference,
    Interval,
    binary,
    column,
    few_clusters,
    few_differences,
    few_of_a_kind,
    lopsided,
    same_length,
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Units with a label: what is true, what the judge says, and optionally their clusters and strata."""

    truth: ArrayLike
    judged: ArrayLike
    clusters: ArrayLike | None = None
    strata: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """The other units: what the judge says, and their clusters and strata where the labelled ones have them."""

    judged: ArrayLike
    clusters: ArrayLike | None = None
    strata: ArrayLike | None = None


def ppi_mean(labelled: Labelled, others: Unlabelled, tuning: float | None = None, level: float = 0.95) -> Inference:
    """Return the mean of the truth over all units, ± Student's t · its standard error; any finite values.

    `tuning` is λ; None chooses it, for each stratum its own. Strata weigh by their share of all units. Raises
    ValueError for fewer than two labels in a stratum, and for a stratum without other units.
    """
    if tuning is not None and not math.isfinite(tuning):
        raise ValueError(f"tuning must be a finite number, not {tuning:g}")
    units = _Units(labelled, others)
    groups, influence = units.labelled_clusters, np.zeros(units.groups)
    value = 0.0
    for stratum in units.strata():
        labels = _centred_by_cluster(stratum.truth, stratum.clusters, units.groups)
        verdicts = _centred_by_cluster(stratum.others, stratum.other_clusters, units.groups)
        verdicts -= _centred_by_cluster(stratum.judged, stratum.clusters, units.groups)
        power = _power(labels, verdicts) if tuning is None else tuning
        value += stratum.weight * float(power * stratum.others.mean() + (stratum.truth - power * stratum.judged).mean())
        influence += stratum.weight * (labels + power * verdicts)
    error = math.sqrt(math.fsum(influence**2) * groups / (groups - 1)) if groups > 1 else math.inf
    half = student_quantile(level, max(1, groups - 1)) * error
    told = (*few_clusters(groups), *lopsided(influence), *few_differences(units.truth, units.judged))
    interval = Interval(value - half, value + half, level)
    return Inference(value, interval, error, units.n, groups, "ppi" if tuning == 1 else "ppi++", told)


def ppi_rate(labelled: Labelled, others: Unlabelled, level: float = 0.95) -> Inference:
    """Return the share of units that are true, from truth and verdicts of 0 or 1; its interval serves small counts.

    With verdicts of 0 and 1, PPI++ is the share true among the units called 1 and among those called 0, weighted by
    how many are called so: θ = q·a + (1 − q)·b, λ = (a − b)·(1 + n/N)⁻¹ on the other units alone. Here a, b and q have
    Wilson's interval each, and these are joined (Zou and Donner 2008) and stretched by the root of the design effect
    of clusters; the normal interval of `ppi_mean` has hardly a width where judge and labels never differ. Where that
    is no shorter than Wilson's interval of the labels alone, or a verdict has no label, λ is 0 and `method` is
    `labels`. Raises ValueError as `ppi_mean`.
    """
    units = _Units(labelled, others)
    for row, name in ((units.truth, "truth"), (units.judged, "judged"), (units.others, "verdicts of the others")):
        binary(row, name)
    groups, influence = units.labelled_clusters, np.zeros(units.groups)
    value = below = above = plain = 0.0
    powered = False
    for stratum in units.strata():
        part = _StratumEstimate.of(stratum, level)
        powered |= part.power > 0
        value += stratum.weight * part.value
        below += (stratum.weight * part.below) ** 2
        above += (stratum.weight * part.above) ** 2
        called = np.concatenate([stratum.judged, stratum.others])
        everywhere = np.concatenate([stratum.clusters, stratum.other_clusters])
        verdicts = part.power * _centred_by_cluster(called, everywhere, units.groups)
        influence += stratum.weight * (np.bincount(stratum.clusters, part.residuals, units.groups) + verdicts)
        plain += stratum.weight**2 * part.variance
    variance = math.fsum(influence**2)
    told = (
        *few_clusters(groups),
        *few_of_a_kind(min(sum(units.truth == 0), sum(units.truth == 1))),
        *few_differences(units.truth, units.judged),
    )
    design = max(1.0, variance / plain) if plain > 0 else units.n / groups
    freedom = student_quantile(level, max(1, groups - 1)) / student_quantile(level, units.n - 1)
    stretch = math.sqrt(design) * max(1.0, freedom)
    low, high = value - stretch * math.sqrt(below), value + stretch * math.sqrt(above)
    # One cluster says nothing of the spread.
    interval = Interval(max(0.0, low), min(1.0, high), level) if groups > 1 else Interval(0.0, 1.0, level)
    return Inference(value, interval, math.sqrt(variance), units.n, groups, "ppi++" if powered else "labels", told)


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
class _Stratum:
    weight: float
    truth: Floats
    judged: Floats
    clusters: NDArray[np.intp]
    others: Floats
    other_clusters: NDArray[np.intp]


class _Units:
    """Labelled and other units side by side, by stratum and cluster."""

    def __init__(self, labelled: Labelled, others: Unlabelled) -> None:
        self.truth, self.judged = column(labelled.truth, "truth"), column(labelled.judged, "judged")
        self.others = column(others.judged, "verdicts of the others")
        same_length(truth=self.truth, judged=self.judged)
        self.n = len(self.truth)
        total = self.n + len(self.others)
        self._clusters = _codes(labelled.clusters, others.clusters, (self.n, total), "clusters")
        whole = labelled.strata is None and others.strata is None
        self._strata = (
            np.zeros(total, np.intp) if whole else _codes(labelled.strata, others.strata, (self.n, total), "strata")
        )
        self.groups = int(self._clusters.max()) + 1
        self.labelled_clusters = len(np.unique(self._clusters[: self.n]))

    def strata(self) -> Iterator[_Stratum]:
        sizes = np.bincount(self._strata)
        for k, size in enumerate(sizes):
            here, there = self._strata[: self.n] == k, self._strata[self.n :] == k
            if here.sum() < 2 or not there.any():
                raise ValueError(
                    "two labels and a unit without one are needed" + " in every stratum" * (len(sizes) > 1)
                )
            own, alien = self._clusters[: self.n][here], self._clusters[self.n :][there]
            yield _Stratum(
                float(size / sizes.sum()), self.truth[here], self.judged[here], own, self.others[there], alien
            )


@dataclass(frozen=True, slots=True)
class _StratumEstimate:
    """One stratum's rate, how far its interval reaches, a − b, each label's influence, the variance if independent."""

    value: float
    below: float
    above: float
    power: float
    residuals: Floats
    variance: float

    @classmethod
    def of(cls, stratum: _Stratum, level: float) -> _StratumEstimate:
        """The shorter of the intervals with the verdicts and without them."""
        alone = cls._labels_alone(stratum, level)
        called = stratum.judged == 1
        if called.all() or not called.any() or stratum.truth[called].mean() <= stratum.truth[~called].mean():
            return alone
        powered = cls._powered(stratum, level)
        return powered if powered.below + powered.above < alone.below + alone.above else alone

    @classmethod
    def _labels_alone(cls, stratum: _Stratum, level: float) -> _StratumEstimate:
        n, rate = len(stratum.truth), float(stratum.truth.mean())
        interval = wilson(float(stratum.truth.sum()), n, level)
        influence = (stratum.truth - rate) / n
        return cls(rate, rate - interval.low, interval.high - rate, 0.0, influence, rate * (1 - rate) / n)

    @classmethod
    def _powered(cls, stratum: _Stratum, level: float) -> _StratumEstimate:
        y, f, g = stratum.truth, stratum.judged, stratum.others
        n, called, total = len(y), float(f.sum()), len(y) + len(g)
        q, a, b = (called + float(g.sum())) / total, float(y[f == 1].mean()), float(y[f == 0].mean())
        ways = (  # each unknown: its value, its interval, its weight in the rate
            (a, wilson(a * called, called, level), q),
            (b, wilson(b * (n - called), n - called, level), 1 - q),
            (q, wilson(q * total, total, level), a - b),
        )
        below = math.hypot(*(weight * (p - interval.low) for p, interval, weight in ways))
        above = math.hypot(*(weight * (interval.high - p) for p, interval, weight in ways))
        influence = np.where(f == 1, q * (y - a) / called, (1 - q) * (y - b) / (n - called))
        variance = math.fsum(influence**2) + (a - b) ** 2 * q * (1 - q) / total
        return cls(q * a + (1 - q) * b, below, above, a - b, influence, variance)


def _centred_by_cluster(values: Floats, codes: NDArray[np.intp], groups: int) -> Floats:
    return np.asarray(np.bincount(codes, values - values.mean(), groups) / len(values), dtype=np.float64)


def _power(labels: Floats, verdicts: Floats) -> float:
    """The λ within [0, 1] that makes Σ (labels + λ·verdicts)² smallest."""
    below = math.fsum(verdicts**2)
    return min(1.0, max(0.0, -math.fsum(labels * verdicts) / below)) if below > 0 else 0.0


def _codes(first: ArrayLike | None, second: ArrayLike | None, sizes: tuple[int, int], name: str) -> NDArray[np.intp]:
    n, total = sizes
    if (first is None) != (second is None):
        raise ValueError(f"{name} are needed for the labelled and for the other units, or for neither")
    if first is None or second is None:
        return np.arange(total)
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != (n,) or b.shape != (total - n,):
        raise ValueError(f"one of {name} is needed for each unit: {a.shape}, {b.shape}")
    return cluster_codes(np.concatenate([a, b]), total)
