"""A judge's health on labelled claims that stay the same: does it repeat itself, drift, or mind order and length?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.calibration import TARGET, compare_with_target
from everyclaim.analysis.estimates import interval, percent
from everyclaim.core.plaintext import counted, one_line, wrapped
from everyclaim.core.types import Label, Usage
from everyclaim.stats.agreement import cohen_kappa
from everyclaim.stats.intervals import NOTHING, Estimate, clustered_mean
from everyclaim.stats.paired import independent_difference, paired_mean_difference, sign_flip_test
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.stats.types import Inference

JUDGE_CHECK_SCHEMA = 1
ALPHA = 0.05
MAX_FLIPS = 0.1
MAX_UNJUDGED = 0.05
FEWEST = 20  # claims that two checks, or two judges, must share; claims of a kind on either side of a length
_LABELS = tuple(Label)


class Asked(NamedTuple):
    """A labelled claim with what the judge said of it, each time it was asked; None: no verdict."""

    key: str
    group: str  # the answer, or set of passages: claims of one are alike
    people: Label
    words: int  # of the claim
    answer_words: int | None
    passes: tuple[Label | None, ...]
    turned: Label | None  # with the passages in the opposite order; None also where there is one passage
    other: Label | None = None  # by the other judge

    @property
    def said(self) -> Label | None:
        """What it said the first time."""
        return self.passes[0]


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How a rate differs between longer and shorter texts, split at the median: longer − shorter."""

    of: str  # claim, answer
    rate: str  # supported_called_so, failing_called_so
    median: float  # words
    shorter: Estimate
    longer: Estimate
    difference: Inference

    @property
    def is_shown(self) -> bool:
        """Whether there is a difference, corrected for as many looks as there are."""
        return not self.difference.interval.low <= 0 <= self.difference.interval.high


@dataclass(frozen=True, slots=True)
class Drift:
    """Against the first check of this judge on these claims: the change of the share judged as people do.

    `alpha` is what this check may spend of 5 %: all checks ever made together raise a false alarm at most that often.
    """

    since: str  # when that was
    checks: int  # made since, this one among them
    claims: int  # in both
    changed: int  # labels
    changed_last: int | None  # since the check before this one
    difference: Inference
    p_value: float
    alpha: float
    differs: tuple[str, ...]  # what of the judge is known to be other than then

    @property
    def is_shown(self) -> bool:
        """Whether the judge is shown to judge otherwise than at the first check."""
        return self.p_value <= self.alpha


