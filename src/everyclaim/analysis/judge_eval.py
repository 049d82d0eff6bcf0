"""A judge on labelled claims: does it repeat itself, drift, or depend on order and length; and is it fit to judge?

Fit to judge is who meets all of `RULE`; `why_not` names what is missed. Right means: supported claims called
supported, all others not. Whether unsupported and contradicted are told apart is said beside it and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis import differences, interval, percent, written
from everyclaim.analysis.calibration import AT_LEAST, compare_with_target
from everyclaim.core.plaintext import counted, one_line, wrapped
from everyclaim.core.types import Label, Provenance, Usage
from everyclaim.core.wire import to_json
from everyclaim.stats.agreement import cohen_kappa
from everyclaim.stats.intervals import Estimate, clustered_mean
from everyclaim.stats.paired import at_level, independent_difference, paired_mean_difference, sign_flip_test
from everyclaim.stats.types import Inference, numbered

JUDGE_CHECK_SCHEMA = 1
ALPHA = 0.05
MAX_FLIPS = 0.1
MAX_UNJUDGED = 0.05
FEWEST = 20  # claims that two checks, or two judges, must share; claims of a kind on either side of a length
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]


class CheckedClaim(NamedTuple):
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
    def first(self) -> Label | None:
        """What the judge said the first time."""
        return self.passes[0]


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How a rate differs between longer and shorter texts, split at the median: longer − shorter."""

    of: str  # claim, answer
    rate: str  # supported_called_so, failing_called_so
    median_words: float
    shorter: Estimate
    longer: Estimate
    difference: Inference

    @property
    def is_shown(self) -> bool:
        """Whether there is a difference, corrected for as many tests as there are."""
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
class OtherJudge:
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
    asked: tuple[CheckedClaim, ...]
    unjudged: float  # share of verdicts asked for that did not come
    supported_called_so: Estimate
    failing_called_so: Estimate
    flips: Estimate  # share of claims not labelled alike each time
    turned: Estimate  # share labelled otherwise with the passages in the opposite order
    turned_beyond: Inference | None  # that, beyond what repeating alone flips
    lengths: tuple[LengthBias, ...]
    drift: Drift | None
    against: OtherJudge | None
    usage: Usage
    max_flips: float = MAX_FLIPS

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Which rates are shown to be below the target of 90 %, in words."""
        rates = (("supported", self.supported_called_so), ("failing", self.failing_called_so))
        return tuple(
            f"it misses {kind} claims: it recognises {percent(rate.value)} of them (95 % {interval(rate)}), "
            f"below {AT_LEAST}"
            for kind, rate in rates
            if compare_with_target(rate) == "missed"
        )

    @property
    def verdict(self) -> str:
        """Where it is stable: that it is, and whether its rates are shown to reach the target; else empty."""
        if self.findings:
            return ""
        if self.shortfalls:
            return "its accuracy is too low; no instability, bias or drift found"
        rates = {compare_with_target(rate) for rate in (self.supported_called_so, self.failing_called_so)}
        met = "both rates are significantly" if rates == {"met"} else "too few labels to show that both rates are"
        return f"no instability, bias or drift found; {met} at least {AT_LEAST}"

    @property
    def findings(self) -> tuple[str, ...]:
        """What of instability, bias and drift is shown beyond chance, in words; empty where nothing is."""
        found: list[str] = []
        if self.unjudged > MAX_UNJUDGED:
            found.append(f"no verdict for {percent(self.unjudged, 0)} of the requests")
        if self.flips.low is not None and self.flips.low > self.max_flips:
            found.append(f"not repeatable: {percent(self.flips.value)} of claims change their label")
        if self.turned_beyond is not None and self.turned_beyond.interval.low > 0:
            moved = percent(self.turned.value)
            found.append(f"order bias: with the passages reversed, {moved} of claims change their label")
        found += [
            f"length bias: it recognises {percent(bias.longer.value)} of "
            f"{'supported' if bias.rate.startswith('supported') else 'failing'} claims if the {bias.of} "
            f"has more than {bias.median_words:g} words, {percent(bias.shorter.value)} otherwise"
            for bias in self.lengths
            if bias.is_shown
        ]
        if self.drift is not None and self.drift.is_shown:
            better = "better" if self.drift.difference.value > 0 else "worse"
            found.append(
                f"drift since {self.drift.since[:10]}: accuracy is {better} by "
                f"{100 * abs(self.drift.difference.value):.1f} points, {self.drift.changed:,} of "
                f"{self.drift.claims:,} labels changed"
            )
        return tuple(found)

    def __str__(self) -> str:
        rates = self.supported_called_so, self.failing_called_so
        shares = "of supported and ".join(f"{percent(rate.value)} ({interval(rate)}) " for rate in rates)
        head = (
            f"{one_line(self.judge, 60)}, {counted(len(self.asked), 'labelled claim')}: recognises {shares}of failing"
        )
        told = (head, *self.findings, *self.shortfalls, self.verdict)
        return "\n".join(wrapped(text) for text in told if text)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        return {
            "schema": JUDGE_CHECK_SCHEMA,
            "claims": len(self.asked),
            "times": len(self.asked[0].passes) if self.asked else 0,
            **written(self, "judge unjudged supported_called_so failing_called_so flips turned turned_beyond"),
            **written(self, "lengths drift against usage findings shortfalls"),
        }


class EarlierCheck(NamedTuple):
    """An earlier check of this judge, as it is kept: labels by key, the oldest first."""

    created: str
    labels: Mapping[str, str]
    parameters: Mapping[str, str]


def judge_check(
    judge: str,
    asked: Sequence[CheckedClaim],
    usage: Usage,
    *,
    earlier: Sequence[EarlierCheck] = (),
    parameters: Mapping[str, str] | None = None,
    other: str = "",
    max_flips: float = MAX_FLIPS,
) -> JudgeCheck:
    """Add a check up. `earlier` are those of the same judge, and `parameters` what it is made of now."""
    judged = [claim for claim in asked if claim.first is not None]
    places = _groups(judged)
    called = np.array([claim.first is Label.SUPPORTED for claim in judged], dtype=bool)
    truth = np.array([claim.people is Label.SUPPORTED for claim in judged], dtype=bool)
    verdicts = [label for claim in asked for label in claim.passes]
    repeated = [claim for claim in asked if len(claim.passes) > 1 and None not in claim.passes]
    turned, beyond = _turned(asked)
    return JudgeCheck(
        judge=judge,
        asked=tuple(asked),
        unjudged=verdicts.count(None) / len(verdicts) if verdicts else 0.0,
        supported_called_so=clustered_mean(called[truth], places[truth]),
        failing_called_so=clustered_mean(~called[~truth], places[~truth]),
        flips=clustered_mean([len(set(claim.passes)) > 1 for claim in repeated], _groups(repeated)),
        turned=turned,
        turned_beyond=beyond,
        lengths=tuple(_lengths(judged, called, truth, places)),
        drift=_drift(asked, earlier, parameters or {}),
        against=_against(judged, other) if other else None,
        usage=usage,
        max_flips=max_flips,
    )


def _turned(asked: Sequence[CheckedClaim]) -> tuple[Estimate, Inference | None]:
    both = [claim for claim in asked if claim.turned is not None and claim.first is not None]
    moved = np.array([claim.turned is not claim.first for claim in both], dtype=bool)
    share = clustered_mean(moved, _groups(both))
    if not both:
        return share, None
    # What changes anyway when the judge is asked again; one that was asked once is taken to repeat itself.
    again = np.array([len(claim.passes) > 1 and claim.passes[1] is not claim.first for claim in both], dtype=float)
    return share, paired_mean_difference(again, moved.astype(float), _groups(both))


def _lengths(judged: Sequence[CheckedClaim], called: Bools, truth: Bools, places: Places) -> list[LengthBias]:
    texts: dict[str, Sequence[int | None]] = {
        "claim": [claim.words for claim in judged],
        "answer": [claim.answer_words for claim in judged],
    }
    tests = []
    for of, found in texts.items():
        if not found or None in found:
            continue
        words = np.array(found, dtype=np.float64)
        middle = float(np.median(words))
        for rate, right, kind in (("supported_called_so", called, truth), ("failing_called_so", ~called, ~truth)):
            sides = [kind & (words <= middle), kind & (words > middle)]
            if min(int(side.sum()) for side in sides) >= FEWEST:
                tests.append((of, rate, middle, [clustered_mean(right[side], places[side]) for side in sides]))
    level = 1 - ALPHA / max(1, len(tests))
    return [
        LengthBias(of, rate, middle, shorter, longer, at_level(independent_difference(shorter, longer), level))
        for of, rate, middle, (shorter, longer) in tests
    ]


def _drift(
    asked: Sequence[CheckedClaim], earlier: Sequence[EarlierCheck], parameters: Mapping[str, str]
) -> Drift | None:
    """Compare with the first check on claims that both hold; each further check spends less: 6·α/(π²·k²) in all α."""
    now = {claim.key: claim for claim in asked if claim.first is not None}
    known = [check for check in earlier if len(check.labels.keys() & now.keys()) >= FEWEST]
    if not known:
        return None
    then, last = known[0], known[-1].labels
    both = [claim for key, claim in now.items() if key in then.labels]
    before = [then.labels[claim.key] for claim in both]
    right = np.array([claim.first is claim.people for claim in both], dtype=float)
    was_right = np.array([label == claim.people for label, claim in zip(before, both, strict=True)], dtype=float)
    groups = _groups(both)
    return Drift(
        since=then.created,
        checks=len(known),
        claims=len(both),
        changed=sum(label != claim.first for label, claim in zip(before, both, strict=True)),
        changed_last=sum(last[key] != now[key].first for key in now if key in last) if len(known) > 1 else None,
        difference=paired_mean_difference(was_right, right, groups),
        p_value=sign_flip_test(right - was_right, groups),
        alpha=6 * ALPHA / (math.pi * len(known)) ** 2,
        differs=differences(dict(sorted(then.parameters.items())), parameters),
    )


def _against(judged: Sequence[CheckedClaim], other: str) -> OtherJudge | None:
    both = [claim for claim in judged if claim.other is not None]
    if len(both) < FEWEST:
        return None
    groups = _groups(both)
    pairs = [claim.first for claim in both], [claim.other for claim in both]
    try:
        kappa = cohen_kappa(*pairs, tuple(Label), clusters=groups).value
    except ValueError:
        kappa = None  # one label only
    agreeing = clustered_mean([first is second for first, second in zip(*pairs, strict=True)], groups)
    right = [float(claim.first is claim.people) for claim in both]
    other_right = [float(claim.other is claim.people) for claim in both]
    return OtherJudge(other, len(both), agreeing, kappa, paired_mean_difference(right, other_right, groups))


def _groups(asked: Sequence[CheckedClaim]) -> Places:
    return numbered(claim.group for claim in asked)


MOST_UNJUDGED = 3  # claims without a usable verdict, of 144
LEAST_RIGHT = 0.75  # the lower end of accuracy's 95 % interval
LEAST_OF_EACH = 0.8  # of the supported claims, and of the others
LEAST_OF_A_KIND = 0.5
LEAST_QUOTES = 0.9  # of the quotes given
RULE = (
    f"fit to judge if the 95 % interval of accuracy starts at {percent(LEAST_RIGHT, 0)} or above; at least "
    f"{percent(LEAST_OF_EACH, 0)} of supported and of other claims are right, and {percent(LEAST_OF_A_KIND, 0)} of "
    f"every kind; {percent(LEAST_QUOTES, 0)} of verdicts with quotes have only real quotes; at most {MOST_UNJUDGED} "
    "claims have no usable verdict"
)


class TriedClaim(NamedTuple):
    """One claim of the test with what became of it; `given` is None without a usable verdict."""

    kind: str
    passages: str  # which set of passages
    claim: str
    expected: Label
    given: Label | None
    quotes_lost: bool = False
    quotes_given: bool = False
    why: str = ""  # the judge's reason, or why there is no verdict

    @property
    def is_right(self) -> bool:
        """Whether it was rightly called supported or not."""
        return self.given is not None and (self.given is Label.SUPPORTED) == (self.expected is Label.SUPPORTED)


@dataclass(frozen=True, slots=True)
class JudgeTest:
    """What a judge did, as shares of the claims with a verdict.

    Intervals are over sets of passages, those of `kinds`, which have two sets each, over claims.
    """

    judge: str
    accuracy: Estimate
    kinds: Mapping[str, Estimate]
    supported: Estimate  # of the supported claims: called so
    not_supported: Estimate  # of the others: not called supported
    told_apart: Estimate  # of the others that were found: unsupported and contradicted kept apart
    quotes_found: Estimate  # of the verdicts with quotes: all of them in the passages
    unjudged: int
    answered: tuple[TriedClaim, ...]
    usage: Usage
    provenance: Provenance
    beside: JudgeTest | None = None  # the offline judge, on the same claims

    @property
    def why_not(self) -> tuple[str, ...]:
        """What of the rule is missed; empty when the judge is fit to judge."""
        faults = []
        if self.unjudged > MOST_UNJUDGED:
            faults.append(f"{self.unjudged} claims have no usable verdict (allowed: {MOST_UNJUDGED})")
        if (low := self.accuracy.low or 0.0) < LEAST_RIGHT:
            faults.append(f"accuracy may be as low as {percent(low, 0)} (required: {percent(LEAST_RIGHT, 0)})")
        sides = (("supported claims", self.supported), ("claims that are not supported", self.not_supported))
        faults += [
            f"{percent(share.value or 0.0, 0)} of the {name} are right (required: {percent(LEAST_OF_EACH, 0)})"
            for name, share in sides
            if (share.value or 0.0) < LEAST_OF_EACH
        ]
        faults += [
            f"wrong on most claims of the kind '{kind}'"
            for kind, share in self.kinds.items()
            if (share.value or 0.0) < LEAST_OF_A_KIND
        ]
        if self.quotes_found.value is not None and self.quotes_found.value < LEAST_QUOTES:
            faults.append(
                f"{percent(1 - self.quotes_found.value, 0)} of verdicts with quotes have an invented one (allowed: "
                f"{percent(1 - LEAST_QUOTES, 0)})"
            )
        return tuple(faults)

    @property
    def is_fit(self) -> bool:
        """Whether it meets all of `RULE`."""
        return not self.why_not

    @property
    def wrong(self) -> list[TriedClaim]:
        """The claims that it judged wrongly, or not at all."""
        return [claim for claim in self.answered if not claim.is_right]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON: shares with their intervals, the rule, and every claim that was judged wrongly."""
        return {
            **written(self, "judge accuracy supported not_supported told_apart quotes_found kinds unjudged fit=is_fit"),
            **written(self, "why_not usage"),
            "rule": RULE,
            "wrong": [written(claim, "kind claim expected given why") for claim in self.wrong],
            "beside": self.beside and written(self.beside, "judge accuracy kinds"),
            "provenance": to_json(self.provenance),
        }


