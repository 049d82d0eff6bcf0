"""The true rate behind a judge that errs (Rogan and Gladen 1978), with the interval of arXiv 2511.21140.

A positive is what the judge calls supported, say. Its sensitivity and specificity are known from labels only, and that
doubt belongs into the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.proportions import effective_counts, normal_p_value, normal_quantile
from everyclaim.stats.types import (
    KINDS,
    ROUGH_CLUSTERS,
    Inference,
    Interval,
    binary,
    cluster_codes,
    column,
    count,
    few_of_a_kind,
    same_length,
    share,
)


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What labels say of a judge: how many true positives and negatives were labelled, and how many it got right.

    Whole numbers are not needed: labels in clusters have an effective number. Raises ValueError without some of both.
    """

    positives_right: float
    positives: float
    negatives_right: float
    negatives: float
    kinds: tuple[str, str] = field(default=KINDS, kw_only=True)  # what claims positives and negatives are, in words
    labels: tuple[int, int] | None = field(default=None, kw_only=True)  # of both, independent or not

    def __post_init__(self) -> None:
        for name, kind in zip(("positives", "negatives"), self.kinds, strict=True):
            right, of = getattr(self, f"{name}_right"), getattr(self, name)
            if not of:
                raise ValueError(f"no {kind} claim is labelled: how often the judge gets them right is not known")
            if not 0 <= right <= count(of, name):
                raise ValueError(f"{name} right must be between 0 and {of:g}, not {right:g}")

    @property
    def sensitivity(self) -> float:
        """Share of the true positives that the judge calls so."""
        return self.positives_right / self.positives

    @property
    def specificity(self) -> float:
        """Share of the true negatives that the judge calls so."""
        return self.negatives_right / self.negatives


def rogan_gladen(positives: float, n: float, judge: JudgeCounts, level: float = 0.95) -> Inference:
    """Return the true rate, when the judge calls `positives` of `n` so, with the adjusted interval of arXiv 2511.21140.

    θ = (p + q₀ − 1)/(q₀ + q₁ − 1), clipped to [0, 1]. The interval starts from counts with a few tries added, and is
    wider at ends that the value touches. Raises ValueError without labels of both classes, and where the judge is no
    better than chance (q₀ + q₁ ≤ 1), which leaves the rate unknown.
    """
    count(n, "n", 1)
    if not 0 <= positives <= n:
        raise ValueError(f"positives must be between 0 and n={n:g}, not {positives:g}")
    p, (q0, q1) = positives / n, _informative(judge)
    value = min(1.0, max(0.0, (p + q0 - 1) / (q0 + q1 - 1)))
    z = normal_quantile(level)
    n_, (q0, doubt0), (q1, doubt1) = n + z * z, *_adjusted(judge)
    p = (positives + z * z / 2) / n_
    theta = min(1.0, max(0.0, (p + q0 - 1) / (q0 + q1 - 1)))
    shift = 2 * z * z * (-(1 - theta) * doubt0 + theta * doubt1)
    error = math.sqrt(p * (1 - p) / n_ + (1 - theta) ** 2 * doubt0 + theta**2 * doubt1) / (q0 + q1 - 1)
    low, high = theta + shift - z * error, theta + shift + z * error
    interval = Interval(max(0.0, low), min(1.0, high), level).holding(value)
    told = few_of_a_kind(judge.positives, judge.negatives, judge.kinds, judge.labels)
    if not told and (
        min(judge.positives, judge.negatives) < ROUGH_CLUSTERS or judge.sensitivity + judge.specificity < 1.5
    ):
        told = ("few labels or a weak judge: the interval is wide",)
    return Inference(value, interval, error, round(n), round(n), "rogan_gladen", told)


class RateDifference(NamedTuple):
    """Two rates of one judge, and their difference (after − before), all corrected for its error."""

    before: float
    after: float
    difference: Inference
    p_value: float  # two-sided, of no difference


