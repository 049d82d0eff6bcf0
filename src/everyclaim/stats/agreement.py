"""How far raters agree beyond chance. Values are at most 1; 0 is what chance alone gives, below 0 is worse than that.

Every measure here is a function of counts that add up over units, so that its interval is a bootstrap over units, or
over clusters of them (claims of one answer). Where raters used one category only, chance explains everything and the
measures are undefined: a ValueError.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.bootstrap import Statistic, bootstrap
from everyclaim.stats.clusters import cluster_codes, cluster_sums
from everyclaim.stats.types import DEFAULT, Floats, Inference, Sampling

Weights = Literal["none", "linear", "quadratic"]


def confusion(
    first: Sequence[Hashable], second: Sequence[Hashable], categories: Sequence[Hashable]
) -> NDArray[np.intp]:
    """Count pairs: a row per category of the first rater, a column per category of the second, in the order given.

    Raises ValueError for ratings of unlike length, an unknown category or a repeated one.
    """
    size = len(categories)
    pairs = _pairs(first, second, categories)
    return np.bincount(pairs, minlength=size * size).reshape(size, size)


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    categories: Sequence[Hashable],
    *,
    weights: Weights = "none",
    clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> Inference:
    """Return Cohen's kappa of two raters (Cohen 1960; weighted 1968) with a percentile bootstrap interval.

    `weights` count a disagreement by the distance of the categories, in the order given, or by its square.
    """
    size = len(categories)
    pairs = _pairs(first, second, categories)
    cost = _disagreement(size, weights)

    def kappa(totals: Floats) -> Floats:
        share = totals.reshape(-1, size, size) / totals.sum(axis=1)[:, None, None]
        chance = share.sum(axis=2)[:, :, None] * share.sum(axis=1)[:, None, :]
        return np.asarray(1 - (cost * share).sum(axis=(1, 2)) / (cost * chance).sum(axis=(1, 2)), dtype=np.float64)

    return _inferred(_one_hot(pairs, size * size), kappa, clusters, sampling, "cohen_kappa")


def fleiss_kappa(counts: ArrayLike, *, clusters: ArrayLike | None = None, sampling: Sampling = DEFAULT) -> Inference:
    """Return Fleiss' kappa (1971) with a percentile bootstrap interval.

    `counts` has a row per unit and a column per category: how many raters put it there; as many raters for every unit,
    at least two. Raises ValueError otherwise: `krippendorff_alpha` takes missing ratings.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("counts must be a table of units by categories, 0 or more in each")
    raters = table.sum(axis=1)
    if raters[0] < 2 or np.any(raters != raters[0]):
        raise ValueError("every unit needs the same number of raters, at least two")
    agreeing = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))

    def kappa(totals: Floats) -> Floats:
        share = totals[:, :-2] / totals[:, :-2].sum(axis=1)[:, None]
        chance = (share**2).sum(axis=1)
        return np.asarray((totals[:, -2] / totals[:, -1] - chance) / (1 - chance), dtype=np.float64)

    rows = np.column_stack([table, agreeing, np.ones(len(table))])
    return _inferred(rows, kappa, clusters, sampling, "fleiss_kappa")


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable | None]],
    categories: Sequence[Hashable],
    *,
    clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> Inference:
    """Return Krippendorff's alpha for nominal categories (2004, ch. 11) with a bootstrap interval over units.

    `ratings` has a row per unit, with what each rater said, None where a rating is missing. Units with fewer than two
    ratings take no part. Raises ValueError when none is left.
    """
    unit, value = _listed(ratings, categories)
    counts = np.zeros((len(ratings), len(categories)))
    np.add.at(counts, (unit, value), 1)
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
        found = bootstrap(table, statistic, sampling, "percentile")
    except ValueError as error:
        raise ValueError(f"{name} is undefined: {error}") from None
    return replace(found, n=len(rows), method=name)


def _listed(
    ratings: Sequence[Sequence[Hashable | None]], categories: Sequence[Hashable]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    given = [(unit, said) for unit, row in enumerate(ratings) for said in row if said is not None]
    if not given:
        raise ValueError("ratings is empty")
    return np.array([unit for unit, _ in given], dtype=np.intp), _codes([said for _, said in given], categories)


def _codes(ratings: Sequence[Hashable], categories: Sequence[Hashable]) -> NDArray[np.intp]:
    numbers = {category: number for number, category in enumerate(categories)}
    if len(numbers) != len(categories):
        raise ValueError("a category is named twice")
    if not len(ratings):
        raise ValueError("ratings is empty")
    try:
        return np.array([numbers[said] for said in ratings], dtype=np.intp)
    except KeyError as unknown:
        raise ValueError(f"a rating is not one of the categories: {unknown.args[0]!r}") from None
    except TypeError:
        raise ValueError("ratings must be names or numbers, not lists or other containers") from None


def _pairs(first: Sequence[Hashable], second: Sequence[Hashable], categories: Sequence[Hashable]) -> NDArray[np.intp]:
    if len(first) != len(second):
        raise ValueError(f"both raters must rate every unit: {len(first)} and {len(second)} ratings")
    return _codes(first, categories) * len(categories) + _codes(second, categories)


def _one_hot(codes: NDArray[np.intp], size: int) -> Floats:
    table = np.zeros((len(codes), size))
    table[np.arange(len(codes)), codes] = 1
    return table


def _disagreement(size: int, weights: Weights) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    costs = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}
    if weights not in costs:
        raise ValueError(f"weights must be none, linear or quadratic, not {weights}")
    return costs[weights]