def judge_test(judge: str, answered: Sequence[TriedClaim], usage: Usage, provenance: Provenance) -> JudgeTest:
    """Count what a judge did."""
    judged = [claim for claim in answered if claim.given is not None]
    supported = [claim for claim in judged if claim.expected is Label.SUPPORTED]
    others = [claim for claim in judged if claim.expected is not Label.SUPPORTED]
    found = [claim for claim in others if claim.is_right]
    quoting = [claim for claim in judged if claim.quotes_given]
    kinds = dict.fromkeys(claim.kind for claim in answered)
    return JudgeTest(
        judge=judge,
        accuracy=_share(judged),
        kinds={kind: clustered_mean([claim.is_right for claim in judged if claim.kind == kind]) for kind in kinds},
        supported=_share(supported),
        not_supported=_share(others),
        told_apart=_share(found, [claim.given is claim.expected for claim in found]),
        quotes_found=_share(quoting, [not claim.quotes_lost for claim in quoting]),
        unjudged=len(answered) - len(judged),
        answered=tuple(answered),
        usage=usage,
        provenance=provenance,
    )


def _share(claims: Sequence[TriedClaim], right: Sequence[bool] | None = None) -> Estimate:
    values = [claim.is_right for claim in claims] if right is None else right
    return clustered_mean(values, [claim.passages for claim in claims])
