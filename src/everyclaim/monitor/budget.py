"""What rules hold the present against: the rates that are in order, and where these numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import counted, one_line
from everyclaim.monitor.baseline import PERFECT, Baseline, JudgeAccuracy
from everyclaim.stats.trust import FEW_OF_A_KIND, ROUGH_CLUSTERS

WEAK = 0.3  # sensitivity + specificity − 1
ROGAN_GLADEN = "(rate + specificity - 1) / (sensitivity + specificity - 1), Rogan and Gladen 1978"


@dataclass(frozen=True, slots=True)
class Budget:
    """The rate of contradicted claims that is in order, corrected, with its standard error; and the mean score.

    `score` is None where no run says what is usual: rules then hold the score against its own past. `notes` say how the
    numbers came about.
    """

    contradicted: float
    error: float
    judge: JudgeAccuracy
    score: tuple[float, float] | None  # mean, standard error
    notes: tuple[str, ...]

    @classmethod
    def of_baseline(cls, baseline: Baseline) -> Budget:
        """Take what a run has for what is in order; a rate below its own standard error counts as that."""
        judge = baseline.judge or PERFECT
        raw = baseline.contradicted
        error = max(raw.error / judge.sharpness, 1e-6)
        rate = max(judge.corrected(raw.value), error)
        said = (
            f"The budget is the rate of contradicted claims of run {one_line(baseline.run, 60)}: {_percent(raw.value)} "
            f"of {counted(baseline.claims, 'claim')} in {counted(baseline.answers, 'answer')} as judged (95 % interval "
            f"{_percent(raw.low)} to {_percent(raw.high)}), {_percent(rate)} as used here. A rate below its own "
            "standard error counts as that error."
        )
        score = (baseline.score.value, baseline.score.error)
        notes = (said, _of_score(baseline), *_of_judge(baseline.judge), *_of_size(baseline))
        return cls(rate, error, judge, score, notes)

    @classmethod
    def of_rate(cls, rate: float, usual: Baseline | None = None) -> Budget:
        """Take a stated rate, of what is true, for what is in order; a run says how the judge errs and what it scores.

        What its labels leave open of the judge may pass. Raises `ConfigError` for a rate that is no share.
        """
        if not 0 < rate < 1:
            raise ConfigError(f"the rate must be a share between 0 and 1 (2 % is 0.02), got {rate!r}")
        judge = usual.judge if usual else None
        error = judge.error(rate) if judge else 0.0
        said = f"The budget is a stated rate of contradicted claims: {_percent(rate)}."
        if usual is None:
            past = "No run says which score is usual: it is held against that of the week before."
            return cls(rate, error, PERFECT, None, (said, past, *_of_judge(None)))
        score = (usual.score.value, usual.score.error)
        notes = (said, _of_score(usual), *_of_judge(judge), *_of_size(usual))
        return cls(rate, error, judge or PERFECT, score, notes)


def _of_score(baseline: Baseline) -> str:
    score = baseline.score
    run = one_line(baseline.run, 60)
    return f"The mean score of run {run} is {score.value:.3f} (standard error {score.error:.3f})."


def _of_judge(judge: JudgeAccuracy | None) -> tuple[str, ...]:
    if judge is None:
        return (
            (
                "Rates are as the judge has them: there are no labels of contradicted and of other claims to correct "
                "them by (`everyclaim label`, `everyclaim calibrate`)."
            ),
        )
    told = (
        f"Rates are corrected for the judge's error: {ROGAN_GLADEN}, with sensitivity {judge.sensitivity:.4f} (by "
        f"labels worth {judge.contradicted:.0f} independent contradicted claims) and specificity "
        f"{judge.specificity:.4f} ({judge.others:.0f} others)."
    )
    few = min(judge.contradicted, judge.others)
    rough = f"Only {few:.0f} labels of the rarer kind: the correction is rough below {FEW_OF_A_KIND}."
    weak = "The judge hardly tells contradicted claims from others: only large changes can be more than chance."
    return (told, *([rough] if few < FEW_OF_A_KIND else []), *([weak] if judge.sharpness < WEAK else []))


def _of_size(baseline: Baseline) -> tuple[str, ...]:
    if baseline.answers >= ROUGH_CLUSTERS:
        return ()
    return (f"{counted(baseline.answers, 'answer')} are few: below {ROUGH_CLUSTERS} the baseline is rough.",)


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"
