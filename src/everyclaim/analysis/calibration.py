"""How far to trust a judge, from people's labels: its error against the target, and the rate corrected for it.

A positive is a claim that is supported. The true positive rate (TPR) is the share of truly supported claims that the
judge calls so, the true negative rate (TNR) the share of truly failing claims that it calls failing. Intervals take
answers as clusters. Labels chosen by the judge's verdict are weighted back to the run; labels chosen because the judge
was unsure say nothing of its usual error, and enter no rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.choosing import LABELS, Verdicts
from everyclaim.analysis.estimates import interval, percent
from everyclaim.analysis.labelling import Agreement, How
from everyclaim.analysis.reliability import Fitted, Reliability
from everyclaim.analysis.summary import Summary
from everyclaim.core.plaintext import counted, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.agreement import cohen_kappa, confusion
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_mean, clustered_ratio
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.prevalence import JudgeCounts, clustered_rogan_gladen, rogan_gladen
from everyclaim.stats.types import Inference, Interval

TARGET = 0.9
UNSURE = "uncertainty"
BY_VERDICT = ("stratified", "allocation")
CALIBRATION_SCHEMA = 1
FEW = 20  # labels of a kind in a group: fewer are marked

Standing = Literal["met", "missed", "not shown"]


class LabelledClaim(NamedTuple):
    """A claim of the run with what the judge and what people say of it."""

    position: int
    judged: Label
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


@dataclass(frozen=True, slots=True)
class Rates:
    """TPR and TNR over some labelled claims."""

    supported: int  # labels of truly supported claims
    failing: int
    tpr: Estimate
    tnr: Estimate


@dataclass(frozen=True, slots=True)
class Corrected:
    """The share of claims that are supported, corrected for the judge's error. None: it cannot be had, `why` says why.

    `shown` is the one to report: PPI++ where there is one, since it holds whatever the judge's errors are like.
    """

    raw: Estimate
    ppi: Inference | None
    rogan_gladen: Inference | None
    why: tuple[str, ...] = ()

    @property
    def shown(self) -> Inference | None:
        """The estimate to report."""
        return self.ppi or self.rogan_gladen


@dataclass(frozen=True, slots=True)
class Calibration:
    """What labels say of the judge of a run. Every number is of claims, unless it says answers."""

    run: str
    labelled: int  # claims of the run with a label
    used: int  # of these in the rates
    by_how: Mapping[str, int]  # labels by how they were carried over
    by_way: Mapping[str, int]  # labels by how their claims were chosen
    disputed: int
    annotators: tuple[str, ...]
    agreement: Agreement | None
    rates: Rates
    answers: Rates | None  # whole answers: all claims supported, or not
    confusion: tuple[tuple[int, ...], ...]  # a row per label of people, a column per label of the judge
    kappa: Inference | None  # judge and people, three labels
    groups: Mapping[str, Mapping[str, Rates]]
    modes: Mapping[str, Estimate]  # people's failure mode → share of its claims that the judge calls failing
    judged_modes: Mapping[str, Estimate]  # the judge's failure mode → share of its claims that people call failing
    reliability: Reliability | None
    fitted: Fitted | None
    corrected: Corrected
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    counts: Mapping[
        Label, JudgeCounts
    ]  # by label: how often the judge finds it; a label without both kinds is not there

    @property
    def standing(self) -> tuple[Standing, Standing]:
        """Whether TPR and TNR are shown to be at least 90 %: by the lower ends of their intervals."""
        return standing(self.rates.tpr), standing(self.rates.tnr)

    @property
    def sentence(self) -> str:
        """Say in a sentence how often judge and people agree; empty where labels are of one kind only."""
        rates = self.rates
        if rates.tpr.value is None or rates.tnr.value is None:
            return ""
        return (
            f"The judge agrees with people on {_agreeing(rates.tpr)} of supported and {_agreeing(rates.tnr)} of failing"
            f" claims, by {counted(rates.supported + rates.failing, 'label')} of run {self.run}."
        )

    def correct(self, summary: Summary) -> Corrected:
        """Correct the rate of another summary of the same judge, by Rogan and Gladen; PPI++ needs the verdicts."""
        raw = summary.overall.supported
        counts = self.counts.get(Label.SUPPORTED)
        if raw.value is None or counts is None:
            return Corrected(raw, None, None, ("there are no claims, or no labels to correct by",))
        n = max(1, min(raw.n, raw.clusters))  # claims of one answer are alike: answers are what counts at the least
        try:
            return Corrected(raw, None, rogan_gladen(raw.value * n, n, counts))
        except ValueError as error:
            return Corrected(raw, None, None, (str(error),))

    def __str__(self) -> str:
        """Tell in a few lines how good the judge is, and what the rate is without its error."""
        rows = [
            ("supported called so", self.rates.tpr, self.rates.supported),
            ("failing called so", self.rates.tnr, self.rates.failing),
        ]
        lines = [f"{name:22}{percent(one.value):>8}   95 % {interval(one)} ({n:,})" for name, one, n in rows]
        lines.append(f"{'claims supported, raw':22}{percent(self.corrected.raw.value):>8}   "
                     f"95 % {interval(self.corrected.raw)}")  # fmt: skip
        if best := self.corrected.shown:
            lines.append(f"{'corrected':22}{percent(best.value):>8}   95 % {ends(best)} ({method(best)})")
        head = f"run {self.run}: {counted(self.labelled, 'labelled claim')}"
        return "\n".join([head, *lines, *(wrapped(text) for text in (*self.notes, *self.advice))])

    def to_json(self) -> dict[str, object]:
        """Return it as plain JSON values; see the reference for the schema."""
        return calibration_to_json(self)


def _agreeing(rate: Estimate) -> str:
    assert rate.value is not None and rate.low is not None and rate.high is not None  # noqa: PT018 - it has a value
    return f"{100 * rate.value:.0f} % (95 % {100 * rate.low:.0f} to {100 * rate.high:.0f})"


def ends(one: Inference) -> str:
    """Write an interval in per cent."""
    return f"{100 * one.interval.low:.1f} – {100 * one.interval.high:.1f} %"


def method(one: Inference) -> str:
    """Name a method as people know it."""
    return {"ppi++": "PPI++", "labels": "labels alone", "weighted": "labels, weighted", "rogan_gladen": "Rogan–Gladen"}[
        one.method
    ]


def standing(rate: Estimate, target: float = TARGET) -> Standing:
    """Compare a rate with its target, by the ends of its interval alone."""
    if rate.low is None or rate.high is None:
        return "not shown"
    if rate.low >= target:
        return "met"
    return "missed" if rate.high < target else "not shown"


def measure(claims: Sequence[LabelledClaim], population: Verdicts) -> tuple[Rates, Corrected]:
    """Return the judge's rates and the corrected share, from the labels that may enter rates."""
    weights = weights_of(claims, population)
    return rates(claims, weights), _corrected(claims, weights, population)


