"""A difference of rates of claims without the judge's error: what labels leave of what the judge says rose or fell.

Both runs have the judge that the labels speak of; its error is taken to be the same on the answers of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everyclaim.analysis.estimates import points
from everyclaim.analysis.looks import LEVEL, Look
from everyclaim.core.types import Label
from everyclaim.stats.prevalence import JudgeCounts, RateDifference, rogan_gladen_difference
from everyclaim.stats.quantiles import normal_quantile


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels make of a difference of rates as judged; without `found`, `why` says what stands against it.

    With `is_blind` the labels say that the judge cannot tell: then no difference of its rates is one of answers.
    """

    found: RateDifference | None
    why: str = ""
    is_blind: bool = False

    @property
    def rates(self) -> str:
        """The rates and their difference in words, or why there are none."""
        if self.found is None:
            return self.why
        before, after, difference, _ = self.found
        low, high = difference.interval.low, difference.interval.high
        doubts = "".join(f"; {one}" for one in difference.warnings)
        return f"{100 * before:.1f} → {100 * after:.1f} %, by {points(low)} to {points(high)} points (95 %{doubts})"

    @property
    def told(self) -> str:
        """The same, with a word on what it is."""
        how = "corrected for the judge's error" if self.found else "as judged, not corrected"
        return f"{how}: {self.rates}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values; null: not known, and `why_not` says why."""
        one = self.found
        return {
            "before": one.before if one else None,
            "after": one.after if one else None,
            "difference": one.difference.value if one else None,
            "low": one.difference.interval.low if one else None,
            "high": one.difference.interval.high if one else None,
            "p_value": one.p_value if one else None,
            "method": one.difference.method if one else None,
            "warnings": list(one.difference.warnings) if one else [],
            "why_not": self.why,
        }


def corrected(look: Look, label: Label, judge: Mapping[Label, JudgeCounts]) -> Correction:
    """Correct a look at the claims of this label by what labels say of the judge."""
    if (counts := judge.get(label)) is None:
        return Correction(None, f"labels of {label.value.lower()} claims and of others are needed to correct it")
    if look.before is None or look.after is None or look.low is None or look.high is None or look.p_value is None:
        return Correction(None, "too few samples to correct it")
    error = (look.high - look.low) / (2 * normal_quantile(LEVEL))
    try:
        return Correction(rogan_gladen_difference((look.before, look.after), error, counts, LEVEL))
    except ValueError as reason:
        return Correction(None, str(reason), is_blind=True)
