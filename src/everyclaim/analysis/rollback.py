"""The rule for taking a release back.

Contradicted or unsupported claims rose, beyond chance, and the rise lasts; a mean score that is shown to be worse
without that is watched. Where claims are labelled, the rates that count are those without the judge's error; the others
stand beside them. Both runs have the judge that the labels speak of; its error is taken to be the same on the answers
of either. Every part of the new release, a run of it or a stretch of its time, is compared with the release before.
Holm's correction over the parts and both rates keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from everyclaim.analysis.deltas import (
    CONTRADICTED,
    LEVEL,
    SCORE,
    UNSUPPORTED,
    AnswerMeasure,
    Delta,
    DeltaFinding,
    adjusted,
)
from everyclaim.analysis.estimates import points, written
from everyclaim.analysis.slices import FEW
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Label
from everyclaim.stats.prevalence import JudgeCounts, RateDifference, rogan_gladen_difference
from everyclaim.stats.proportions import normal_quantile

LASTING = 2  # parts behind each other, the newest among them
# The gravest first.
WATCHED: Mapping[AnswerMeasure, Label] = {CONTRADICTED: Label.CONTRADICTED, UNSUPPORTED: Label.UNSUPPORTED}

RollBackVerdict = Literal["roll back", "watch", "keep", "too few samples"]
_GRAVITY: tuple[RollBackVerdict, ...] = ("roll back", "watch", "keep", "too few samples")


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels make of a difference of rates as judged; without `found`, `why` says what stands against it.

    With `is_blind` the labels say that the judge cannot tell: then no difference of its rates is one of answers.
    """

    found: RateDifference | None
    why: str = ""
    is_blind: bool = False

    def __str__(self) -> str:
        """Write the rates and their difference, or why there are none."""
        if self.found is None:
            return f"not corrected for the judge's error: {self.why}"
        before, after, difference, _ = self.found
        low, high = difference.interval.low, difference.interval.high
        doubts = "".join(f"; {warning}" for warning in difference.warnings)
        change = f"{points(difference.value)} points ({points(low)} to {points(high)}{doubts})"
        return f"corrected for the judge's error: {100 * before:.1f} → {100 * after:.1f} %, by {change}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values; null: not known, and `why_not` says why."""
        names = ("before", "after", "difference", "low", "high", "p_value", "method")
        row: dict[str, Any] = dict.fromkeys(names) | {"warnings": [], "why_not": self.why}
        if self.found is None:
            return row
        found, difference = self.found, self.found.difference
        ends = {"difference": difference.value, "low": difference.interval.low, "high": difference.interval.high}
        return row | written(found, "before after p_value") | ends | written(difference, "method warnings")


def correct(delta: Delta, label: Label, judge: Mapping[Label, JudgeCounts]) -> Correction:
    """Correct a difference of claims of this label by what labels say of the judge."""
    if (counts := judge.get(label)) is None:
        return Correction(None, f"labels of {label.value.lower()} claims and of others are needed for a correction")
    if delta.before is None or delta.after is None or delta.low is None or delta.high is None or delta.p_value is None:
        return Correction(None, "too few samples for a correction")
    error = (delta.high - delta.low) / (2 * normal_quantile(LEVEL))
    try:
        return Correction(rogan_gladen_difference((delta.before, delta.after), error, counts, LEVEL))
    except ValueError as reason:
        return Correction(None, str(reason), is_blind=True)


@dataclass(frozen=True, slots=True)
class Step:
    """One rate in one part of the new release compared with the release before, as judged and corrected.

    `correction` is None where no claim is labelled.
    """

    title: str
    delta: Delta
    correction: Correction | None = None
    adjusted: float | None = None  # p for all parts and rates, as judged
    corrected_adjusted: float | None = None  # the same without the judge's error

    @property
    def has_risen_as_judged(self) -> bool:
        """Whether the rate is shown to be higher by the judge alone."""
        return self.adjusted is not None and self.adjusted <= 1 - LEVEL and (self.delta.low or 0.0) > 0

    @property
    def has_risen(self) -> bool:
        """Whether the rate is shown to be higher: without the judge's error, where labels say what that is."""
        if self.correction is None or (self.correction.found is None and not self.correction.is_blind):
            return self.has_risen_as_judged
        if self.correction.found is None or self.corrected_adjusted is None:
            return False
        return self.corrected_adjusted <= 1 - LEVEL and self.correction.found.difference.interval.low > 0

    @property
    def is_lost(self) -> bool:
        """Whether the judge shows a rise that cannot be told from its error."""
        return self.has_risen_as_judged and not self.has_risen

    def __str__(self) -> str:
        """Write the two rates, with the difference and how sure it is; then the same without the judge's error."""
        delta = self.delta
        if delta.before is None or delta.after is None:
            return "no claim to compare"
        rates = f"{100 * delta.before:.1f} → {100 * delta.after:.1f} %"
        if delta.difference is not None and delta.low is not None and delta.high is not None:
            change = f"{points(delta.difference)} points ({points(delta.low)} to {points(delta.high)})"
            rates += f", by {change}, {_p(self.adjusted)}"
        if self.correction is None:
            return rates
        return f"{rates}; {self.correction}" + (f", {_p(self.corrected_adjusted)}" if self.correction.found else "")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        delta = self.delta.to_json()
        names = ("measure", "before", "after", "difference", "low", "high", "answers", "p_value")
        return {
            "title": self.title,
            **{name: delta[name] for name in names},
            **written(self, "p_adjusted=adjusted has_risen has_risen_as_judged"),
            "corrected": self.correction and self.correction.to_json() | {"p_adjusted": self.corrected_adjusted},
        }


