"""Units of measurement and currencies, from `units.txt`: what people write, and what it is worth in a base unit.

Base units: second, metre, gram, litre, square metre, metre per second, byte, joule, watt, degree Celsius, hertz,
volt, pascal, percent; a currency's own unit for money.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: ``base = value * factor + shift``. `system` tells units that convert exactly from those that do not.

    `other` is a second factor where the same word means two things, as a British and an American pint; 0 for none.
    """

    name: str
    dimension: str
    factor: float
    system: str = ""
    shift: float = 0.0
    other: float = 0.0


def _rows() -> list[list[str]]:
    table = files("everyclaim.text").joinpath("units.txt").read_text("utf-8").replace("\n+", "")
    return [row.split() for row in table.splitlines() if row and not row.startswith("#")]


def _read_table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, system, name, factors, *written in (row for row in _rows() if row[0] != "sign"):
        factor, _, other = factors.partition("/")
        unit = Unit(name, dimension, float(factor), system, other=float(other or 0.0))
        for form in written:
            units[form.replace("_", " ")] = unit
    celsius = Unit("celsius", "temperature", 1.0, "celsius")
    fahrenheit = Unit("fahrenheit", "temperature", 5 / 9, "fahrenheit", -160 / 9)
    kelvin = Unit("kelvin", "temperature", 1.0, "kelvin", -273.15)
    degree = Unit("degree", "temperature", 1.0, "degree")
    for letter, word, unit in (("c", "celsius", celsius), ("f", "fahrenheit", fahrenheit), ("k", "kelvin", kelvin)):
        for sign in ("°", "° ", "degrees ", "degree ", "deg ", "º", "º "):
            units[sign + letter] = unit
            units[sign + word] = unit
        units[word] = unit
    units["degrees centigrade"] = units["centigrade"] = celsius
    for form in ("°", "º", "degree", "degrees", "deg"):
        units[form] = degree
    return units


UNITS: dict[str, Unit] = _read_table()
"""Unit by what is written, in lower case, words joined by one space."""

CURRENCY_SIGNS: dict[str, str] = {sign: row[1] for row in _rows() if row[0] == "sign" for sign in row[2:]}


DOLLARS = frozenset(f"money:{code}" for code in ("USD", "CAD", "AUD", "NZD", "HKD", "SGD"))
"""Dimensions that a bare "$" may mean."""


def is_unit_word(word: str) -> bool:
    """Say whether a lower-case word by itself is a unit, such as "km" or "minutes"."""
    return word in UNITS
