"""How many samples or labels a finding needs, and what so many can show: the normal approximations, two-sided.

`design_effect` is how many times larger the variance is because units come in clusters: (cluster-robust error / plain
error)², 1 for independent ones, 1 + (m − 1)·ρ for m equal units a cluster with correlation ρ.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from everyclaim.stats.inputs import count, share
from everyclaim.stats.proportions import wilson
from everyclaim.stats.quantiles import normal_quantile

_MOST = 10**9


def units_for_difference(
    first: float, second: float, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int:
    """Return how many units each of two independent groups needs to tell two proportions apart.

    n = (z_{α/2} √(2 p̄ q̄) + z_β √(p₁q₁ + p₂q₂))² / (p₁ − p₂)² (Fleiss and others 2003, ch. 4). Raises ValueError for
    equal proportions, or ones outside [0, 1].
    """
    for rate in (first, second):
        if not 0 <= rate <= 1:
            raise ValueError(f"a proportion must lie between 0 and 1, not {rate:g}")
    if first == second:
        raise ValueError("equal proportions cannot be told apart by any number of units")
    middle = (first + second) / 2
    under_null = normal_quantile(level) * math.sqrt(2 * middle * (1 - middle))
    otherwise = _power_quantile(power) * math.sqrt(first * (1 - first) + second * (1 - second))
    return _whole(((under_null + otherwise) / (first - second)) ** 2 * _effect(design_effect))


def pairs_for_difference(
    difference: float, changed: float, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int:
    """Return how many paired yes-or-no units show a difference of proportions, when the share `changed` differs at all.

    n = (z_{α/2} √ψ + z_β √(ψ − d²))² / d² (Connor 1987), d the difference, ψ = `changed` ≥ |d|.
    """
    if not 0 < abs(difference) <= changed <= 1:
        raise ValueError(f"needs 0 < |difference| <= changed <= 1, got {difference:g} and {changed:g}")
    wanted = normal_quantile(level) * math.sqrt(changed)
    wanted += _power_quantile(power) * math.sqrt(changed - difference**2)
    return _whole((wanted / difference) ** 2 * _effect(design_effect))


def pairs_for_mean_difference(difference: float, spread: float, power: float = 0.8, level: float = 0.95) -> int:
    """Return how many independent pairs show a mean difference; `spread` is the standard deviation of differences."""
    if not (math.isfinite(difference) and difference):
        raise ValueError(f"difference must be a number other than 0, not {difference:g}")
    count(spread, "spread")
    return _whole(((normal_quantile(level) + _power_quantile(power)) * spread / difference) ** 2)


def detectable_paired_difference(pairs: int, spread: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest mean difference that so many independent pairs show with this power; `spread` as above."""
    count(pairs, "pairs", 1)
    return (normal_quantile(level) + _power_quantile(power)) * count(spread, "spread") / math.sqrt(pairs)


def detectable_difference(
    units: int, rate: float, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> float | None:
    """Return the smallest fall from this rate that two groups of so many independent units show; None: none does."""
    count(units, "units", 1)
    if not 0 < rate <= 1:
        raise ValueError(f"rate must lie above 0 and at most at 1, not {rate:g}")
    if units_for_difference(rate, 0.0, power, level, design_effect) > units:
        return None
    low, high = 0.0, rate
    for _ in range(60):
        middle = (low + high) / 2
        if units_for_difference(rate, rate - middle, power, level, design_effect) > units:
            low = middle
        else:
            high = middle
        if high - low < 1e-9:
            break
    return high


def labels_for_half_width(rate: float, half_width: float, level: float = 0.95, design_effect: float = 1.0) -> int:
    """Return how many labels give Wilson's interval of a rate this half width or less."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1, not {rate:g}")
    if not 0 < half_width < 1:
        raise ValueError(f"half_width must lie between 0 and 1, not {half_width:g}")
    low, high = 0, 1
    while wilson(rate * high, high, level).width > 2 * half_width and high < _MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wilson(rate * middle, middle, level).width > 2 * half_width else (low, middle)
    return _whole(high * _effect(design_effect))


def _power_quantile(power: float) -> float:
    return NormalDist().inv_cdf(share(power, "power"))


def _effect(design_effect: float) -> float:
    if not (math.isfinite(design_effect) and design_effect > 0):
        raise ValueError(f"design_effect must be above 0, not {design_effect:g}")
    return design_effect


def _whole(n: float) -> int:
    return max(1, math.ceil(n - 1e-9)) if n < _MOST else _MOST
