"""The rule for taking a release back: contradicted or unsupported claims rose, beyond chance, and the rise lasts.

Where claims are labelled, the rates that count are those without the judge's error; the others stand beside them.
Every part of the new release, a run of it or a stretch of its time, is compared with the release before. Holm's
correction over the parts and both rates keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from everyclaim.analysis.correction import Correction, corrected
from everyclaim.analysis.estimates import points
from everyclaim.analysis.looks import CONTRADICTED, LEVEL, UNSUPPORTED, Look, Measure
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Label
from everyclaim.stats.multiplicity import holm
from everyclaim.stats.prevalence import JudgeCounts

LASTING = 2  # parts behind each other, the newest among them
WATCHED: Mapping[Measure, Label] = {CONTRADICTED: Label.CONTRADICTED, UNSUPPORTED: Label.UNSUPPORTED}  # gravest first

Verdict = Literal["roll back", "watch", "keep", "too few samples"]
_GRAVITY: tuple[Verdict, ...] = ("roll back", "watch", "keep", "too few samples")


@dataclass(frozen=True, slots=True)
class Step:
    """One rate in one part of the new release against the release before, as judged and corrected.

    `correction` is None where no claim is labelled.
    """

    title: str
    look: Look
    correction: Correction | None = None
    adjusted: float | None = None  # p for all parts and rates, as judged
    corrected_adjusted: float | None = None  # the same without the judge's error

    @property
    def has_risen_as_judged(self) -> bool:
        """Whether the rate is shown to be higher by the judge alone."""
        return self.adjusted is not None and self.adjusted <= 1 - LEVEL and (self.look.low or 0.0) > 0

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

    @property
    def told(self) -> str:
        """The two rates, with the difference and how sure it is; then the same without the judge's error."""
        look = self.look
        if look.before is None or look.after is None:
            return "no claim to compare"
        told = f"{100 * look.before:.1f} → {100 * look.after:.1f} %"
        if look.low is not None and look.high is not None:
            told += f", by {points(look.low)} to {points(look.high)} points (95 %), {_sure(self.adjusted)}"
        if self.correction is None:
            return told
        sure = f", {_sure(self.corrected_adjusted)}" if self.correction.found else ""
        return f"{told}; {self.correction.told}{sure}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        look = self.look
        return {
            "title": self.title,
            "measure": look.measure.name,
            "before": look.before,
            "after": look.after,
            "difference": look.difference,
            "low": look.low,
            "high": look.high,
            "answers": look.answers,
            "p_value": look.p_value,
            "p_adjusted": self.adjusted,
            "has_risen": self.has_risen,
            "has_risen_as_judged": self.has_risen_as_judged,
            "corrected": self.correction and self.correction.to_json() | {"p_adjusted": self.corrected_adjusted},
        }


def _sure(p_value: float | None) -> str:
    return "not tested: too few" if p_value is None else f"p {max(p_value, 0.001):.3f}"


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the rule says, and why. `steps` are the rates part by part, in their order in time."""

    before: str
    after: str
    steps: tuple[Step, ...]
    needed: int = LASTING

    def of(self, measure: Measure) -> tuple[Step, ...]:
        """Return the steps of one rate."""
        return tuple(step for step in self.steps if step.look.measure is measure)

    @property
    def measure(self) -> Measure:
        """The rate that decides: of which the gravest is said, contradicted claims first."""
        return min(WATCHED, key=lambda measure: _GRAVITY.index(self._verdict(measure)))

    @property
    def verdict(self) -> Verdict:
        """What to do."""
        return self._verdict(self.measure)

    @property
    def lasting(self) -> int:
        """How many parts in a row, up to the newest, are shown to be higher in the rate that decides."""
        return self._lasting(self.measure)

    def _lasting(self, measure: Measure) -> int:
        risen = [step.has_risen for step in reversed(self.of(measure))]
        return risen.index(False) if False in risen else len(risen)

    def _verdict(self, measure: Measure) -> Verdict:
        newest = self.of(measure)[-1]
        if newest.adjusted is None:
            return "too few samples"
        lasting = self._lasting(measure)
        if lasting >= self.needed:
            return "roll back"
        return "watch" if lasting or newest.is_lost else "keep"

    @property
    def advice(self) -> str:
        """What to do where a rise is shown; else empty."""
        return self.told if self.verdict in ("roll back", "watch") else ""

    @property
    def told(self) -> str:
        """Say what to do, and why, in a sentence or two."""
        before, after = one_line(self.before, 60), one_line(self.after, 60)
        steps, lasting = self.of(self.measure), self.lasting
        newest, rate = steps[-1], f"its rate of {self.measure.name} claims"
        both = "; ".join(f"{measure.name} {self.of(measure)[-1].told}" for measure in WATCHED)
        if self.verdict == "roll back":
            since = f" from {one_line(steps[-lasting].title, 60)} on," if lasting > 1 else ""
            return (
                f"Roll {after} back to {before}: {rate} is higher in each of its last {lasting} parts,{since} so it"
                f" lasts (in the newest {newest.told})."
            )
        if newest.is_lost:
            return (
                f"Watch {after}: {rate} is higher than that of {before} as judged, but labels cannot tell that from the"
                f" judge's error ({newest.told}). More labels, of claims that it calls {self.measure.name} above all,"
                " would settle it."
            )
        if self.verdict == "watch":
            return (
                f"Watch {after}: {rate} is higher than that of {before} in its newest part ({newest.told}); whether it"
                " lasts, later answers will show."
            )
        if self.verdict == "keep":
            return f"No lasting rise of failing claims is shown for {after} over {before} ({both})."
        return f"Too few samples to say whether failing claims rose with {after} ({both})."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "verdict": self.verdict,
            "measure": self.measure.name,
            "told": self.told,
            "needed": self.needed,
            "lasting": self.lasting,
            "parts": [step.to_json() for step in self.steps],
        }


def roll_back(
    before: str,
    after: str,
    parts: Sequence[tuple[str, Sequence[Look]]],
    judge: Mapping[Label, JudgeCounts] | None = None,
    needed: int = LASTING,
) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time: the title of each and its looks at the whole.

    `judge` is what labels say of the judge, label by label; None: no claim is labelled.
    """
    steps = [
        Step(title, look, None if judge is None else corrected(look, label, judge))
        for title, looks in parts
        for measure, label in WATCHED.items()
        for look in looks
        if look.measure is measure
    ]
    judged = _adjusted([step.look.p_value for step in steps])
    without = [step.correction.found if step.correction else None for step in steps]
    shown = _adjusted([one.p_value if one else None for one in without])
    known = (
        replace(step, adjusted=p_value, corrected_adjusted=other)
        for step, p_value, other in zip(steps, judged, shown, strict=True)
    )
    return RollBack(before, after, tuple(known), needed)


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct for as many looks as there are tests; None stays None."""
    tested = [value for value in p_values if value is not None]
    known = iter(np.minimum(1.0, holm(tested)).tolist() if tested else [])
    return [None if value is None else next(known) for value in p_values]
