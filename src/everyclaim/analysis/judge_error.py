"""A judge's error and the corrected rate, estimated from labelled claims; what other settings of it would change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.calibration import BY_VERDICT, Calibration, Corrected, JudgeRates, Reliability, Trial
from everyclaim.analysis.labels import LABELS, How, RunLabels, Verdicts
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label
from everyclaim.stats.agreement import cohen_kappa, confusion
from everyclaim.stats.calibration import brier_score, expected_calibration_error, reliability_curve
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_mean, clustered_ratio
from everyclaim.stats.paired import paired_difference
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.prevalence import JudgeCounts, clustered_rogan_gladen, judge_counts
from everyclaim.stats.types import Inference, Interval, few_of_a_kind

_UNSURE = "uncertainty"  # ways to choose claims for labelling
_BINS = 5
_FEWEST = 10  # labels of either kind in either half, to fit a threshold
_WIDTH = 2 * 1.96  # standard errors in the width of a 95 % interval

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class LabelledClaim(NamedTuple):
    """A claim of the run with what the judge and what people say of it."""

    position: int
    judged: Label
    strict: Label  # what the judge's verdict is under the strict policy
    people: Label
    supported: float | None  # the judge's probability
    mode: str | None  # people's reason why it fails
    judged_mode: str | None  # the judge's
    how: How  # the label was carried over
    chosen: str  # for labelling: a way, `:`, the run; empty when not known
    groups: Mapping[str, tuple[str, ...]]  # slices, and the length of the answer

    @property
    def way(self) -> str:
        """How it was chosen, without the run."""
        return self.chosen.partition(":")[0]


class LabelTable(NamedTuple):
    """Labelled claims in columns: whether people, and the judge, give a label; the answers; what each stands for."""

    truth: Bools
    called: Bools
    places: Places
    weights: Floats

    @classmethod
    def of(
        cls, claims: Sequence[LabelledClaim], weights: Floats | None = None, positive: Label = Label.SUPPORTED
    ) -> Self:
        """Return the columns of claims and of one label; without `weights` every claim stands for as much."""
        truth = np.array([claim.people is positive for claim in claims], dtype=bool)
        called = np.array([claim.judged is positive for claim in claims], dtype=bool)
        places = np.array([claim.position for claim in claims], dtype=np.int64)
        return cls(truth, called, places, np.ones(len(claims)) if weights is None else weights)

    @property
    def rates(self) -> JudgeRates:
        """TPR and TNR; clusters are answers."""
        weight, right = self.weights, self.truth == self.called
        tpr, tnr = (
            clustered_ratio(weight * (kind & right), weight * kind, self.places) for kind in (self.truth, ~self.truth)
        )
        return JudgeRates(int(self.truth.sum()), int((~self.truth).sum()), tpr, tnr)


def calibrate(
    run: str,
    claims: Sequence[LabelledClaim],
    answers: Sequence[LabelledClaim],
    population: Verdicts,
    settled: RunLabels,
    seed: int = 0,
    *,
    shared: frozenset[int] | None = None,
) -> Calibration:
    """Compare labels with the judge: of claims, and of whole answers as if each was one claim.

    `shared` are the places of answers that other runs have, too, from which some labels were chosen; None: all labels
    were chosen from this run.
    """
    sure = [claim for claim in claims if claim.way != _UNSURE]
    used = sure or claims
    is_shared = (
        np.isin(population.position, list(shared)) if shared is not None else np.ones(len(population.position), bool)
    )
    weights = _weights(used, population, is_shared)
    corrected = _corrected(used, weights, population, is_shared)
    if not sure:
        corrected = replace(corrected, ppi=None, rogan_gladen=None, why=("no label of comparable claims",))
    table, kappa = _confusion(used)
    stated = [claim for claim in used if claim.supported is not None]
    reliable, fitted = _probabilities(stated, seed) if stated else (None, None)
    strict = [claim._replace(judged=claim.strict) for claim in used]
    trials = [fitted] if fitted else []
    if strict != used and {True, False} == {claim.people is Label.SUPPORTED for claim in used}:
        trials.append(_trial("--strict", counted(len(used), "label"), used, strict, weights))
    counts: dict[Label, JudgeCounts] = {}
    for label in Label if sure else ():
        with suppress(ValueError):  # there are not some of it and some others
            kinds = (label.value.lower(), "other")
            counts[label] = replace(judge_counts(*LabelTable.of(used, weights, label)), kinds=kinds)
    groups = {
        name: {value: LabelTable.of(part).rates for value, part in parts.items()}
        for name in (used[0].groups if used else ())
        for parts in [_parts((value, claim) for claim in used for value in claim.groups[name])]
    }
    by_mode = _parts((claim.mode or "not stated", claim) for claim in used if claim.people is not Label.SUPPORTED)
    by_judged_mode = _parts((claim.judged_mode, claim) for claim in used if claim.judged_mode)
    return Calibration(
        run=run,
        labelled=len(claims),
        used=len(used),
        unlabelled=max(0, population.texts - len(claims)),
        by_how=dict(sorted(Counter[str](claim.how for claim in claims).items())),
        by_way=dict(sorted(Counter(claim.way or "not stated" for claim in claims).items())),
        disputed=settled.disputed,
        annotators=settled.annotators,
        agreement=settled.agreement,
        rates=LabelTable.of(used, weights).rates,
        answers=LabelTable.of(answers).rates if answers else None,
        confusion=table,
        kappa=kappa,
        groups=groups,
        modes=_shares(by_mode, lambda claim: claim.judged is not Label.SUPPORTED),
        judged_modes=_shares(by_judged_mode, lambda claim: claim.people is not Label.SUPPORTED),
        reliability=reliable,
        corrected=corrected,
        notes=tuple(_notes(run, claims, settled, is_elsewhere=shared is not None)),
        trials=tuple(trials),
        is_weighted=not np.array_equal(weights, np.ones(len(used))),
        counts=counts,
    )


def _weights(claims: Sequence[LabelledClaim], population: Verdicts, is_shared: Bools) -> Floats:
    """Return what each label stands for, on average 1.

    A label stands for every occurrence of its answer, and those of a stratum together for all claims of it: of answers
    that other runs have or not, and of one label of the judge where claims were chosen by that.
    """
    if not claims:
        return np.ones(0)
    first = population.first_places
    times = Counter(first.values())
    places = [claim.position for claim in claims]
    weights = np.array([times[first.get(place, place)] for place in places], dtype=np.float64)
    strata = (~np.isin(places, population.position[~is_shared])).astype(int)
    there = is_shared.astype(int)
    if any(claim.way in BY_VERDICT for claim in claims):
        strata, there = strata + 2 * _codes(claims), there + 2 * population.label
    for stratum in np.unique(strata):
        weights[strata == stratum] *= np.count_nonzero(there == stratum) / weights[strata == stratum].sum()
    weights /= weights.mean()
    return np.ones(len(weights)) if np.allclose(weights, 1.0) else weights


def _codes(claims: Sequence[LabelledClaim]) -> NDArray[np.int64]:
    return np.array([LABELS.index(claim.judged) for claim in claims], dtype=np.int64)


def _confusion(claims: Sequence[LabelledClaim]) -> tuple[tuple[tuple[int, ...], ...], Inference | None]:
    """Return the table of three labels, people by row and judge by column, and the kappa of the two."""
    if not claims:
        return tuple((0,) * len(LABELS) for _ in LABELS), None
    people, judged = [claim.people for claim in claims], [claim.judged for claim in claims]
    table = tuple(tuple(int(n) for n in row) for row in confusion(people, judged, LABELS))
    try:
        return table, cohen_kappa(people, judged, LABELS, clusters=[claim.position for claim in claims])
    except ValueError:
        return table, None  # one label only


def _parts(claims: Iterable[tuple[str, LabelledClaim]]) -> dict[str, list[LabelledClaim]]:
    """Return claims by the values that they come with, sorted."""
    parts: dict[str, list[LabelledClaim]] = {}
    for value, claim in claims:
        parts.setdefault(value, []).append(claim)
    return dict(sorted(parts.items()))


def _shares(parts: Mapping[str, Sequence[LabelledClaim]], hit: Callable[[LabelledClaim], bool]) -> dict[str, Estimate]:
    return {
        name: clustered_mean([hit(claim) for claim in part], [claim.position for claim in part])
        for name, part in parts.items()
    }


# ---- the corrected rate


def _corrected(claims: Sequence[LabelledClaim], weights: Floats, population: Verdicts, is_shared: Bools) -> Corrected:
    """Correct the rate; answers that only this run has and that have no label stay as they are judged."""
    raw = clustered_mean(population.called, population.position) if len(population.called) else NOTHING
    if len(claims) < 2:
        return Corrected(raw, None, None, ("fewer than two labels",))
    labelled = np.isin(population.position, [claim.position for claim in claims])
    if is_shared.all() or (labelled & ~is_shared).any():
        return replace(_corrected_whole(claims, weights, population), raw=raw)
    found = _corrected_whole(claims, weights, population.where(is_shared))
    rest = ~is_shared
    judged = clustered_mean(population.called[rest], population.first[rest])
    left, of = (len(np.unique(population.position[rows])) for rows in (rest, rest | is_shared))
    told = (
        f"{left:,} of these {counted(of, 'answer')} ({np.count_nonzero(rest):,} of {counted(len(rest), 'claim')}) were "
        "not in the run whose claims were labelled; they keep the judge's verdicts: label claims of this run"
    )
    share = float(is_shared.mean())
    ppi, rogan_gladen = (one and _mixed(one, share, judged, told) for one in (found.ppi, found.rogan_gladen))
    return Corrected(raw, ppi, rogan_gladen, found.why)


def _mixed(one: Inference, share: float, judged: Estimate, told: str) -> Inference:
    """Add to a rate of a share of the claims that of the others, as they are judged."""
    value, low, high = judged.value or 0.0, judged.low or 0.0, judged.high or 0.0
    whole = share * one.value + (1 - share) * value
    below = math.hypot(share * (one.value - one.interval.low), (1 - share) * (value - low))
    above = math.hypot(share * (one.interval.high - one.value), (1 - share) * (high - value))
    bounds = Interval(max(0.0, whole - below), min(1.0, whole + above), one.interval.level)
    return replace(one, value=whole, interval=bounds, error=(below + above) / _WIDTH, warnings=(told, *one.warnings))


def _corrected_whole(claims: Sequence[LabelledClaim], weights: Floats, population: Verdicts) -> Corrected:
    table = LabelTable.of(claims, weights)
    # What is labelled and what is not: of every answer and label as many verdicts as there are labels are taken out.
    rest = ~_labelled(claims, population)
    supported = int(np.count_nonzero(table.truth))
    if rest.any() and (few := few_of_a_kind(supported, len(claims) - supported)):
        return Corrected(NOTHING, None, None, few)
    if any(claim.way in BY_VERDICT for claim in claims):
        whole = clustered_ratio(weights * table.truth, weights, table.places)
        return Corrected(NOTHING, _as_inference(whole, "weighted"), None)
    if not rest.any():
        ppi = _as_inference(clustered_mean(table.truth, table.places), "labels")
    else:
        ppi = ppi_rate(Labelled(*table), Unlabelled(population.called[rest], population.first[rest]))
    try:
        said, labelled = (population.called, population.first), (table.truth, table.called)
        adjusted = clustered_rogan_gladen(said, labelled, table.places, weights=weights)
    except ValueError as error:
        return Corrected(NOTHING, ppi, None, (f"Rogan–Gladen: {error}",))
    return Corrected(NOTHING, ppi, adjusted)


def _labelled(claims: Sequence[LabelledClaim], population: Verdicts) -> Bools:
    """Mark as many claims of the run as are labelled, by answer and label: which of equals makes no difference."""
    left = Counter((claim.position, int(code)) for claim, code in zip(claims, _codes(claims), strict=True))
    marked = np.zeros(len(population.position), dtype=bool)
    places = np.fromiter({place for place, _ in left}, dtype=np.int64)
    for row in np.flatnonzero(np.isin(population.position, places)):
        key = (int(population.position[row]), int(population.label[row]))
        if left[key]:
            left[key] -= 1
            marked[row] = True
    return marked


def _as_inference(estimate: Estimate, name: str) -> Inference | None:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    error = (estimate.high - estimate.low) / _WIDTH
    bounds = Interval(estimate.low, estimate.high, 0.95)
    return Inference(estimate.value, bounds, error, estimate.n, estimate.clusters, name)


# ---- probabilities, and other settings


def _probabilities(claims: Sequence[LabelledClaim], seed: int) -> tuple[Reliability | None, Trial | None]:
    """Compare probabilities with what people say; fit a threshold where there are labels enough of both kinds."""
    table = LabelTable.of(claims)
    if table.truth.all() or not table.truth.any():
        return None, None
    chances = np.array([claim.supported for claim in claims], dtype=np.float64)
    y = table.truth.astype(float)
    curve = tuple(reliability_curve(y, chances, _BINS, table.places))
    found = Reliability(expected_calibration_error(y, chances, _BINS), brier_score(y, chances), curve)
    return found, _fit_on_half(claims, table, chances, seed)


def _fit_on_half(claims: Sequence[LabelledClaim], table: LabelTable, chances: Floats, seed: int) -> Trial | None:
    """Fit on half of the answers and try on the other; None with too few labels of a kind in a half."""
    truth, places = table.truth, table.places
    names = np.random.default_rng(seed).permutation(np.unique(places))
    first = np.isin(places, names[: len(names) // 2])
    if any(min(int(truth[half].sum()), int((~truth[half]).sum())) < _FEWEST for half in (first, ~first)):
        return None
    y, p = truth[first], chances[first]
    cuts = np.unique(p)
    hits = 1 - np.searchsorted(np.sort(p[y]), cuts) / y.sum()
    passes = np.searchsorted(np.sort(p[~y]), cuts) / (~y).sum()
    threshold = float(cuts[int(np.argmax(np.minimum(hits, passes)))])
    before = [claim for claim, is_fitted in zip(claims, first, strict=True) if not is_fitted]
    after = [
        claim._replace(judged=Label.SUPPORTED if (claim.supported or 0.0) >= threshold else Label.UNSUPPORTED)
        for claim in before
    ]
    labels = f"{counted(len(before), 'label')} not used in the fit"
    trial = _trial(f"a threshold of {threshold:.2f}", labels, before, after)
    return replace(trial, threshold=threshold, fitted_on=int(first.sum()), reported_on=len(before))


def _trial(
    setting: str,
    labels: str,
    before: Sequence[LabelledClaim],
    after: Sequence[LabelledClaim],
    weights: Floats | None = None,
) -> Trial:
    """Compare two ways of judging the same labelled claims, some of which are supported and some not."""
    first, second = LabelTable.of(before, weights), LabelTable.of(after, weights)
    truth, weight = first.truth, first.weights
    weight = weight / np.where(truth, weight[truth].sum(), weight[~truth].sum())
    weight = weight / weight.sum()
    old, new = (((truth == table.called).astype(float) * weight, weight) for table in (first, second))
    return Trial(setting, labels, first.rates, second.rates, paired_difference(old, new, first.places))


def _notes(run: str, claims: Sequence[LabelledClaim], settled: RunLabels, *, is_elsewhere: bool) -> Iterator[str]:
    if settled.disputed:
        yield (
            f"{counted(settled.disputed, 'label')} disputed (annotators tie): not counted until an annotator named "
            "'adjudicated' decides"
        )
    if cut := sum(claim.how == "parts" for claim in claims):
        yield f"{cut:,} of {counted(len(claims), 'claim')} are split differently: the worst label inside counts"
    if unsure := sum(claim.way == _UNSURE for claim in claims):
        others = any(claim.way != _UNSURE for claim in claims)
        alone = (
            "they are excluded from the rates"
            if others
            else "there are no others, so the rates describe only such claims"
        )
        yield f"{counted(unsure, 'claim')} selected because the judge was unsure: {alone}"
    if any(claim.way in BY_VERDICT and claim.chosen.partition(":")[2] != run for claim in claims):
        yield "some claims were selected by the verdicts of another run, so their weights are approximate"
    if not is_elsewhere and any(claim.chosen.partition(":")[2] not in ("", run) for claim in claims):
        yield "labels were chosen from a run that is not stored: the rates are valid only if it had the same answers"
    if claims and not any(claim.way for claim in claims):
        yield "unknown how the labelled claims were selected: the rates are valid only for a random sample"
    if not claims:
        yield "no claim of this run has a label: the labels are for other texts, or for whole answers"
