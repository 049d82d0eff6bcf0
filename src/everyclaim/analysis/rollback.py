"""When to take a release back: contradictions rose, beyond chance, and it lasts; with the evidence for each of these.

Where people labelled claims, the rates that count are those without the judge's error; the others stand beside them.
Every part of the new release, a run of it or a stretch of its time, is held against the release before. Holm's
correction over the parts keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from everyclaim.analysis.correction import Correction
from everyclaim.analysis.estimates import points
from everyclaim.analysis.looks import LEVEL, Look
from everyclaim.core.plaintext import one_line
from everyclaim.stats.multiplicity import holm

LASTING = 2  # parts behind each other, the newest among them

Verdict = Literal["roll back", "watch", "keep", "too few samples"]


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the new release against the release before: its rate of contradicted claims, as judged and corrected.

    `correction` is None where nobody labelled a claim.
    """

    title: str
    look: Look
    correction: Correction | None = None
    adjusted: float | None = None  # p for all parts, as judged
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


def _sure(p_value: float | None) -> str:
    return "not tested: too few" if p_value is None else f"p {max(p_value, 0.001):.3f}"


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the rule says, and why. `lasting` is how many of the newest parts in a row are shown to be higher."""

    verdict: Verdict
    before: str
    after: str
    steps: tuple[Step, ...]
    needed: int = LASTING

    @property
    def lasting(self) -> int:
        """How many parts in a row, up to the newest, are shown to be higher."""
        count = 0
        for step in reversed(self.steps):
            if not step.has_risen:
                break
            count += 1
        return count

    @property
    def told(self) -> str:
        """Say what to do, and why, in a sentence or two."""
        before, after = one_line(self.before, 60), one_line(self.after, 60)
        newest = self.steps[-1]
        if self.verdict == "roll back":
            return (
                f"Roll {after} back to {before}: its rate of contradicted claims is higher in each of its last"
                f" {self.lasting} parts, so it lasts (in the newest {newest.told})."
            )
        if newest.is_lost:
            return (
                f"Watch {after}: its rate of contradicted claims is higher than that of {before} as judged, but labels"
                f" cannot tell that from the judge's error ({newest.told}). More labels, of claims that it calls"
                " contradicted above all, would settle it."
            )
        if self.verdict == "watch":
            return (
                f"Watch {after}: its rate of contradicted claims is higher than that of {before} in its newest part"
                f" ({newest.told}); whether it lasts, later answers will show."
            )
        if self.verdict == "keep":
            return f"No lasting rise of contradicted claims is shown for {after} over {before} ({newest.told})."
        return f"Too few samples to say whether contradicted claims rose with {after} ({newest.told})."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "verdict": self.verdict,
            "told": self.told,
            "needed": self.needed,
            "lasting": self.lasting,
            "parts": [
                {
                    "title": step.title,
                    "before": step.look.before,
                    "after": step.look.after,
                    "difference": step.look.difference,
                    "low": step.look.low,
                    "high": step.look.high,
                    "answers": step.look.answers,
                    "p_value": step.look.p_value,
                    "p_adjusted": step.adjusted,
                    "has_risen": step.has_risen,
                    "has_risen_as_judged": step.has_risen_as_judged,
                    "corrected": step.correction
                    and step.correction.to_json() | {"p_adjusted": step.corrected_adjusted},
                }
                for step in self.steps
            ],
        }


def roll_back(before: str, after: str, steps: Sequence[Step], needed: int = LASTING) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time."""
    judged = _adjusted([step.look.p_value for step in steps])
    without = [step.correction.found if step.correction else None for step in steps]
    corrected = _adjusted([one.p_value if one else None for one in without])
    known = tuple(
        replace(step, adjusted=one, corrected_adjusted=other)
        for step, one, other in zip(steps, judged, corrected, strict=True)
    )
    found = RollBack("keep", before, after, known, needed)
    if known[-1].adjusted is None:
        return replace(found, verdict="too few samples")
    if found.lasting >= needed:
        return replace(found, verdict="roll back")
    return replace(found, verdict="watch") if found.lasting or known[-1].is_lost else found


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct for as many looks as there are tests; None stays None."""
    tested = [value for value in p_values if value is not None]
    known = iter(np.minimum(1.0, holm(tested)).tolist() if tested else [])
    return [None if value is None else next(known) for value in p_values]
