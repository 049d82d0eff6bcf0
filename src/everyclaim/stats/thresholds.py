"""How well scores rank what is true above what is not, and a threshold with a guaranteed risk.

`risk_threshold` is Learn then Test (arXiv 2110.01052) with Hoeffding–Bentkus p-values: of the claims that are shown,
those above the threshold, at most a share `risk` is wrong, each answer weighing the same, but for one sample of labels
in 1 / (1 − confidence). It holds for any judge and any number of labels, for answers that are drawn as the labelled
ones were. Answers are independent, their claims need not be.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.clusters import cluster_codes
from everyclaim.stats.proportions import chance_of_at_most, normal_quantile
from everyclaim.stats.types import FEW_CLUSTERS, Floats, Inference, Interval, binary, column, same_length, share

# Tried in order from each start, down to the first that is not shown: a threshold further down shows more claims.
GRID = tuple(round(0.01 * place, 2) for place in range(99, 49, -1))
STARTS = (0.98, 0.8)


def risk_p_value(losses: ArrayLike, risk: float) -> float:
    """Return a p-value of "the mean of these independent losses within [0, 1] is above `risk`" (Hoeffding–Bentkus)."""
    share(risk, "risk")
    loss = np.asarray(losses, dtype=np.float64)
    n, found = len(loss), float(loss.mean()) if len(loss) else 1.0
    if not n or found >= risk:
        return 1.0
    inner = (1 - found) * math.log((1 - found) / (1 - risk)) + (found * math.log(found / risk) if found else 0.0)
    bentkus = math.e * chance_of_at_most(min(n, math.ceil(n * found - 1e-9)), n, risk)
    return min(1.0, math.exp(-n * inner), bentkus)


def losses_above(threshold: float, scores: Floats, wrong: Floats, codes: Floats) -> Floats:
    """Return for each answer that shows a claim the share of the claims it shows that are wrong."""
    shown = scores >= threshold
    answers = codes[shown].astype(np.intp)
    counts = np.bincount(answers)
    sums = np.bincount(answers, weights=wrong[shown])
    return np.asarray(sums[counts > 0] / counts[counts > 0], dtype=np.float64)


def risk_threshold(
    scores: ArrayLike, right: ArrayLike, answers: ArrayLike, risk: float, confidence: float = 0.95
) -> float | None:
    """Return the lowest score from which claims may be shown; None where these labels allow no promise.

    One row per labelled claim: its score within [0, 1] (NaN is never shown), whether it is right (1) or wrong (0), and
    its answer.
    """
    good = binary(right, "right")
    score = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-1.0)
    same_length(scores=score, right=good)
    codes = np.asarray(cluster_codes(answers, len(score)), dtype=np.float64)
    wrong = 1.0 - column(good, "right")
    allowed = (1 - share(confidence, "confidence")) / len(STARTS)
    found: list[float] = []
    for start in STARTS:
        for threshold in (one for one in GRID if one <= start):
            if risk_p_value(losses_above(threshold, score, wrong, codes), risk) > allowed:
                break
            found.append(threshold)
    return min(found, default=None)


def roc_auc(truth: ArrayLike, scores: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95) -> Inference:
    """Return the area under the ROC curve: the chance that a positive scores above a negative, ties count half.

    The standard error is DeLong's (1988), and Obuchowski's (1997) where units come in clusters, which it equals when
    each is alone; the interval is made on the logit scale, so it stays within [0, 1]. Raises ValueError unless both
    classes occur.
    """
    y, score = binary(truth, "truth"), column(scores, "scores")
    same_length(truth=y, scores=score)
    if y.min() == y.max():
        raise ValueError("both positives and negatives are needed: all are alike")
    groups = cluster_codes(clusters, len(y))
    positive, negative = score[y == 1], score[y == 0]
    m, n = len(positive), len(negative)
    above = placements(positive, negative)  # for each positive: the share of negatives below it
    below = 1 - placements(negative, positive)  # for each negative: the share of positives above it
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
    low, high = (0.5 * (1 + math.tanh(end / 2)) for end in (middle - half, middle + half))
    interval = Interval(low, high, level)
    return Inference(value, interval, error, m + n, used, "auc", tuple(told))


def placements(of: Floats, among: Floats) -> Floats:
    """For each value of the first row, the share of the second below it, ties half."""
    ordered = np.sort(among)
    ranks = np.searchsorted(ordered, of, "left") + np.searchsorted(ordered, of, "right")
    return np.asarray(ranks / (2 * len(among)), dtype=np.float64)


def _variance_of_mean(values: Floats) -> float:
    return float(values.var(ddof=1)) / len(values) if len(values) > 1 else math.inf