def counts_by_label(claims: Sequence[LabelledClaim], population: Verdicts) -> dict[Label, JudgeCounts]:
    """Return how often the judge gives a label where it is right, and not where it is not, if both are labelled."""
    weights = weights_of(claims, population)
    known = {label: _counts(rates(claims, weights, label)) for label in Label}
    return {label: counts for label, counts in known.items() if counts is not None}


def rates(
    claims: Sequence[LabelledClaim], weights: NDArray[np.float64] | None = None, positive: Label = Label.SUPPORTED
) -> Rates:
    """Return TPR and TNR of this label; clusters are answers."""
    truth, called, places = columns(claims, positive)
    weight = np.ones(len(claims)) if weights is None else weights
    return Rates(
        int(truth.sum()),
        int((~truth).sum()),
        clustered_ratio(weight * (truth & called), weight * truth, places) if truth.any() else NOTHING,
        clustered_ratio(weight * (~truth & ~called), weight * ~truth, places) if (~truth).any() else NOTHING,
    )


def columns(
    claims: Sequence[LabelledClaim], positive: Label = Label.SUPPORTED
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """Return which have this label by people, which by the judge, and the answers they are in."""
    truth = np.array([one.people is positive for one in claims], dtype=bool)
    called = np.array([one.judged is positive for one in claims], dtype=bool)
    return truth, called, np.array([one.position for one in claims], dtype=np.int64)


def weights_of(claims: Sequence[LabelledClaim], population: Verdicts) -> NDArray[np.float64] | None:
    """Return what each label stands for, when claims were chosen by the judge's label; None: all stand for as much."""
    if not any(one.way in BY_VERDICT for one in claims):
        return None
    codes = _codes(claims)
    there = np.bincount(population.label, minlength=len(LABELS)).astype(float)
    taken = np.maximum(np.bincount(codes, minlength=len(LABELS)), 1)
    weights = np.asarray((there / taken)[codes], dtype=np.float64)
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def confusion_of(claims: Sequence[LabelledClaim]) -> tuple[tuple[tuple[int, ...], ...], Inference | None]:
    """Return the table of three labels, people by row and judge by column, and the kappa of the two."""
    people, judged = [one.people for one in claims], [one.judged for one in claims]
    if not claims:
        return tuple((0,) * len(LABELS) for _ in LABELS), None
    table = tuple(tuple(int(n) for n in row) for row in confusion(people, judged, LABELS))
    try:
        return table, cohen_kappa(people, judged, LABELS, clusters=[one.position for one in claims])
    except ValueError:
        return table, None  # one label only


def grouped(claims: Sequence[LabelledClaim]) -> dict[str, dict[str, Rates]]:
    """Return the rates by every group that claims are in."""
    parts: dict[str, dict[str, list[LabelledClaim]]] = {}
    for one in claims:
        for name, values in one.groups.items():
            for value in values:
                parts.setdefault(name, {}).setdefault(value, []).append(one)
    return {name: {value: rates(part) for value, part in sorted(found.items())} for name, found in parts.items()}


def share_by(
    claims: Iterable[LabelledClaim], key: Callable[[LabelledClaim], str | None], hit: Callable[[LabelledClaim], bool]
) -> dict[str, Estimate]:
    """Return the share of hits by key; claims without one take no part."""
    parts: dict[str, list[LabelledClaim]] = {}
    for one in claims:
        if (name := key(one)) is not None:
            parts.setdefault(name, []).append(one)
    return {
        name: clustered_mean([hit(one) for one in part], [one.position for one in part])
        for name, part in sorted(parts.items())
    }


def _corrected(claims: Sequence[LabelledClaim], weights: NDArray[np.float64] | None, population: Verdicts) -> Corrected:
    called = population.called
    raw = clustered_mean(called, population.position) if len(called) else NOTHING
    if len(claims) < 2:
        return Corrected(raw, None, None, ("fewer than two labels",))
    truth, judged, places = columns(claims)
    why: list[str] = []
    if weights is not None:
        found = clustered_ratio(weights * truth, weights, places)
        return Corrected(raw, _as_inference(found, "weighted"), None)
    # What is labelled and what is not: of every answer and label as many verdicts as there are labels are taken out.
    rest = ~_taken(claims, population)
    ppi: Inference | None = None
    if not rest.any():
        ppi = _as_inference(clustered_mean(truth, places), "labels")
    else:
        try:
            ppi = ppi_rate(
                Labelled(truth.astype(float), judged.astype(float), places),
                Unlabelled(called[rest].astype(float), population.position[rest]),
            )
        except ValueError as error:
            why.append(f"PPI++: {error}")
    try:
        adjusted = clustered_rogan_gladen(
            (called.astype(float), population.position), (truth.astype(float), judged.astype(float)), places
        )
    except ValueError as error:
        return Corrected(raw, ppi, None, (*why, f"Rogan–Gladen: {error}"))
    return Corrected(raw, ppi, adjusted, tuple(why))


def _taken(claims: Sequence[LabelledClaim], population: Verdicts) -> NDArray[np.bool_]:
    """Mark as many claims of the run as are labelled, by answer and label: which of equals makes no difference."""
    left: dict[tuple[int, int], int] = {}
    for one, code in zip(claims, _codes(claims), strict=True):
        left[one.position, int(code)] = left.get((one.position, int(code)), 0) + 1
    marked = np.zeros(len(population.position), dtype=bool)
    places = np.fromiter({place for place, _ in left}, dtype=np.int64)
    for row in np.flatnonzero(np.isin(population.position, places)):
        key = (int(population.position[row]), int(population.label[row]))
        if left.get(key, 0):
            left[key] -= 1
            marked[row] = True
    return marked


def _codes(claims: Sequence[LabelledClaim]) -> NDArray[np.int64]:
    return np.array([LABELS.index(one.judged) for one in claims], dtype=np.int64)


def _as_inference(one: Estimate, name: str) -> Inference | None:
    if one.value is None or one.low is None or one.high is None:
        return None
    error = (one.high - one.low) / (2 * 1.96)
    return Inference(one.value, Interval(one.low, one.high, 0.95), error, one.n, one.clusters, name)


def _counts(found: Rates) -> JudgeCounts | None:
    if found.tpr.value is None or found.tnr.value is None:
        return None
    sizes = (_effective(found.tpr, found.supported), _effective(found.tnr, found.failing))
    return JudgeCounts(found.tpr.value * sizes[0], sizes[0], found.tnr.value * sizes[1], sizes[1])


def _effective(rate: Estimate, labels: int) -> float:
    """Return how many independent labels an interval is worth: claims of one answer are alike."""
    if rate.value is None or rate.low is None or rate.high is None or not 0 < rate.value < 1 or rate.high <= rate.low:
        return float(labels)
    error = (rate.high - rate.low) / (2 * 1.96)
    return float(min(labels, max(1.0, rate.value * (1 - rate.value) / error**2)))


def calibration_to_json(found: Calibration) -> dict[str, Any]:
    """Write a calibration; what has no number is null."""
    names = [label.value.lower() for label in Label]
    return {
        "schema": CALIBRATION_SCHEMA,
        "run": found.run,
        "target": TARGET,
        "labels": {
            "claims": found.labelled,
            "used": found.used,
            "disputed": found.disputed,
            "carried_over": dict(found.by_how),
            "chosen": dict(found.by_way),
            "annotators": list(found.annotators),
            "agreement": asdict(found.agreement) if found.agreement else None,
        },
        **_rates(found.rates),
        "answers": _rates(found.answers) if found.answers else None,
        "confusion": {
            human: dict(zip(names, row, strict=True)) for human, row in zip(names, found.confusion, strict=True)
        },
        "kappa": _inference(found.kappa),
        "groups": {
            name: {value: _rates(part) for value, part in parts.items()} for name, parts in found.groups.items()
        },
        "failure_modes": {name: asdict(share) for name, share in found.modes.items()},
        "judged_failure_modes": {name: asdict(share) for name, share in found.judged_modes.items()},
        "reliability": asdict(found.reliability) if found.reliability else None,
        "fitted": asdict(found.fitted) if found.fitted else None,
        "supported": corrected_to_json(found.corrected),
        "notes": list(found.notes),
        "advice": list(found.advice),
    }


def corrected_to_json(found: Corrected) -> dict[str, Any]:
    """Write the raw and the corrected rate."""
    return {
        "raw": asdict(found.raw),
        "corrected": _inference(found.shown),
        "ppi": _inference(found.ppi),
        "rogan_gladen": _inference(found.rogan_gladen),
        "why_not": list(found.why),
    }


def _rates(found: Rates) -> dict[str, Any]:
    return {
        "tpr": asdict(found.tpr) | {"labels": found.supported, "target": standing(found.tpr)},
        "tnr": asdict(found.tnr) | {"labels": found.failing, "target": standing(found.tnr)},
    }


def _inference(found: Inference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "value": found.value,
        "low": found.interval.low,
        "high": found.interval.high,
        "n": found.n,
        "clusters": found.clusters,
        "method": found.method,
        "warnings": list(found.warnings),
    }
