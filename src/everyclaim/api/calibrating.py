"""The labels that a store holds beside the verdicts of a run: what they say of its judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from everyclaim.analysis.advice import advice
from everyclaim.analysis.calibration import (
    BY_VERDICT,
    UNSURE,
    Calibration,
    LabelledClaim,
    columns,
    confusion_of,
    counts_by_label,
    grouped,
    measure,
    rates,
    share_by,
)
from everyclaim.analysis.choosing import LABELS, Verdicts
from everyclaim.analysis.disputes import settled_as_bad
from everyclaim.analysis.labelling import WHOLE, Settling, carry_over, settle
from everyclaim.analysis.reliability import fit_on_half, reliability
from everyclaim.analysis.slices import expanded, length, values_of
from everyclaim.api.stored import StoredRun
from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label, Outcome
from everyclaim.store import Store, answer_key


def calibration_of(run: StoredRun, *, slices: Sequence[str] | None = None, seed: int = 0) -> Calibration:
    """Compare a run with the labels that its store holds. Raises `InputError` when there is none."""
    with Store.lent(run.store_location) as kept:
        human = kept.labels(run.id)
        bad = settled_as_bad(kept.labelling.marks(run.id), human)
        human = [one for one in human if one.key not in bad]
        if not human:
            raise InputError(
                f"no claim of run {run.id} is labelled: `everyclaim label {run.id} --out FILE` chooses some"
            )
        settled = settle(human)
        population = verdicts_of(kept, run.id)
        claims, whole = _labelled(kept, run.id, settled, expanded(run.slices if slices is None else slices))
    return _calibration(run.id, claims, whole, population, settled, seed)


def _calibration(
    run: str,
    claims: list[LabelledClaim],
    whole: list[LabelledClaim],
    population: Verdicts,
    settled: Settling,
    seed: int,
) -> Calibration:
    whole_claims = [one for one in claims if one.how in WHOLE]
    sure = [one for one in whole_claims if one.way != UNSURE]
    used = sure or whole_claims
    found, corrected = measure(used, population)
    if not sure:
        corrected = replace(corrected, ppi=None, rogan_gladen=None, why=("no label of claims like the others",))
    table, kappa = confusion_of(used)
    reliable = fitted = None
    stated = [one for one in used if one.supported is not None]
    if stated and len({one.people is Label.SUPPORTED for one in stated}) == 2:
        truth, called, places = columns(stated)
        probabilities = np.array([one.supported for one in stated], dtype=float)
        reliable = reliability(truth, probabilities, places)
        fitted = fit_on_half(truth, called, probabilities, places, seed)
    return Calibration(
        run=run,
        labelled=len(claims),
        used=len(used),
        by_how=_count(one.how for one in claims),
        by_way=_count(one.way or "not said" for one in claims),
        disputed=settled.disputed,
        annotators=settled.annotators,
        agreement=settled.agreement,
        rates=found,
        answers=rates(whole) if whole else None,
        confusion=table,
        kappa=kappa,
        groups=grouped(used),
        modes=share_by(
            (one for one in used if one.people is not Label.SUPPORTED),
            lambda one: one.mode or "not said",
            lambda one: one.judged is not Label.SUPPORTED,
        ),
        judged_modes=share_by(used, lambda one: one.judged_mode, lambda one: one.people is not Label.SUPPORTED),
        reliability=reliable,
        fitted=fitted,
        corrected=corrected,
        notes=tuple(_notes(run, claims, settled)),
        advice=advice(found, run),
        counts=counts_by_label(used, population) if sure else {},
    )


def _notes(run: str, claims: Sequence[LabelledClaim], settled: Settling) -> Iterator[str]:
    if settled.disputed:
        yield (
            f"{counted(settled.disputed, 'label')} disputed, as many for as against: in no number until somebody "
            "labels them as annotator 'adjudicated'"
        )
    cut = sum(one.how in WHOLE and one.how != "text" for one in claims)
    if cut:
        yield (
            f"{cut:,} of {counted(len(claims), 'labelled claim')} were cut otherwise by the run, and take the label of "
            "the same place or of the parts"
        )
    lopsided = sum(one.how not in WHOLE for one in claims)
    if lopsided:
        yield f"{counted(lopsided, 'claim')} labelled in part only: in no rate, only one kind of label shows there"
    unsure = sum(one.how in WHOLE and one.way == UNSURE for one in claims)
    if unsure:
        others = any(one.how in WHOLE and one.way != UNSURE for one in claims)
        alone = "they are in no rate" if others else "there are no others, so the rates are of such claims alone"
        yield f"{counted(unsure, 'claim')} chosen because the judge was unsure: {alone}"
    if any(one.way in BY_VERDICT and one.chosen.partition(":")[2] != run for one in claims):
        yield "some claims were chosen by the verdicts of another run: weighting them by this run's is approximate"
    if claims and not any(one.way for one in claims):
        yield "how the labelled claims were chosen is not known: the rates hold for the run if they are like its others"
    if not claims:
        yield "no claim of this run has a label: the labels are of other places, or of whole answers"


def _labelled(
    kept: Store, run: str, settled: Settling, slices: tuple[str, ...]
) -> tuple[list[LabelledClaim], list[LabelledClaim]]:
    """Return the labelled claims of the run, and the labelled answers as if each was one claim."""
    claims: list[LabelledClaim] = []
    whole: list[LabelledClaim] = []
    for record in kept.records_at(run, {*settled.claims, *settled.answers}):
        result, sample = record.result, record.sample
        if result.outcome is not Outcome.SCORED:
            continue
        groups = {name: values_of(result, name) for name in slices}
        groups["answer length"] = (length(len(result.claims)),)
        key = answer_key(sample.response, [passage.text for passage in sample.passages])
        for claim, label, how in carry_over(
            result.claims, settled.claims.get(record.position, {}), key, sample.response
        ):
            verdict = claim.verdict
            claims.append(
                LabelledClaim(
                    record.position,
                    verdict.label,
                    label.label,
                    verdict.probabilities.supported if verdict.probabilities else None,
                    label.failure_mode,
                    verdict.failure_mode.value if verdict.failure_mode else None,
                    how,
                    label.chosen,
                    groups,
                )
            )
        if (answer := settled.answers.get(record.position)) is not None:
            worst = result.failing[0].verdict.label if result.failing else Label.SUPPORTED
            whole.append(
                LabelledClaim(record.position, worst, answer.label, None, None, None, "text", answer.chosen, groups)
            )
    return claims, whole


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
                    np.array([codes[one] for one in label], dtype=np.int8),
                    np.array(supported, dtype=np.float64),  # None becomes NaN
                )
            )
    if not parts:
        raise InputError(f"run {run} holds no claim of a scored answer: there is nothing to label")
    return Verdicts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _count(names: Iterator[str] | Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))
