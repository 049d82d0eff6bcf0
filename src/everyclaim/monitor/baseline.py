"""What is usual, and how the judge errs: what a detector and rules hold the present against."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """How often the judge calls contradicted what is (`sensitivity`), and not what is not (`specificity`).

    `contradicted` and `others` count the labels behind each, as independent ones. Raises ValueError for a judge that
    is no better than chance: its verdicts say nothing of the true rate.
    """

    sensitivity: float
    specificity: float
    contradicted: float
    others: float

    def __post_init__(self) -> None:
        if not self.sharpness > 0:
            raise ValueError(
                f"the judge finds {self.sensitivity:.3g} of the contradicted claims and clears {self.specificity:.3g} "
                "of the others, which is no better than chance: no rate can be corrected by it"
            )

    @property
    def sharpness(self) -> float:
        """By how much a rate as judged moves when the true one moves by 1: sensitivity + specificity − 1."""
        return self.sensitivity + self.specificity - 1

    def corrected(self, judged: float) -> float:
        """Return the true rate behind a judged one (Rogan and Gladen), within [0, 1]."""
        return min(1.0, max(0.0, (judged + self.specificity - 1) / self.sharpness))

    def judged(self, true: float) -> float:
        """Return the rate that the judge would find where this one is true."""
        return true * self.sharpness + 1 - self.specificity

    def error(self, rate: float) -> float:
        """Return the standard error of a corrected rate that comes from the few labels alone.

        Counts are taken with one more of each kind, so that a judge without a known error is not without doubt.
        """
        doubt = 0.0
        for share, right, labels in (
            (1 - rate, self.specificity, self.others),
            (rate, self.sensitivity, self.contradicted),
        ):
            kept = (right * labels + 1) / (labels + 2)
            doubt += share**2 * kept * (1 - kept) / (labels + 2)
        return math.sqrt(doubt) / self.sharpness


PERFECT = JudgeAccuracy(1.0, 1.0, math.inf, math.inf)  # no correction


@dataclass(frozen=True, slots=True)
class Level:
    """A rate within [0, 1] with its standard error and the ends of its 95 % interval, as judged."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run that later answers are held against. Rates are as the judge has them; `judge` corrects them."""

    run: str
    answers: int  # scored
    claims: int
    contradicted: Level  # of the claims
    contradicted_by_answer: Level  # mean over answers of the share of their claims
    score: Level  # mean over answers
    failed: float  # share of the answers
    judge: JudgeAccuracy | None = None  # None: there are no labels