@dataclass(frozen=True, slots=True)
class Against:
    """Another judge on the same claims: how often both say the same, and which is right more often."""

    judge: str
    claims: int
    agreeing: Estimate
    kappa: float | None
    difference: Inference  # other − this: share judged as people do


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """What a check of a judge found. Shares are of claims; intervals take answers as clusters."""

    judge: str
    asked: tuple[Asked, ...]
    unjudged: float  # share of verdicts asked for that did not come
    supported_called_so: Estimate
    failing_called_so: Estimate
    flips: Estimate  # share of claims not labelled alike each time
    turned: Estimate  # share labelled otherwise with the passages in the opposite order
    turned_beyond: Inference | None  # that, beyond what repeating alone flips
    lengths: tuple[LengthBias, ...]
    drift: Drift | None
    against: Against | None
    usage: Usage
    max_flips: float = MAX_FLIPS

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Which rates are shown to be below the target of 90 %, in words."""
        rates = (("supported", self.supported_called_so), ("failing", self.failing_called_so))
        return tuple(
            f"it misses {kind} claims: it calls {percent(rate.value)} of them so (95 % {interval(rate)}), below"
            f" {TARGET:.0%}"
            for kind, rate in rates
            if compare_with_target(rate) == "missed"
        )

    @property
    def verdict(self) -> str:
        """Where it is stable: that it is, and whether its rates are shown to reach the target; else empty."""
        if self.findings:
            return ""
        rates = {compare_with_target(rate) for rate in (self.supported_called_so, self.failing_called_so)}
        met = "both rates are shown to be" if rates == {"met"} else "these labels do not show whether both rates are"
        told = "" if self.shortfalls else f"; {met} at least {TARGET:.0%}"
        return f"no instability, bias or drift is shown{told}"

    @property
    def findings(self) -> tuple[str, ...]:
        """What of instability, bias and drift is shown beyond chance, in words; empty where nothing is."""
        found: list[str] = []
        if self.unjudged > MAX_UNJUDGED:
            found.append(f"no verdict came for {100 * self.unjudged:.0f} % of what was asked")
        if self.flips.low is not None and self.flips.low > self.max_flips:
            found.append(f"it does not repeat itself: {percent(self.flips.value)} of claims change their label")
        if self.turned_beyond is not None and self.turned_beyond.interval.low > 0:
            moved = percent(self.turned.value)
            found.append(f"it minds the order of passages: turned round, {moved} of claims change their label")
        found += [
            f"it minds length: of {'supported' if one.rate.startswith('supported') else 'failing'} claims "
            f"{percent(one.longer.value)} are called so where the {one.of} has more than {one.median:g} words, and "
            f"{percent(one.shorter.value)} where it has not"
            for one in self.lengths
            if one.is_shown
        ]
        if self.drift is not None and self.drift.is_shown:
            better = "better" if self.drift.difference.value > 0 else "worse"
            found.append(
                f"it drifted since {self.drift.since[:10]}: it judges {better} by "
                f"{100 * abs(self.drift.difference.value):.1f} points, {self.drift.changed:,} of "
                f"{self.drift.claims:,} labels changed"
            )
        return tuple(found)

    def __str__(self) -> str:
        """Tell in a few lines how the judge is."""
        rows = [
            ("supported called so", self.supported_called_so),
            ("failing called so", self.failing_called_so),
            ("change on repeating", self.flips),
            ("change on turning", self.turned),
        ]
        lines = [f"{name:22}{percent(one.value):>8}   95 % {interval(one)}" for name, one in rows if one.n]
        head = f"{one_line(self.judge, 60)}: {counted(len(self.asked), 'labelled claim')}"
        return "\n".join(
            [head, *lines, *(wrapped(text) for text in (*self.findings, *self.shortfalls, self.verdict) if text)]
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {
            "schema": JUDGE_CHECK_SCHEMA,
            "judge": self.judge,
            "claims": len(self.asked),
            "times": len(self.asked[0].passes) if self.asked else 0,
            "unjudged": self.unjudged,
            "supported_called_so": asdict(self.supported_called_so),
            "failing_called_so": asdict(self.failing_called_so),
            "flips": asdict(self.flips),
            "turned": asdict(self.turned),
            "turned_beyond": _inference(self.turned_beyond),
            "lengths": [
                {
                    "of": one.of,
                    "rate": one.rate,
                    "median_words": one.median,
                    "shorter": asdict(one.shorter),
                    "longer": asdict(one.longer),
                    "difference": _inference(one.difference),
                    "is_shown": one.is_shown,
                }
                for one in self.lengths
            ],
            "drift": self.drift
            and {
                **{
                    name: getattr(self.drift, name) for name in ("since", "checks", "claims", "changed", "changed_last")
                },
                "difference": _inference(self.drift.difference),
                "p_value": self.drift.p_value,
                "alpha": self.drift.alpha,
                "is_shown": self.drift.is_shown,
                "differs": list(self.drift.differs),
            },
            "against": self.against
            and {
                "judge": self.against.judge,
                "claims": self.against.claims,
                "agreeing": asdict(self.against.agreeing),
                "kappa": self.against.kappa,
                "difference": _inference(self.against.difference),
            },
            "findings": list(self.findings),
            "shortfalls": list(self.shortfalls),
            "usage": asdict(self.usage),
        }


class Earlier(NamedTuple):
    """An earlier check of this judge, as it is kept: labels by key, the oldest first."""

    created: str
    labels: Mapping[str, str]
    parameters: Mapping[str, str]


def judge_check(
    judge: str,
    asked: Sequence[Asked],
    usage: Usage,
    *,
    earlier: Sequence[Earlier] = (),
    parameters: Mapping[str, str] | None = None,
    other: str = "",
) -> JudgeCheck:
    """Add a check up. `earlier` are those of the same judge, and `parameters` what it is made of now."""
    judged = [one for one in asked if one.said is not None]
    places = _groups(judged)
    called = np.array([one.said is Label.SUPPORTED for one in judged], dtype=bool)
    truth = np.array([one.people is Label.SUPPORTED for one in judged], dtype=bool)
    wanted = [one for each in asked for one in each.passes]
    turned, beyond = _turned(asked)
    return JudgeCheck(
        judge=judge,
        asked=tuple(asked),
        unjudged=sum(one is None for one in wanted) / len(wanted) if wanted else 0.0,
        supported_called_so=_mean(called[truth], places[truth]),
        failing_called_so=_mean(~called[~truth], places[~truth]),
        flips=_flips(asked),
        turned=turned,
        turned_beyond=beyond,
        lengths=tuple(_lengths(judged, called, truth, places)),
        drift=_drift(asked, earlier, parameters or {}),
        against=_against(judged, other) if other else None,
        usage=usage,
    )


def with_limit(found: JudgeCheck, max_flips: float) -> JudgeCheck:
    """Return the check with another share of claims that may change their label."""
    return replace(found, max_flips=max_flips)


def _flips(asked: Sequence[Asked]) -> Estimate:
    whole = [one for one in asked if len(one.passes) > 1 and None not in one.passes]
    return _mean(np.array([len(set(one.passes)) > 1 for one in whole], dtype=bool), _groups(whole))


def _turned(asked: Sequence[Asked]) -> tuple[Estimate, Inference | None]:
    both = [one for one in asked if one.turned is not None and one.said is not None]
    moved = np.array([one.turned is not one.said for one in both], dtype=bool)
    share = _mean(moved, _groups(both))
    if not both:
        return share, None
    # What changes anyway when the judge is asked again; one that was asked once is taken to repeat itself.
    again = np.array([len(one.passes) > 1 and one.passes[1] is not one.said for one in both], dtype=float)
    return share, paired_mean_difference(again, moved.astype(float), _groups(both))


def _lengths(
    judged: Sequence[Asked], called: NDArray[np.bool_], truth: NDArray[np.bool_], places: NDArray[np.int64]
) -> list[LengthBias]:
    texts: dict[str, Sequence[int | None]] = {
        "claim": [one.words for one in judged],
        "answer": [one.answer_words for one in judged],
    }
    looks = []
    for of, found in texts.items():
        if not found or None in found:
            continue
        words = np.array(found, dtype=np.float64)
        middle = float(np.median(words))
        for rate, right, kind in (("supported_called_so", called, truth), ("failing_called_so", ~called, ~truth)):
            sides = [kind & (words <= middle), kind & (words > middle)]
            if min(int(side.sum()) for side in sides) >= FEWEST:
                looks.append((of, rate, middle, [(right[side], places[side]) for side in sides]))
    level = 1 - ALPHA / max(1, len(looks))
    biases = []
    for of, rate, middle, (short, long) in looks:
        shorter, longer = _mean(*short), _mean(*long)
        biases.append(LengthBias(of, rate, middle, shorter, longer, _widened(shorter, longer, level)))
    return biases


def _widened(shorter: Estimate, longer: Estimate, level: float) -> Inference:
    """Return longer − shorter with an interval at a level above 95 %, by stretching that at 95 %."""
    found = independent_difference(shorter, longer)
    factor = normal_quantile(level) / normal_quantile(0.95)
    low = found.value - (found.value - found.interval.low) * factor
    high = found.value + (found.interval.high - found.value) * factor
    return replace(found, interval=replace(found.interval, low=max(-1.0, low), high=min(1.0, high), level=level))


def _drift(asked: Sequence[Asked], earlier: Sequence[Earlier], parameters: Mapping[str, str]) -> Drift | None:
    """Compare with the first check on claims that both hold; each further check spends less: 6·α/(π²·k²) in all α."""
    said = {one.key: one for one in asked if one.said is not None}
    known = [one for one in earlier if len(one.labels.keys() & said.keys()) >= FEWEST]
    if not known:
        return None
    first = known[0]
    both = [one for key, one in said.items() if key in first.labels]
    before = [first.labels[one.key] for one in both]
    right = np.array([one.said is one.people for one in both], dtype=float)
    was_right = np.array([label == one.people.value for label, one in zip(before, both, strict=True)], dtype=float)
    groups = _groups(both)
    last = known[-1].labels
    names = sorted({*first.parameters, *parameters})
    return Drift(
        since=first.created,
        checks=len(known),
        claims=len(both),
        changed=sum(label != one.said for label, one in zip(before, both, strict=True)),
        changed_last=sum(last[key] != one.said for key, one in said.items() if key in last) if len(known) > 1 else None,
        difference=paired_mean_difference(was_right, right, groups),
        p_value=sign_flip_test(right - was_right, groups).p_value,
        alpha=6 * ALPHA / (math.pi * len(known)) ** 2,
        differs=tuple(
            f"{name} {first.parameters.get(name, 'none')} → {parameters.get(name, 'none')}"
            for name in names
            if first.parameters.get(name) != parameters.get(name)
        ),
    )


def _against(judged: Sequence[Asked], other: str) -> Against | None:
    both = [one for one in judged if one.other is not None]
    if len(both) < FEWEST:
        return None
    groups = _groups(both)
    try:
        kappa = cohen_kappa([one.said for one in both], [one.other for one in both], _LABELS, clusters=groups).value
    except ValueError:
        kappa = None  # one label only
    return Against(
        other,
        len(both),
        _mean(np.array([one.said is one.other for one in both], dtype=bool), groups),
        kappa,
        paired_mean_difference(
            [float(one.said is one.people) for one in both], [float(one.other is one.people) for one in both], groups
        ),
    )


def _mean(hits: NDArray[np.bool_], places: NDArray[np.int64]) -> Estimate:
    return clustered_mean(hits, places) if len(hits) else NOTHING


def _groups(asked: Sequence[Asked]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(one.group, len(numbers)) for one in asked], dtype=np.int64)


def _inference(one: Inference | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"value": one.value, "low": one.interval.low, "high": one.interval.high, "level": one.interval.level}
