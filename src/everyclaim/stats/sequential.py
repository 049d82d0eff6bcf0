"""Watch a rate while answers come in, with a stated rate of false alarms however often one looks.

Evidence against "the mean is at most `limit`" is the wealth of bettors who win when values are high (Waudby-Smith and
Ramdas 2023): each value x in [0, 1] multiplies the wealth of one by 1 + bet·(x − limit). While the mean of each value,
given the ones before, is at most the limit, no wealth is expected to grow, whatever the values' distribution: shares of
an answer's claims serve as well as 0 and 1. Several bettors, from timid to bold, start with equal stakes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from everyclaim.stats.types import column, share

_STAKES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)  # what a bettor loses of its wealth on a value of 0
_START = (1.0,) * len(_STAKES)
_RICHEST = 1e300


@dataclass(frozen=True, slots=True)
class Watch:
    """How far a watch has come; start with `Watch(limit)`, go on with `observe`.

    `wealths` are of bettors from the start on, `highest` is the most their mean ever was. `alarms` are of bettors who
    begin anew whenever they hold less than the stake: the e-CUSUM of Shin, Ramdas and Rinaldo (2024). Of each of these
    `begun` says after how many values it did so last, and `totals` is the sum of the values since.
    """

    limit: float
    seen: int = 0
    wealths: tuple[float, ...] = _START
    alarms: tuple[float, ...] = _START
    highest: float = 1.0
    begun: tuple[int, ...] = (0,) * len(_STAKES)
    totals: tuple[float, ...] = (0.0,) * len(_STAKES)

    def __post_init__(self) -> None:
        share(self.limit, "limit")

    def is_above(self, alpha: float = 0.05) -> bool:
        """Whether the mean was shown to be above the limit from the start, wrongly with probability at most `alpha`."""
        return self.highest >= 1 / share(alpha, "alpha")

    def has_risen(self, values_between_false_alarms: float) -> bool:
        """Whether the mean rose above the limit at some time, now or before.

        While it never does, this is so for the first time after that many values or more, on average; mostly many more.
        """
        if not values_between_false_alarms >= 1:
            raise ValueError(f"values between false alarms must be at least 1, not {values_between_false_alarms:g}")
        return sum(self.alarms) / len(self.alarms) >= values_between_false_alarms

    @property
    def leader(self) -> int:
        """Which bettor holds the most: with its stake the rise pays best, so it has been betting since about then."""
        return max(range(len(self.alarms)), key=self.alarms.__getitem__)


def observe(watch: Watch, values: ArrayLike) -> Watch:
    """Return the watch after these values within [0, 1], in order of time; the one given is unchanged.

    Look at `has_risen` after each value or few: an alarm fades when the values fall again.
    """
    row = column(values, "values", 0, 1).tolist()
    wealths, alarms, highest = list(watch.wealths), list(watch.alarms), watch.highest
    begun, totals = list(watch.begun), list(watch.totals)
    for at, value in enumerate(row, start=watch.seen):
        gain = value / watch.limit - 1
        factors = [1 + stake * gain for stake in _STAKES]
        wealths = [min(_RICHEST, held * factor) for held, factor in zip(wealths, factors, strict=True)]
        for bettor, held in enumerate(alarms):
            if held <= 1:
                begun[bettor], totals[bettor] = at, 0.0
            totals[bettor] += value
        alarms = [min(_RICHEST, max(1.0, held) * factor) for held, factor in zip(alarms, factors, strict=True)]
        highest = max(highest, sum(wealths) / len(wealths))
    return replace(
        watch,
        seen=watch.seen + len(row),
        wealths=tuple(wealths),
        alarms=tuple(alarms),
        highest=highest,
        begun=tuple(begun),
        totals=tuple(totals),
    )
