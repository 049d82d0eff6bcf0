"""What the statistics give back: an interval, a number with its interval, a test; and how resampling is done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; `level` is the share of such intervals that hold the true value, when all is well."""

    low: float
    high: float
    level: float = 0.95

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Distance of the two ends."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Inference:
    """A number, its interval, and why not to trust them, if there is a reason.

    `error` is the standard error; `n` counts the units seen, `clusters` what was taken as independent.
    """

    value: float
    interval: Interval
    error: float
    n: int
    clusters: int
    method: str
    warnings: tuple[str, ...] = ()

    @property
    def reliable(self) -> bool:
        """Whether the interval holds what its level promises, as far as is known (`benchmarks/statistics`)."""
        return not self.warnings


@dataclass(frozen=True, slots=True)
class Significance:
    """A test: its statistic, and the probability of one as large or larger when there is nothing to find."""

    statistic: float
    p_value: float
    method: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are made: their level, and seed and number of the resamples."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {self.level}")
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1, not {self.resamples}")


DEFAULT = Sampling()
