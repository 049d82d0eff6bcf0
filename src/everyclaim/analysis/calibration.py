"""How far to trust a judge, by people's labels: its error against the target, and the rate corrected for it.

A positive is a claim that is supported. The true positive rate (TPR) is the share of truly supported claims that the
judge calls so, the true negative rate (TNR) the share of truly failing claims that it calls failing. Intervals take
answers as clusters. Labels chosen by the judge's verdict are weighted back to the run; labels chosen because the judge
was unsure say nothing of its usual error, and enter no rate. Another setting of the judge is recommended only where it
was tried on these labels and is shown to be better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from everyclaim.analysis import NO_NUMBER, interval, percent, plain, points, shown_rate, written
from everyclaim.analysis.deferral import RiskPromise
from everyclaim.analysis.labels import AnnotatorAgreement
from everyclaim.core.plaintext import counted, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.calibration import Bin
from everyclaim.stats.intervals import Estimate
from everyclaim.stats.prevalence import JudgeCounts
from everyclaim.stats.proportions import labels_for_half_width
from everyclaim.stats.types import Inference

TARGET = 0.9
AT_LEAST = percent(TARGET, 0)
CALIBRATION_SCHEMA = 1
BY_VERDICT = ("stratified", "allocation")  # ways to choose claims by the judge's verdicts
FEW = 20  # labels of a kind in a group: fewer are marked
_MARGIN, _WIDTH = 0.02, 0.05  # nearer to the target than the first, labels are to bring an interval of ± the second
_FEWEST_LABELS = 50  # of a kind, before a rate says much
_METHODS = {"ppi++": "PPI++", "labels": "labels alone", "weighted": "labels, weighted", "rogan_gladen": "Rogan–Gladen"}

Standing = Literal["met", "missed", "not shown"]


@dataclass(frozen=True, slots=True)
class JudgeRates:
    """TPR and TNR over some labelled claims."""

    supported: int  # labels of truly supported claims
    failing: int
    tpr: Estimate
    tnr: Estimate

    @property
    def named(self) -> tuple[tuple[str, str, Estimate, int], ...]:
        """Both rates: of which claims, its short name, the rate, and the number of labels behind it."""
        return ("supported", "TPR", self.tpr, self.supported), ("failing", "TNR", self.tnr, self.failing)

    def __str__(self) -> str:
        return ", ".join(f"{name} {percent(rate.value)}" for _, name, rate, _ in self.named)


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

    @property
    def warnings(self) -> list[str]:
        """What makes the estimates unreliable, each once, with the rows that it is about, or why there is none."""
        rows: dict[str, list[str]] = {}
        estimates = [one for one in (self.ppi, self.rogan_gladen) if one]
        for one in estimates:
            for text in one.warnings:
                rows.setdefault(text, []).append(_METHODS[one.method])
        better = f"; use the method {_METHODS[self.ppi.method]!r}" if self.ppi and not self.ppi.warnings else ""
        told = [text if len(names) == len(estimates) else f"{names[0]}: {text}{better}" for text, names in rows.items()]
        return told + [text if self.shown else f"corrected rate not computed: {text}" for text in self.why]


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far stated probabilities are from what is found: expected calibration error and Brier score, both best 0."""

    ece: float
    brier: float
    curve: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """Another setting of the judge on some labels: its rates, those of the judge as it is, and what is gained.

    `gain` is the difference of balanced accuracy, the mean of TPR and TNR.
    """

    setting: str
    labels: str  # which, in words
    before: JudgeRates
    after: JudgeRates
    gain: Inference
    threshold: float | None = None  # fitted to half of the answers and tried on the other half
    fitted_on: int = 0  # labels
    reported_on: int = 0

    @property
    def helps(self) -> bool:
        """Whether it is shown to be better."""
        return self.gain.interval.low > 0

    @property
    def sentence(self) -> str:
        """Say what it gains."""
        low, high = self.gain.interval.low, self.gain.interval.high
        return (
            f"{self.setting} raises balanced accuracy by {points(self.gain.value)} points (95 % "
            f"{points(low)} to {points(high)}) on {self.labels}: {self.before} becomes {self.after}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return a fitted threshold as plain JSON values."""
        rates = written(self.after, "tpr tnr") | written(self.before, "tpr_before=tpr tnr_before=tnr")
        return written(self, "threshold fitted_on reported_on") | rates | written(self, "gain helps")


@dataclass(frozen=True, slots=True)
class Calibration:
    """What labels say of the judge of a run. Every number is of claims, unless it says answers."""

    run: str
    labelled: int  # claims of the run with a label
    used: int  # of these in the rates
    unlabelled: int  # claims without one; like labelled ones, those of an answer that repeats count once
    by_how: Mapping[str, int]  # labels by how they were carried over
    by_way: Mapping[str, int]  # labels by how their claims were chosen
    disputed: int
    annotators: tuple[str, ...]
    agreement: AnnotatorAgreement | None
    rates: JudgeRates
    answers: JudgeRates | None  # whole answers: all claims supported, or not
    confusion: tuple[tuple[int, ...], ...]  # a row per label of people, a column per label of the judge
    kappa: Inference | None  # judge and people, three labels
    groups: Mapping[str, Mapping[str, JudgeRates]]
    modes: Mapping[str, Estimate]  # people's failure mode → share of its claims that the judge calls failing
    judged_modes: Mapping[str, Estimate]  # the judge's failure mode → share of its claims that people call failing
    reliability: Reliability | None
    corrected: Corrected
    notes: tuple[str, ...]
    trials: tuple[Trial, ...]
    counts: Mapping[Label, JudgeCounts]  # how often the judge finds each label; without labels of both kinds, none
    is_weighted: bool = False  # labels stand for unequal numbers of claims, and the rates weight them so
    promise: RiskPromise | None = None  # of a guard, where one was asked for

    @property
    def fitted(self) -> Trial | None:
        """The trial of a threshold fitted to the labels; None with too few of them."""
        return next((trial for trial in self.trials if trial.threshold is not None), None)

    @property
    def standing(self) -> tuple[Standing, Standing]:
        """Whether TPR and TNR are shown to be at least 90 %: by the lower ends of their intervals."""
        return compare_with_target(self.rates.tpr), compare_with_target(self.rates.tnr)

    @property
    def extent(self) -> str:
        """Say how many claims are labelled, and how many of these labels are of supported and of failing claims."""
        used = "" if self.used == self.labelled else f", {self.used:,} used in the rates"
        kinds = f"people call {self.rates.supported:,} supported and {self.rates.failing:,} failing"
        return f"{counted(self.labelled, 'labelled claim')}{used}: {kinds}"

    @property
    def recognised(self) -> list[tuple[str, Estimate, int]]:
        """The rates by name, with the number of labels behind each: of claims, and of whole answers where there are."""
        found = [(f"{kind} claims recognised ({name})", rate, labels) for kind, name, rate, labels in self.rates.named]
        if self.answers:
            for kind, (_, _, rate, labels) in zip(("faithful", "failing"), self.answers.named, strict=True):
                found.append((f"{kind} answers recognised", rate, labels))
        return found

    @property
    def advice(self) -> tuple[str, ...]:
        """What the rates are short of, what is shown to help on these labels, and how many more labels would tell."""
        told: list[str] = []
        named = self.rates.named
        missed = [(kind, rate) for kind, _, rate, _ in named if compare_with_target(rate) == "missed"]
        for kind, rate in missed:
            error = "misses too many failing" if kind == "failing" else "raises false alarms on too many supported"
            told.append(f"the judge {error} claims: it recognises {_rate(rate)}, below {AT_LEAST}.")
        told += [trial.sentence for trial in self.trials if trial.helps]
        if missed:
            if self.trials and not any(trial.helps for trial in self.trials):
                tried = " and ".join(trial.setting for trial in self.trials)
                told.append(f"tried on these labels without a significant gain: {tried}.")
            told.append(f"to try another judge on these labels: `everyclaim judge evaluate {self.run} --judge SPEC`.")
        if self.standing == ("met", "met"):
            told.append(f"both rates are significantly above {AT_LEAST}.")
        most = 0
        for kind, _, rate, labels in named:
            if compare_with_target(rate) == "not shown":
                way = "random" if kind == "supported" else "stratified"
                missing = _missing_labels(rate, labels)
                select = f" (`everyclaim label {self.run} --by {way}`)" if missing <= self.unlabelled else ""
                most = max(most, missing)
                aim = f"the judge recognises at least {AT_LEAST} of {kind} claims"
                fact = f"too few labels ({labels:,}) to show that {aim}"
                is_near = rate.value is not None and abs(rate.value - TARGET) < _MARGIN
                if rate.value is not None and (is_near or rate.value < TARGET):
                    known = f"the judge recognises {_rate(rate)} of {kind} claims"
                    fact = f"{known}, inconclusive with {counted(labels, 'label')}"
                more = f"about {counted(missing, 'more label')}"
                wanted = f"{more} would narrow the interval to ± 5 points" if is_near else f"{more} would settle it"
                told.append(
                    f"{fact}: {f'label at least {missing} more' if labels < _FEWEST_LABELS else wanted}{select}."
                )
        if most > self.unlabelled:
            left = f"only {counted(self.unlabelled, 'unlabelled claim')}" if self.unlabelled else "no unlabelled claim"
            told.append(f"this run has {left} left: score and label more answers.")
        return tuple(told)

    @property
    def sentence(self) -> str:
        """Say in a sentence how often judge and people agree; empty where labels are of one kind only."""
        known = all(rate.value is not None for _, _, rate, _ in self.rates.named)
        return f"By the labels of run {self.run}, the judge {self.accuracy}." if known else ""

    @property
    def accuracy(self) -> str:
        """Say the rates of claims with their labels, in one line."""
        known, few = [], []
        for kind, _, rate, labels in self.rates.named:
            value, between = shown_rate(rate, labels)
            if value == NO_NUMBER:
                few.append(f"too few labels of {kind} claims ({labels:,})")
            else:
                known.append(f"{value} of {kind} claims ({between}, {counted(labels, 'label')})")
        return "; ".join([*([f"recognises {' and '.join(known)}"] if known else []), *few])

    def __str__(self) -> str:
        rows = [(f"{kind} claims recognised", rate, f" ({labels:,})") for kind, _, rate, labels in self.rates.named]
        rows.append(("claims supported, raw", self.corrected.raw, ""))
        lines = [f"{name:22}{percent(rate.value):>8}   95 % {interval(rate)}{n}" for name, rate, n in rows]
        if best := self.corrected.shown:
            value, between, method = inference_cells(best)
            lines.append(f"{'corrected':22}{value:>8}   95 % {between} ({method})")
        head, told = f"run {self.run}: {self.extent}", (*self.corrected.warnings, *self.notes, *self.advice)
        return "\n".join([head, *lines, *map(wrapped, told)])

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, null for what has no number; see the reference for the schema."""
        names = [label.value.lower() for label in Label]
        table = {human: dict(zip(names, row, strict=True)) for human, row in zip(names, self.confusion, strict=True)}
        groups = {name: {value: _rates(part) for value, part in parts.items()} for name, parts in self.groups.items()}
        return {
            **({"promise": self.promise.to_json()} if self.promise else {}),
            "schema": CALIBRATION_SCHEMA,
            "run": self.run,
            "target": TARGET,
            "labels": {
                **written(self, "claims=labelled used disputed carried_over=by_how chosen=by_way annotators"),
                "agreement": self.agreement and asdict(self.agreement),
            },
            **_rates(self.rates),
            "answers": _rates(self.answers) if self.answers else None,
            "confusion": table,
            "kappa": plain(self.kappa),
            "groups": groups,
            **written(self, "failure_modes=modes judged_failure_modes=judged_modes reliability fitted"),
            "supported": written(self.corrected, "raw corrected=shown ppi rogan_gladen why_not=why"),
            **written(self, "notes advice"),
        }


def compare_with_target(rate: Estimate) -> Standing:
    """Compare a rate with the target, by the ends of its interval alone, as they are shown."""
    if rate.low is None or rate.high is None:
        return "not shown"
    if round(rate.low, 3) >= TARGET:
        return "met"
    return "missed" if round(rate.high, 3) < TARGET else "not shown"


def standing_text(rate: Estimate) -> str:
    """Say whether a rate meets the target."""
    found = compare_with_target(rate)
    return "inconclusive" if found == "not shown" else found


def inference_cells(rate: Inference) -> tuple[str, str, str]:
    """Return a corrected rate as it is shown: value, interval (marked where it is not to be trusted), method."""
    between = f"{100 * rate.interval.low:.1f} – {100 * rate.interval.high:.1f} %{' !' if rate.warnings else ''}"
    return percent(rate.value), between, _METHODS[rate.method]


def _rate(rate: Estimate) -> str:
    return f"{percent(rate.value)} (95 % CI {interval(rate)})"


def _missing_labels(rate: Estimate, labels: int) -> int:
    """Return how many more labels would tell a rate from its target, or narrow it to ± 5 points where it is close."""
    if rate.value is None or labels < _FEWEST_LABELS:
        return _FEWEST_LABELS - labels  # too few to estimate from
    distance = abs(rate.value - TARGET)
    wanted = labels_for_half_width(rate.value, distance if distance >= _MARGIN else _WIDTH)
    if rate.low is not None and rate.high is not None and labels:
        # Claims of one answer are alike: an interval that is wider than that of independent ones needs more.
        independent = labels_for_half_width(rate.value, min(0.49, max(1e-3, (rate.high - rate.low) / 2)))
        wanted = math.ceil(wanted * max(1.0, labels / max(1, independent)))
    return max(1, wanted - labels)


def _rates(found: JudgeRates) -> dict[str, Any]:
    return {
        name.lower(): plain(rate) | {"labels": labels, "target": compare_with_target(rate)}
        for _, name, rate, labels in found.named
    }
