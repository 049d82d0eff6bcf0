"""The four words for a score.

high [0.9, 1] · good [0.7, 0.9) · moderate [0.5, 0.7) · low [0, 0.5): the lower bound belongs to its
band. A mean of exact fractions may come out one rounding below a bound; it counts as on it.
"""

from __future__ import annotations

from enum import StrEnum

_ROUNDING = 1e-9


class Band(StrEnum):
    """How good a score is, best first."""

    HIGH = "high"
    GOOD = "good"
    MODERATE = "moderate"
    LOW = "low"


LOWER_BOUNDS = {Band.HIGH: 0.9, Band.GOOD: 0.7, Band.MODERATE: 0.5, Band.LOW: 0.0}


def band_of(score: float) -> Band:
    """Return the band of a score within [0, 1]."""
    return next((band for band, bound in LOWER_BOUNDS.items() if score >= bound - _ROUNDING), Band.LOW)
