"""How well scores rank what is true above what is not, and a threshold with a guaranteed risk.

`risk_threshold` is Learn then Test (arXiv 2110.01052) with Hoeffding–Bentkus p-values: of the claims that are shown,
those above the threshold, at most a share `risk` is wrong, each answer weighing the same, but for one sample of labels
in 1 / (1 − confidence). It holds for any judge and any number of labels, for answers that are drawn as the labelled
ones were. Answers are independent, their claims need not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.proportions import chance_of_at_most
from everyclaim.stats.types import Floats, binary, cluster_codes, same_length, share

T = TypeVar("T")

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
    starts = [[threshold for threshold in GRID if threshold <= start] for start in STARTS]

    def chance(threshold: float) -> float:
        return risk_p_value(losses_above(threshold, score, 1.0 - good, codes), risk)

    found = fixed_sequences(starts, chance, 1 - share(confidence, "confidence"))
    return min(found, default=None)


def fixed_sequences(sequences: Sequence[Sequence[T]], p_value: Callable[[T], float], chance: float) -> list[T]:
    """Return what is shown: of each sequence all up to the first that is not, at an equal share of the chance."""
    allowed = chance / len(sequences)
    return [one for sequence in sequences for one in takewhile(lambda one: p_value(one) <= allowed, sequence)]


def roc_auc(truth: NDArray[np.bool_], scores: Floats) -> float:
    """Return the chance that a positive scores above a negative, ties by half, within [0, 1]; both must occur."""
    above = np.sort(scores[~truth])
    ranks = np.searchsorted(above, scores[truth], "left") + np.searchsorted(above, scores[truth], "right")
    return float(ranks.mean() / (2 * len(above)))
