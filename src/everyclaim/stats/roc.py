"""How well scores rank what is true above what is not, and the threshold for a rate that is wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.clusters import cluster_codes
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.stats.types import FEW_CLUSTERS, Floats, Inference, Interval, binary, column, same_length


@dataclass(frozen=True, slots=True)
class RocCut:
    """A threshold: scores at or above it are called positive. With the two rates it has on the data it was chosen on.

    Those rates flatter: report the ones on other labels.
    """

    threshold: float
    true_positive_rate: float
    true_negative_rate: float


def roc_auc(truth: ArrayLike, scores: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95) -> Inference:
    """Return the area under the ROC curve: the chance that a positive scores above a negative, ties count half.

    The standard error is DeLong's (1988), and Obuchowski's (1997) where units come in clusters, which it equals when
    each is alone; the interval is made on the logit scale, so it stays within [0, 1]. Raises ValueError unless both
    classes occur.
    """
    y, score, groups = _checked(truth, scores, clusters)
    positive, negative = score[y == 1], score[y == 0]
    m, n = len(positive), len(negative)
    above = _placements(positive, negative)  # for each positive: the share of negatives below it
    below = 1 - _placements(negative, positive)  # for each negative: the share of positives above it
    value, size = float(above.mean()), int(groups.max()) + 1
    influence = np.bincount(groups[y == 1], (above - value) / m, size)
    influence += np.bincount(groups[y == 0], (below - value) / n, size)
    used = len(np.unique(groups))
    if clusters is None:
        error = math.sqrt(_variance_of_mean(above) + _variance_of_mean(below))
    else:
        error = math.sqrt(math.fsum(influence**2) * used / (used - 1)) if used > 1 else math.inf
    told = []
    if min(m, n) < FEW_CLUSTERS:
        told.append(f"{m} positives and {n} negatives: with fewer than {FEW_CLUSTERS} of either the interval is rough")
    if error == 0 or not math.isfinite(error):
        told.append("perfect ranking or a single cluster: the interval is not informative")
        return Inference(value, Interval(0.0, 1.0, level), error, m + n, used, "auc", tuple(told))
    half = normal_quantile(level) * error / (value * (1 - value))
    middle = math.log(value / (1 - value))
    interval = Interval(_sigmoid(middle - half), _sigmoid(middle + half), level)
    return Inference(value, interval, error, m + n, used, "auc", tuple(told))


def threshold_for(
    truth: ArrayLike, scores: ArrayLike, rate: float, of: Literal["positives", "negatives"] = "positives"
) -> RocCut:
    """Return the cut that gets at least this rate of the positives (or negatives) right, and most of the other class.

    For positives the highest such threshold, for negatives the lowest, halfway between two scores that occur. Raises
    ValueError unless both classes occur and `rate` lies within (0, 1].
    """
    y, score, _ = _checked(truth, scores, None)
    if not 0 < rate <= 1:
        raise ValueError(f"rate must be above 0 and at most at 1, not {rate:g}")
    if of not in ("positives", "negatives"):
        raise ValueError(f"of must be positives or negatives, not {of}")
    places = np.unique(score)
    # Cuts in rising order: all positive, between neighbours, none positive.
    cuts = np.concatenate([places[:1], (places[:-1] + places[1:]) / 2, [np.nextafter(places[-1], np.inf)]])
    hits = 1 - np.searchsorted(np.sort(score[y == 1]), cuts) / (y == 1).sum()
    passes = np.searchsorted(np.sort(score[y == 0]), cuts) / (y == 0).sum()
    enough = (hits if of == "positives" else passes) >= rate - 1e-12
    at = int(np.flatnonzero(enough)[-1 if of == "positives" else 0])
    return RocCut(float(cuts[at]), float(hits[at]), float(passes[at]))


def _checked(
    truth: ArrayLike, scores: ArrayLike, clusters: ArrayLike | None
) -> tuple[Floats, Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]:
    y, score = binary(truth, "truth"), column(scores, "scores")
    same_length(truth=y, scores=score)
    if y.min() == y.max():
        raise ValueError("both positives and negatives are needed: all are alike")
    return y, score, cluster_codes(clusters, len(y))


def _placements(of: Floats, among: Floats) -> Floats:
    """For each value of the first row, the share of the second below it, ties half."""
    ordered = np.sort(among)
    ranks = np.searchsorted(ordered, of, "left") + np.searchsorted(ordered, of, "right")
    return np.asarray(ranks / (2 * len(among)), dtype=np.float64)


def _variance_of_mean(values: Floats) -> float:
    return float(values.var(ddof=1)) / len(values) if len(values) > 1 else math.inf


def _sigmoid(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))
