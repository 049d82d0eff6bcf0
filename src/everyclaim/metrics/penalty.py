"""A penalty for short and vague answers: an answer that says little has little to be wrong about."""

from __future__ import annotations

import math
from dataclasses import dataclass

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Sample, tag_values

GAMMA = 10.0
MISSING = 1 / 3


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a short answer loses: by `gamma`, or by the number of claims that were `expected`, never both.

    `expected` is a number, or ``tag:NAME`` for the number in that tag of the sample; empty: `gamma` holds, and 0 is
    no penalty. `missing` is what a missing claim costs, as a share of what a wrong one among the expected costs.
    """

    gamma: float = GAMMA
    expected: str = ""
    missing: float = MISSING

    def of(self, sample: Sample, claims: int) -> float:
        """Return the factor, in (0, 1]. Raises `JudgeError` when the sample does not say what was expected."""
        if not self.expected:
            return length_penalty(claims, self.gamma)
        return shortfall_penalty(claims, expected_claims(sample, self.expected), self.missing)

    def applied(self, name: str, share: float, sample: Sample, claims: int) -> tuple[float, dict[str, float]]:
        """Return a share of claims × the factor, and its parts; the share alone, without parts, where none is asked."""
        if not self.expected and self.gamma <= 0:
            return share, {}
        factor = self.of(sample, claims)
        return share * factor, {name: share * factor, f"{name}_unpenalised": share, "length_penalty": factor}


def length_penalty(claims: int, gamma: float = GAMMA) -> float:
    """Return exp(1 − γ/N) for N claims up to γ, 1 beyond: 1 at N = γ, 0.368 at N = γ/2. γ = 0 is no penalty."""
    return 1.0 if gamma <= 0 or claims > gamma else math.exp(1 - gamma / claims)


def shortfall_penalty(claims: int, expected: float, missing: float = MISSING) -> float:
    """Return 1 − `missing` × the share of the expected claims that are not there; 1 when none is missing.

    With the usual third, 5 claims where 20 were expected give 0.75: such an answer loses as much as one with a quarter
    of 20 wrong. With 1, a missing claim costs what a wrong one does: supported / expected.
    """
    return 1 - missing * max(0.0, 1 - claims / expected)


def expected_claims(sample: Sample, expected: str) -> float:
    """Return how many claims the answer to a sample should have. Raises `JudgeError` when its tag does not say."""
    if not expected.startswith("tag:"):
        return float(expected)
    name = expected.removeprefix("tag:")
    if name not in sample.tags:
        raise JudgeError("no_expected_count", f"the sample has no tag {name!r} with the expected number of claims")
    given = ", ".join(tag_values(sample.tags[name]))
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise JudgeError("no_expected_count", f"the tag {name!r} is {given!r}, not a number above 0")
    return number
