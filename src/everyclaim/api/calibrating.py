"""The labels that a store holds, next to the verdicts of a run: what they say of its judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.judge_error import LabelledClaim, calibrate
from everyclaim.analysis.labels import LABELS, RunLabels, Verdicts, carry_over, settle, settled_as_bad
from everyclaim.analysis.slices import expanded, length, values_of
from everyclaim.api.stored import StoredRun
from everyclaim.core.errors import InputError
from everyclaim.core.types import Label, Outcome
from everyclaim.store import Store, answer_key_of
from everyclaim.verify.verdicts import Policy, apply_policy


def calibration_of(run: StoredRun, *, slices: Sequence[str] | None = None, seed: int = 0) -> Calibration:
    """Compare a run with the labels that its store holds. Raises `InputError` when there is none."""
    with Store.lent(run.store_location) as kept:
        human = kept.labels(run.id)
        bad = settled_as_bad(kept.labelling.marks(run.id), human)
        human = [label for label in human if label.key not in bad]
        if not human:
            raise InputError(
                f"no claim of run {run.id} is labelled: `everyclaim label {run.id} --out FILE` chooses some"
            )
        settled = settle(human)
        population = verdicts_of(kept, run.id)
        claims, answers = _labelled(kept, run.id, settled, expanded(run.slices if slices is None else slices))
    return calibrate(run.id, claims, answers, population, settled, seed)


def _labelled(
    kept: Store, run: str, settled: RunLabels, slices: tuple[str, ...]
) -> tuple[list[LabelledClaim], list[LabelledClaim]]:
    """Return the labelled claims of the run, and the labelled answers as if each was one claim."""
    claims: list[LabelledClaim] = []
    answers: list[LabelledClaim] = []
    for record in kept.records_at(run, {*settled.claims, *settled.answers}):
        result, sample = record.result, record.sample
        if result.outcome is not Outcome.SCORED:
            continue
        groups = {name: values_of(result, name) for name in slices}
        groups["answer length"] = (length(len(result.claims)),)
        key = answer_key_of(sample)
        labels = settled.claims.get(record.position, {})
        for claim, label, how in carry_over(result.claims, labels, key, sample.response):
            verdict = claim.verdict
            claims.append(
                LabelledClaim(
                    position=record.position,
                    judged=verdict.label,
                    strict=apply_policy(Policy.strict(), verdict).label,
                    people=label.label,
                    supported=verdict.probabilities.supported if verdict.probabilities else None,
                    mode=label.failure_mode,
                    judged_mode=verdict.failure_mode.value if verdict.failure_mode else None,
                    how=how,
                    chosen=label.chosen,
                    groups=groups,
                )
            )
        if (answer := settled.answers.get(record.position)) is not None:
            worst = result.failing[0].verdict.label if result.failing else Label.SUPPORTED
            answers.append(
                LabelledClaim(
                    record.position, worst, worst, answer.label, None, None, None, "text", answer.chosen, groups
                )
            )
    return claims, answers


def verdicts_of(kept: Store, run: str) -> Verdicts:
    """Read every verdict of a run. Raises `InputError` when there is none."""
    codes = {label.value: code for code, label in enumerate(LABELS)}
    parts: list[Verdicts] = []
    for rows in kept.verdicts(run):
        if rows:
            place, ordinal, label, supported = zip(*rows, strict=True)
            parts.append(
                Verdicts(
                    np.array(place, dtype=np.int64),
                    np.array(ordinal, dtype=np.int32),
                    np.array([codes[value] for value in label], dtype=np.int8),
                    np.array(supported, dtype=np.float64),  # None becomes NaN
                )
            )
    if not parts:
        raise InputError(f"run {run} holds no claim of a scored answer: there is nothing to label")
    return Verdicts(*(np.concatenate(column) for column in zip(*parts, strict=True)))
