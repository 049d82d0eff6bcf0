"""When to take a release back: contradictions rose, beyond chance, and it lasts; with the evidence for each of these.

Every part of the new release, a run of it or a stretch of its time, is held against the release before. Holm's
correction over the parts keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from everyclaim.analysis.comparison import points
from everyclaim.analysis.looks import LEVEL, Look
from everyclaim.core.plaintext import one_line
from everyclaim.stats.multiplicity import holm

LASTING = 2  # parts behind each other, the newest among them

Verdict = Literal["roll back", "watch", "keep", "too few samples"]


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the new release against the release before: its rate of contradicted claims."""

    title: str
    look: Look
    adjusted: float | None = None  # for all parts

    @property
    def has_risen(self) -> bool:
        """Whether the rate is shown to be higher."""
        return self.adjusted is not None and self.adjusted <= 1 - LEVEL and (self.look.low or 0.0) > 0

    @property
    def told(self) -> str:
        """The two rates, with the difference and how sure it is."""
        look = self.look
        if look.before is None or look.after is None:
            return "no claim to compare"
        rates = f"{100 * look.before:.1f} → {100 * look.after:.1f} %"
        if look.low is None or look.high is None:
            return rates
        sure = "not tested: too few" if self.adjusted is None else f"p {max(self.adjusted, 0.001):.3f}"
        return f"{rates}, by {points(look.low)} to {points(look.high)} points (95 %), {sure}"


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
                }
                for step in self.steps
            ],
        }


def roll_back(before: str, after: str, steps: Sequence[Step], needed: int = LASTING) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time."""
    tested = [step.look.p_value for step in steps if step.look.p_value is not None]
    adjusted = iter(np.minimum(1.0, holm(tested)).tolist() if tested else [])
    known = tuple(replace(step, adjusted=None if step.look.p_value is None else next(adjusted)) for step in steps)
    found = RollBack("keep", before, after, known, needed)
    if known[-1].adjusted is None:
        return replace(found, verdict="too few samples")
    if found.lasting >= needed:
        return replace(found, verdict="roll back")
    return replace(found, verdict="watch") if found.lasting else found
