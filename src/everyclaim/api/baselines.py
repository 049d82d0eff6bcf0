"""What a kept run says is usual: the baseline of a detector and of rules."""

from __future__ import annotations

import os

import numpy as np

from everyclaim.api.calibration import trust_of
from everyclaim.api.door import public
from everyclaim.api.running import Run, find_run
from everyclaim.api.talking import DEFAULT_STORE
from everyclaim.core.errors import InputError
from everyclaim.core.types import Label, Outcome
from everyclaim.monitor.baseline import Baseline, JudgeAccuracy, Level
from everyclaim.stats.intervals import Estimate, clustered_mean, clustered_ratio
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.store import Store

_CONTRADICTED = list(Label).index(Label.CONTRADICTED)
_FAILED = list(Outcome).index(Outcome.FAILED)


@public
def baseline(run: Run | str | None = None, *, store: str | os.PathLike[str] = DEFAULT_STORE) -> Baseline:
    """Return what is usual by a run (a `Run`, an id, the beginning of one, a name; the newest by default).

    With the error of its judge where claims of the run are labelled. `monitor.Limits.above` takes it. Raises
    `InputError` when there is no such run, or no claim in it.
    """
    found = run if isinstance(run, Run) else find_run(run, store=store)
    with Store.lent(found.store_location) as kept:
        figures = kept.figures(found.id)
    claims = np.bincount(figures.sample, minlength=len(figures.ids)).astype(float)
    wrong = np.bincount(figures.sample[figures.label == _CONTRADICTED], minlength=len(figures.ids)).astype(float)
    has = figures.scored & (claims > 0)
    claims, wrong, scores = claims[has], wrong[has], figures.score[figures.scored & np.isfinite(figures.score)]
    if not len(claims) or not len(scores):
        raise InputError(f"run {found.id} has no scored answer with a claim: it cannot be a baseline")
    return Baseline(
        run=found.id,
        answers=int(np.count_nonzero(figures.scored)),
        claims=int(claims.sum()),
        contradicted=_level(clustered_ratio(wrong, claims)),
        contradicted_by_answer=_level(clustered_mean(wrong / claims)),
        score=_level(clustered_mean(scores)),
        failed=float(np.mean(np.equal(figures.outcome, _FAILED))),
        judge=_judge(found),
    )


def _level(estimate: Estimate) -> Level:
    value, low, high = estimate.value or 0.0, estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return Level(value, (high - low) / (2 * normal_quantile(0.95)), low, high)


def _judge(run: Run) -> JudgeAccuracy | None:
    """Return the judge's error by labels; None without any, raises `InputError` where they say it is chance."""
    calibration = trust_of(run).calibration
    counts = calibration.counts.get(Label.CONTRADICTED) if calibration else None
    if counts is None:
        return None
    try:
        return JudgeAccuracy(counts.sensitivity, counts.specificity, counts.positives, counts.negatives)
    except ValueError as error:
        raise InputError(f"run {run.id}: {error}") from None
