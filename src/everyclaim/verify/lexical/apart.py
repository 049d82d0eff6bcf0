"""By how much one value is more than another: "40 km longer", "20 % cheaper", "23 years older"."""

from __future__ import annotations

from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.dates import Moment
from everyclaim.text.quantities import Quantity
from everyclaim.text.units import UNITS

_YEAR = UNITS["year"].factor


def is_apart(amount: Quantity, one: Fact, other: Fact) -> bool | None:
    """Say whether one value lies an amount away from another, as closely as the amount is stated; None where open.

    A percentage is one of the other value. Of two percentages it may also be meant in points: then only that it fits is
    said, and never that it does not.
    """
    found = [relation(amount, each) for each in _distances(amount, one, other)]
    if any(each in AGREES for each in found):
        return True
    return False if found == ["differs"] else None


def _distances(amount: Quantity, one: Fact, other: Fact) -> list[Quantity]:
    """Give how far apart two values are, in each way that the amount may mean."""
    if isinstance(one, Moment) or isinstance(other, Moment):
        if not isinstance(one, Moment) or not isinstance(other, Moment) or one.year is None or other.year is None:
            return []
        if one.month or other.month or one.years != 1 or other.years != 1:
            return []
        years = abs(one.year - other.year) * _YEAR
        return [amount._replace(low=years, high=years, step=_YEAR, approximate=False)]
    if one.low != one.high or other.low != other.high or one.dimension != other.dimension:
        return []
    between = abs(one.low - other.low)
    step = max(one.step, other.step)
    found = []
    if amount.dimension == one.dimension:
        found.append(one._replace(low=between, high=between, step=step, tolerance=0.0, others=()))
    if amount.dimension == "percentage_point" and one.dimension == "percent":
        found.append(amount._replace(low=between, high=between, step=step, approximate=False))
    if amount.dimension == "percent" and other.low:
        share = 100 * between / abs(other.low)
        found.append(amount._replace(low=share, high=share, step=0.0, approximate=False))
    return found
