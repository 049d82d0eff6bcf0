"""Thresholds with a guarantee from labels alone, whatever the judge is worth (split conformal prediction).

What is promised holds when the labelled answers and the later ones are exchangeable: a random sample of the same
traffic, not of last year's. It holds on average over samples of labels, not for each.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.clusters import cluster_codes
from everyclaim.stats.types import Floats, binary, column, same_length, share


def conformal_threshold(scores: ArrayLike, error_rate: float) -> float:
    """Return the value that one more score exceeds with probability at most `error_rate`: finite samples, no model.

    The ⌈(n + 1)(1 − α)⌉-th smallest of n exchangeable scores (Vovk and others 2005); +∞ where n < 1/α − 1, which is
    too few to promise anything. −∞ is allowed among the scores.
    """
    share(error_rate, "error_rate")
    row = np.asarray(scores, dtype=np.float64)
    if row.ndim != 1 or not row.size or np.isnan(row).any():
        raise ValueError("scores must be one row of numbers, at least one, none of them NaN")
    rank = math.ceil((len(row) + 1) * (1 - error_rate) - 1e-9)
    return math.inf if rank > len(row) else float(np.partition(row, rank - 1)[rank - 1])


def highest_wrong(scores: ArrayLike, right: ArrayLike, answers: ArrayLike) -> Floats:
    """Return for each answer the highest score of a claim that is wrong; −∞ where all are right.

    One row per claim: its score, whether it is right (1) or wrong (0), and its answer. Answers in order of their name.
    """
    score, good = column(scores, "scores"), binary(right, "right")
    same_length(scores=score, right=good)
    codes = cluster_codes(answers, len(score))
    highest = np.full(int(codes.max()) + 1, -np.inf)
    np.maximum.at(highest, codes, np.where(good == 1, -np.inf, score))
    return highest


def factuality_threshold(scores: ArrayLike, right: ArrayLike, answers: ArrayLike, error_rate: float) -> float:
    """Return the score above which claims may be kept, so that with probability ≥ 1 − `error_rate` all kept are right.

    Conformal factuality (arXiv 2402.10978): keep the claims of a new answer whose score is above it; +∞: keep none.
    """
    return conformal_threshold(highest_wrong(scores, right, answers), error_rate)
