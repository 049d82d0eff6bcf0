"""What is usual, and how the judge errs: what a detector and rules hold the present against."""

from __future__ import annotations

import math
from dataclasses import dataclass

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import counted, one_line
from everyclaim.stats.types import FEW_OF_A_KIND, ROUGH_CLUSTERS

WEAK = 0.3  # sensitivity + specificity − 1


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
                f"the judge finds {self.sensitivity:.3g} of the contradicted claims and clears "
                f"{self.specificity:.3g} of the others, no better than chance: rates cannot be corrected"
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


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """What rules hold the present against: the rate of contradicted claims that is in order, and the mean score.

    The rate is corrected for the judge's error. `score` is None where no run says what is usual: rules then hold the
    score against its own past. `notes` say how the numbers came about.
    """

    contradicted: float
    error: float  # its standard error
    judge: JudgeAccuracy
    score: tuple[float, float] | None  # mean, standard error
    notes: tuple[str, ...]


def error_budget(usual: Baseline | None, rate: float | None = None) -> ErrorBudget:
    """Take a stated rate for what is in order, else that of a run, which also says how the judge errs.

    A run's rate below its own standard error counts as that; of a stated one, what labels leave open of the judge may
    pass. Raises `ConfigError` for a rate that is no share, and where there is neither.
    """
    judge = usual.judge if usual else None
    if rate is not None or usual is None:
        if rate is None or not 0 < rate < 1:
            raise ConfigError(f"the rate must be a share between 0 and 1 (2 % is 0.02), got {rate!r}")
        error = judge.error(rate) if judge else 0.0
        note = f"The budget is a stated rate of contradicted claims: {_percent(rate)}."
    else:
        raw, accuracy = usual.contradicted, judge or PERFECT
        error = max(raw.error / accuracy.sharpness, 1e-6)
        rate = max(accuracy.corrected(raw.value), error)
        note = (
            f"The budget is the rate of contradicted claims of run {one_line(usual.run, 60)}: {_percent(raw.value)} "
            f"of {counted(usual.claims, 'claim')} in {counted(usual.answers, 'answer')} as judged (95 % interval "
            f"{_percent(raw.low)} to {_percent(raw.high)}), {_percent(rate)} as used here. A rate below its own "
            "standard error counts as that error."
        )
    notes = [note]
    if usual is None:
        notes.append("No run sets the usual score: it is compared with that of the week before.")
    else:
        mean, doubt = usual.score.value, usual.score.error
        notes.append(f"The mean score of run {one_line(usual.run, 60)} is {mean:.3f} (standard error {doubt:.3f}).")
    notes += _notes_on_judge(judge)
    if usual is not None and usual.answers < ROUGH_CLUSTERS:
        notes.append(f"Only {counted(usual.answers, 'answer')}: below {ROUGH_CLUSTERS} the baseline is rough.")
    score = (usual.score.value, usual.score.error) if usual else None
    return ErrorBudget(rate, error, judge or PERFECT, score, tuple(notes))


def _notes_on_judge(judge: JudgeAccuracy | None) -> list[str]:
    if judge is None:
        note = "Rates are not corrected: there are no labels of contradicted and of other claims"
        return [f"{note} (`everyclaim label`, `everyclaim calibrate`)."]
    note = (
        "Rates are corrected for the judge's error: (rate + specificity - 1) / (sensitivity + specificity - 1), Rogan "
        f"and Gladen 1978, with sensitivity {judge.sensitivity:.4f} (by labels worth {judge.contradicted:.0f} "
        f"independent contradicted claims) and specificity {judge.specificity:.4f} ({judge.others:.0f} others)."
    )
    notes = [note]
    few = min(judge.contradicted, judge.others)
    if few < FEW_OF_A_KIND:
        notes.append(
            f"Only {few:.0f} labels of one kind (contradicted or not): with fewer than {FEW_OF_A_KIND} "
            "the correction is rough."
        )
    if judge.sharpness < WEAK:
        notes.append("The judge hardly separates contradicted claims from others: only large changes are detectable.")
    return notes


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"