def rogan_gladen_difference(
    rates: tuple[float, float], error: float, judge: JudgeCounts, level: float = 0.95
) -> RateDifference:
    """Correct the difference of two rates (before, after) that one judge found; `error` is that of after − before.

    With the judge's sensitivity q₁ and specificity q₀ the same in both, the false alarms cancel: the difference is
    that of the raw rates over q₀ + q₁ − 1, and its error holds the doubt about both, from counts with one try of each
    outcome added, as in `rogan_gladen`. Where even the higher rate is no more than the judge's false alarms, all of it
    may be these, and the interval reaches to 0. Raises ValueError as `rogan_gladen` does.
    """
    column(rates, "rates", 0, 1)
    before, after = rates
    q0, q1 = _informative(judge)
    values = [min(1.0, max(0.0, (rate + q0 - 1) / (q0 + q1 - 1))) for rate in rates]
    (q0, doubt0), (q1, doubt1) = _adjusted(judge)
    worth, doubt = q0 + q1 - 1, doubt0 + doubt1
    centre = (after - before) / worth
    spread = math.sqrt(error * error + centre * centre * doubt) / worth
    half = normal_quantile(level) * spread
    low, high, value = max(-1.0, centre - half), min(1.0, centre + half), values[1] - values[0]
    interval = Interval(low, high, level).holding(value)
    told = few_of_a_kind(judge.positives, judge.negatives, judge.kinds, judge.labels)
    if min(rates) < 1 - judge.specificity:
        told += ("a measured rate is below the judge's false alarm rate, so the correction is unreliable",)
    chance = normal_p_value(centre / spread) if spread else float(not centre)
    if not value:  # clipped: the judge's false alarms alone may be all that there is
        chance = 1.0
    found = Inference(value, interval, spread, round(judge.negatives + judge.positives), 2, "rogan_gladen", told)
    return RateDifference(values[0], values[1], found, chance)


def clustered_rogan_gladen(
    said: tuple[ArrayLike, ArrayLike | None],
    labelled: tuple[ArrayLike, ArrayLike],
    labelled_clusters: ArrayLike | None = None,
    level: float = 0.95,
    *,
    weights: ArrayLike | None = None,
) -> Inference:
    """Return `rogan_gladen` of verdicts that come in clusters, by their effective numbers (Korn and Graubard 1998).

    `said` is what the judge says of every unit (0 or 1) with the units' clusters; `labelled` what is true and what the
    judge says (0 or 1 each) of the labelled ones, which were drawn at random within each true class. `weights` are what
    labels stand for.
    """
    verdicts, judge = binary(said[0], "verdicts"), judge_counts(*labelled, labelled_clusters, weights)
    worth = effective_counts(verdicts, cluster_codes(said[1], len(verdicts)))[1]
    return rogan_gladen(float(verdicts.mean()) * worth, worth, judge, level)


def judge_counts(
    truth: ArrayLike, judged: ArrayLike, clusters: ArrayLike | None = None, weights: ArrayLike | None = None
) -> JudgeCounts:
    """Count how often a judge is right on labelled units, by the effective numbers of those in clusters."""
    y, said = binary(truth, "truth"), binary(judged, "judged")
    same_length(truth=y, judged=said)
    codes, right = cluster_codes(clusters, len(y)), (y == said).astype(float)
    weight = np.ones(len(y)) if weights is None else column(weights, "weights", 0)
    counts: list[float] = []
    kinds = (y == 1, y == 0)
    for kind in kinds:
        worth = effective_counts(right[kind], codes[kind], weight[kind])[1]
        counts += [float(np.average(right[kind], weights=weight[kind])) * worth if worth else 0.0, worth]
    return JudgeCounts(*counts, labels=(int(kinds[0].sum()), int(kinds[1].sum())))


def allocate_labels(labels: int, rate: float, judge: tuple[float, float], pilot: int) -> tuple[int, int]:
    """Return how many true negatives and positives to label, of so many, for the shortest interval (arXiv 2511.21140).

    `rate` is the share the judge calls positive, `judge` its specificity and sensitivity as a pilot of `pilot` labels
    of each class found them.
    """
    count(labels, "labels", 1)
    count(pilot, "pilot", 1)
    share(rate, "rate")
    q0, q1 = judge
    if not (0 <= q0 <= 1 and 0 <= q1 <= 1):
        raise ValueError(f"specificity and sensitivity must be between 0 and 1, not {q0:g} and {q1:g}")
    kappa = (pilot * (1 - q0) + 1) / (pilot * (1 - q1) + 1)
    positives = round(labels / (1 + (1 / rate - 1) * math.sqrt(kappa)))
    return labels - positives, positives


def _informative(judge: JudgeCounts) -> tuple[float, float]:
    """Return specificity and sensitivity; ValueError where they say nothing of a rate."""
    q0, q1 = judge.specificity, judge.sensitivity
    if q0 + q1 <= 1:
        raise ValueError(f"the judge is no better than chance (TPR {q1:.2f}, TNR {q0:.2f})")
    return q0, q1


def _adjusted(judge: JudgeCounts) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return specificity and sensitivity from counts with one try of each outcome added, each with its variance."""
    m0, m1 = judge.negatives + 2, judge.positives + 2
    q0, q1 = (judge.negatives_right + 1) / m0, (judge.positives_right + 1) / m1
    if q0 + q1 <= 1:
        raise ValueError("too few labels to tell the judge from chance")
    return (q0, q0 * (1 - q0) / m0), (q1, q1 * (1 - q1) / m1)