def _p(p_value: float | None) -> str:
    return "not tested: too few" if p_value is None else f"p {max(p_value, 0.001):.3f}"


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the rule says, and why. `steps` are the rates part by part, in their order in time.

    `worse` is the mean score of the newest part where it is shown to be worse.
    """

    before: str
    after: str
    steps: tuple[Step, ...]
    needed: int = LASTING
    worse: Delta | None = None

    def of(self, measure: AnswerMeasure) -> tuple[Step, ...]:
        """Return the steps of one rate."""
        return tuple(step for step in self.steps if step.delta.measure is measure)

    @property
    def measure(self) -> AnswerMeasure:
        """The rate that decides: of which the gravest is said, contradicted claims first."""
        return min(WATCHED, key=lambda measure: _GRAVITY.index(self._verdict(measure)))

    @property
    def verdict(self) -> RollBackVerdict:
        """What to do."""
        found = self._verdict(self.measure)
        return "watch" if self.worse and found in ("keep", "too few samples") else found

    @property
    def lasting(self) -> int:
        """How many parts in a row, up to the newest, are shown to be higher in the rate that decides."""
        return self._lasting(self.measure)

    def _lasting(self, measure: AnswerMeasure) -> int:
        risen = [step.has_risen for step in reversed(self.of(measure))]
        return risen.index(False) if False in risen else len(risen)

    def _verdict(self, measure: AnswerMeasure) -> RollBackVerdict:
        newest = self.of(measure)[-1]
        if newest.adjusted is None:
            return "too few samples"
        is_few = sum(step.delta.answers for step in self.of(measure)) < FEW
        lasting = self._lasting(measure)
        if lasting >= self.needed:
            return "roll back"
        if lasting or newest.is_lost:
            return "watch"
        return "too few samples" if is_few else "keep"

    @property
    def advice(self) -> str:
        """What to do where a rise is shown; else empty."""
        return self.sentence if self.verdict in ("roll back", "watch") else ""

    @property
    def sentence(self) -> str:
        """Say what to do, and why, in a sentence or two."""
        before, after = one_line(self.before, 60), one_line(self.after, 60)
        steps, lasting = self.of(self.measure), self.lasting
        newest, rate = steps[-1], f"its rate of {self.measure.name} claims"
        both = "; ".join(f"{measure.name} {self.of(measure)[-1]}" for measure in WATCHED)
        if self.verdict == "roll back":
            since = f" from {one_line(steps[-lasting].title, 60)} on" if lasting > 1 else ""
            return (
                f"Roll {after} back to {before}: {rate} is higher in each of its last {lasting} parts{since} "
                f"(newest: {newest})."
            )
        if self.worse and not lasting and not newest.is_lost:
            return (
                f"Watch {after}: its mean score is significantly worse than that of {before}; failing claims: {both}."
            )
        if newest.is_lost:
            return (
                f"Watch {after}: {rate} is higher than that of {before} by the judge, but the labels cannot rule out "
                f"judge error ({newest}). Label more claims, preferably those that it calls {self.measure.name}."
            )
        if self.verdict == "watch":
            return (
                f"Watch {after}: {rate} is higher than that of {before} in its newest part ({newest}). "
                "Later answers will show whether it lasts."
            )
        if self.verdict == "keep":
            where = " in its newest part" if len(steps) > 1 else ""
            return f"Keep {after}: no significant rise of failing claims over {before}{where} ({both})."
        return f"Too few samples to rule out a rise of failing claims in {after} over {before} ({both})."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return written(self, "verdict measure told=sentence needed lasting parts=steps")


def roll_back(
    before: str,
    after: str,
    parts: Sequence[tuple[str, Sequence[Delta]]],
    judge: Mapping[Label, JudgeCounts] | None = None,
    needed: int = LASTING,
) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time: the title of each and its differences.

    `judge` is what labels say of the judge, label by label; None: no claim is labelled.
    """
    steps = [
        Step(title, delta, None if judge is None else correct(delta, label, judge))
        for title, deltas in parts
        for measure, label in WATCHED.items()
        for delta in deltas
        if delta.measure is measure
    ]
    judged = adjusted([step.delta.p_value for step in steps])
    without = [step.correction.found if step.correction else None for step in steps]
    shown = adjusted([found.p_value if found else None for found in without])
    known = (
        replace(step, adjusted=p_value, corrected_adjusted=other)
        for step, p_value, other in zip(steps, judged, shown, strict=True)
    )
    worse = (one for one in parts[-1][1] if one.measure is SCORE and one.finding is DeltaFinding.REGRESSED)
    return RollBack(before, after, tuple(known), needed, next(worse, None))
