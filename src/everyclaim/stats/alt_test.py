"""May the judge stand in for a person? The alternative annotator test (arXiv 2501.10970)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everyclaim.stats.multiplicity import benjamini_yekutieli
from everyclaim.stats.quantiles import student_below
from everyclaim.stats.types import share

FEWEST_ANNOTATORS = 3
FEW_ITEMS = 30  # of one annotator; below this the t-test is not to be trusted


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
    ratings: Sequence[Sequence[Hashable | None]],
    judged: Sequence[Hashable],
    epsilon: float = 0.2,
    level: float = 0.95,
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
    said = _codes(ratings, judged)
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


def _codes(ratings: Sequence[Sequence[Hashable | None]], judged: Sequence[Hashable]) -> NDArray[np.intp]:
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
