"""What so many samples can show, and how many labels a rate needs: the normal approximations, two-sided."""

from __future__ import annotations

import math
from statistics import NormalDist

from everyclaim.stats.proportions import wilson
from everyclaim.stats.quantiles import normal_quantile
from everyclaim.stats.types import count, share

_MOST = 10**9


def detectable_paired_difference(pairs: int, spread: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest mean difference that so many independent pairs show with this power.

    `spread` is the standard deviation of differences.
    """
    wanted = normal_quantile(level) + NormalDist().inv_cdf(share(power, "power"))
    return wanted * count(spread, "spread") / math.sqrt(count(pairs, "pairs", 1))


def labels_for_half_width(rate: float, half_width: float, level: float = 0.95) -> int:
    """Return how many labels give Wilson's interval of a rate this half width or less."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be between 0 and 1, not {rate:g}")
    share(half_width, "half_width")
    low, high = 0, 1
    while wilson(rate * high, high, level).width > 2 * half_width and high < _MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wilson(rate * middle, middle, level).width > 2 * half_width else (low, middle)
    return min(high, _MOST)
