"""How far raters agree beyond chance, and whether a judge may stand in for one (`alt_test`, arXiv 2501.10970).

Values are at most 1; 0 is what chance alone gives, below 0 is worse than that. Every measure is a function of counts
that add up over units, so that its interval is a bootstrap over units, or over clusters of them (claims of one answer).
Where raters used one category only, chance explains everything and the measures are undefined: a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.clusters import cluster_codes, cluster_sums
from everyclaim.stats.intervals import Statistic, bootstrap
from everyclaim.stats.paired import benjamini_yekutieli
from everyclaim.stats.proportions import student_below
from everyclaim.stats.types import DEFAULT, Floats, Inference, Sampling, share

Ratings = Sequence[Hashable]
FEWEST_ANNOTATORS = 3
FEW_ITEMS = 30  # of one annotator; below this the t-test is not to be trusted


def confusion(first: Ratings, second: Ratings, categories: Ratings) -> NDArray[np.intp]:
    """Count pairs: a row per category of the first rater, a column per category of the second, in the order given.

    Raises ValueError for ratings of unlike length, an unknown category or a repeated one.
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
    ratings: Sequence[Sequence[Hashable | None]], categories: Ratings, *, clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> Inference:  # fmt: skip
    """Return Krippendorff's alpha for nominal categories (2004, ch. 11) with a bootstrap interval over units.

    `ratings` has a row per unit, with what each rater said, None where a rating is missing. Units with fewer than two
    ratings take no part. Raises ValueError when none is left.
    """
    said = [(unit, rating) for unit, row in enumerate(ratings) for rating in row if rating is not None]
    unit, value = (
        np.array([unit for unit, _ in said], dtype=np.intp),
        _codes([rating for _, rating in said], categories),
    )
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


def _codes(ratings: Ratings, categories: Ratings) -> NDArray[np.intp]:
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


def _pairs(first: Ratings, second: Ratings, categories: Ratings) -> NDArray[np.intp]:
    if len(first) != len(second):
        raise ValueError(f"both raters must rate every unit: {len(first)} and {len(second)} ratings")
    return _codes(first, categories) * len(categories) + _codes(second, categories)


@dataclass(frozen=True, slots=True)
class AltTest:
    """What the test found.

    `winning_rate` is ω, the share of annotators whom the judge can replace; the test is passed at .5. `advantage` is
    the mean probability that the judge is at least as close to the others as the annotator is. `p_values` are adjusted,
    one for each annotator, in the order given.
    """

    winning_rate: float
    advantage: float
    p_values: tuple[float, ...]
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether at least half of the annotators can be replaced."""
        return self.winning_rate >= 0.5


def alt_test(
    ratings: Sequence[Sequence[Hashable | None]], judged: Ratings, epsilon: float = 0.2, level: float = 0.95
) -> AltTest:
    """Test whether a judge agrees with people as well as they agree with each other.

    `ratings` has a row per item with what each annotator said (None: did not rate it), `judged` what the judge says.
    Each annotator in turn is left out, and it is counted how often the judge, and how often the annotator, agrees at
    least as much with the rest. `epsilon` is what a person's time is worth: .2 for experts, .15 skilled, .1 crowd.
    One-sided t-tests, Benjamini–Yekutieli at 1 − `level`. Raises ValueError for fewer than three annotators, rows of
    unlike length, or an annotator without two items that somebody else rated too.
    """
    share(level, "level")
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon must be between 0 and 1, not {epsilon:g}")
    said = _numbered_ratings(ratings, judged)
    people, machine = said[:, :-1], said[:, -1]
    annotators = people.shape[1]
    if annotators < FEWEST_ANNOTATORS:
        raise ValueError(f"at least {FEWEST_ANNOTATORS} annotators are needed, not {annotators}")
    p_values, advantages, fewest = [], [], len(people)
    for left_out in range(annotators):
        own, rest = people[:, left_out], np.delete(people, left_out, axis=1)
        rated = (own >= 0) & (rest >= 0).any(axis=1)
        if rated.sum() < 2:
            raise ValueError(f"annotator {left_out + 1} has fewer than two items that another rated too")
        judge_agrees = (rest[rated] == machine[rated, None]).sum(axis=1)
        person_agrees = (rest[rated] == own[rated, None]).sum(axis=1)
        loses = (person_agrees >= judge_agrees).astype(float) - (judge_agrees >= person_agrees)
        p_values.append(_lower_t_test(loses, epsilon))
        advantages.append(float(np.mean(judge_agrees >= person_agrees)))
        fewest = min(fewest, int(rated.sum()))
    adjusted = benjamini_yekutieli(p_values)
    told = (f"an annotator has {fewest} items: at least {FEW_ITEMS} are needed",) if fewest < FEW_ITEMS else ()
    winning = float(np.mean(adjusted <= 1 - level + 1e-12))
    return AltTest(winning, float(np.mean(advantages)), tuple(map(float, adjusted)), told)


def _lower_t_test(values: NDArray[np.float64], limit: float) -> float:
    """One-sided p-value of mean ≥ limit, against mean < limit."""
    n, apart = len(values), float(values.mean()) - limit
    error = float(values.std(ddof=1)) / math.sqrt(n)
    if error == 0:
        return 0.0 if apart < 0 else 1.0
    return student_below(apart / error, n - 1)


def _numbered_ratings(ratings: Sequence[Sequence[Hashable | None]], judged: Sequence[Hashable]) -> NDArray[np.intp]:
    """A row per item, the annotators' ratings and then the judge's as numbers, −1 for none."""
    if not len(ratings) or len(ratings) != len(judged):
        raise ValueError(f"every item needs ratings and a verdict: {len(ratings)} and {len(judged)}")
    if len({len(row) for row in ratings}) != 1:
        raise ValueError("every item needs one place for each annotator, None where there is no rating")
    numbers: dict[Hashable | None, int] = {None: -1}
    rows = [[*row, verdict] for row, verdict in zip(ratings, judged, strict=True)]
    try:
        coded = np.array([[numbers.setdefault(one, len(numbers) - 1) for one in row] for row in rows], dtype=np.intp)
    except TypeError:
        raise ValueError("ratings must be names or numbers, not lists or other containers") from None
    if (coded[:, -1] < 0).any():
        raise ValueError("the judge must have rated every item")
    return coded
