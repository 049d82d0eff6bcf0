"""How far raters agree beyond chance.

Values are at most 1; 0 is what chance alone gives, below 0 is worse than that. Every measure is a function of counts
that add up over units, so that its interval is a bootstrap over units, or over clusters of them (claims of one answer).
Where raters used one category only, chance explains everything and the measures are undefined: a ValueError.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.intervals import Statistic, bootstrap
from everyclaim.stats.types import DEFAULT, Floats, Inference, Sampling, cluster_codes, cluster_sums

Ratings = Sequence[Hashable]


def confusion(first: Ratings, second: Ratings, categories: Ratings) -> NDArray[np.intp]:
    """Count pairs: a row per category of the first rater, a column per category of the second, in the order given.

    Raises ValueError for ratings of unlike length and an unknown category.
    """
    size = len(categories)
    pairs = _pairs(first, second, categories)
    return np.bincount(pairs, minlength=size * size).reshape(size, size)


def cohen_kappa(
    first: Ratings, second: Ratings, categories: Ratings, *, clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> Inference:  # fmt: skip
    """Return Cohen's kappa of two raters (Cohen 1960) with a percentile bootstrap interval."""
    size = len(categories)
    pairs = _pairs(first, second, categories)
    cost = 1 - np.eye(size)

    def kappa(totals: Floats) -> Floats:
        share = totals.reshape(-1, size, size) / totals.sum(axis=1)[:, None, None]
        chance = share.sum(axis=2)[:, :, None] * share.sum(axis=1)[:, None, :]
        return np.asarray(1 - (cost * share).sum(axis=(1, 2)) / (cost * chance).sum(axis=(1, 2)), dtype=np.float64)

    return _inferred(np.eye(size * size)[pairs], kappa, clusters, sampling, "cohen_kappa")


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable | None]], categories: Ratings, *, clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> Inference:  # fmt: skip
    """Return Krippendorff's alpha for nominal categories (2004, ch. 11) with a bootstrap interval over units.

    `ratings` has a row per unit, with what each rater said, None where a rating is missing. Units with fewer than two
    ratings take no part. Raises ValueError when none is left.
    """
    said = [(unit, rating) for unit, row in enumerate(ratings) for rating in row if rating is not None]
    counts = np.zeros((len(ratings), len(categories)))
    units = np.array([unit for unit, _ in said], dtype=np.intp)
    np.add.at(counts, (units, _codes([rating for _, rating in said], categories)), 1)
    raters = counts.sum(axis=1)
    paired = raters >= 2
    if not paired.any():
        raise ValueError("no unit has two ratings: there is nothing to agree on")
    # A pair of ratings of a unit with m of them counts 1/(m − 1).
    differing = (raters**2 - (counts**2).sum(axis=1))[paired] / (raters[paired] - 1)

    def alpha(totals: Floats) -> Floats:
        used, n = totals[:, 1:], totals[:, 1:].sum(axis=1)
        expected = (n**2 - (used**2).sum(axis=1)) / (n - 1)
        return np.asarray(1 - totals[:, 0] / expected, dtype=np.float64)

    kept = None if clusters is None else cluster_codes(clusters, len(ratings))[paired]
    return _inferred(np.column_stack([differing, counts[paired]]), alpha, kept, sampling, "krippendorff_alpha")


def _inferred(
    rows: Floats, statistic: Statistic, clusters: ArrayLike | None, sampling: Sampling, name: str
) -> Inference:
    table = cluster_sums(list(rows.T), clusters)
    try:
        found = bootstrap(table, statistic, sampling)
    except ValueError as error:
        raise ValueError(f"{name} is undefined: {error}") from None
    return replace(found, n=len(rows), method=name)


def _codes(ratings: Ratings, categories: Ratings) -> NDArray[np.intp]:
    numbers = {category: number for number, category in enumerate(categories)}
    if not len(ratings):
        raise ValueError("ratings is empty")
    try:
        return np.array([numbers[said] for said in ratings], dtype=np.intp)
    except KeyError as unknown:
        raise ValueError(f"a rating is not one of the categories: {unknown.args[0]!r}") from None


def _pairs(first: Ratings, second: Ratings, categories: Ratings) -> NDArray[np.intp]:
    if len(first) != len(second):
        raise ValueError(f"both raters must rate every unit: {len(first)} and {len(second)} ratings")
    return _codes(first, categories) * len(categories) + _codes(second, categories)
