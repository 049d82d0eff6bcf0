r"""Records (JSON, or a Python literal of the same shape) as short sentences that know where they stand.

    {"hours": {"Monday": "9:0-17:0"}, "attributes": {"OutdoorSeating": true, "DogsAllowed": false, "WiFi": null}}

reads as

    Hours, Monday: 9:00–17:00
    Outdoor seating: yes
    Dogs allowed: no
    WiFi: not given

so that what reads sentences can read a record, and can point at one field of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.text.numerals import UNITS
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import capital

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>"[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*')
      | (?P<atom>-?\d[\d.]*(?:[eE][+-]?\d+)? | [Tt]rue | [Ff]alse | null | None | NaN)
      | (?P<mark>[{}\[\]:,])
    )""",
    re.VERBOSE | re.DOTALL,
)
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-.\s]+")
_SHORT_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):(\d)(?![\d:])")  # 20:0
_JOINED = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)+")  # in_transit, PAST_DUE
_CLOCKS = re.compile(r"(\d:\d\d)-(?=\d{1,2}:\d\d)")
_SPOKEN = {"true": "yes", "false": "no", "null": "not given", "none": "not given", "nan": "not given"}
_CONTAINERS = frozenset({"attributes", "properties", "fields", "data", "details", "items", "records", "results"})
_SCALES = frozenset({"thousand", "million", "billion", "trillion"})
_UNIT_WORDS = _SCALES | UNITS.keys()
_DEGREES = {"c": "°C", "f": "°F", "k": "K"}
_EMPTY = ('""', "''")
_LONG = 90  # characters of a value from which on it is prose
_LONGEST_KEY = 200  # characters; every field repeats its keys, so what has a longer one is read as plain text
_DEEPEST = 40  # levels of nesting; what is deeper is read as plain text


Rows = tuple[tuple[int, int], ...]


class RecordField(NamedTuple):
    """One field in words, and where it stands in the record: ``record[start:end]``, name and value.

    `rows` are the records of lists that it belongs to, the outermost first: where the list opens (-1: records one after
    another), and the number of the record.
    """

    text: str
    start: int
    end: int
    rows: Rows = ()


@dataclass(slots=True)
class _RecordLevel:
    """An open object or list."""

    opener: str
    name: str  # the key it stands under, in words
    start: int  # where that key stands
    rows: Rows = ()  # see Field
    unit: str = ""  # of the numbers under it, where the key names one
    items: int = 0  # objects and lists in it so far
    key: str = ""
    key_start: int = 0
    values: list[tuple[str, int, int]] = field(default_factory=list)  # of a list of plain values


@remembered(8_000_000, lambda found, text: getsizeof(text) + sum(getsizeof(one.text) + 150 for one in found or ()))
def fields(text: str) -> tuple[RecordField, ...] | None:
    """Take a record apart into its fields, in order; None when the text is not one record after another."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = tuple(_walk(text))
    except ValueError:
        return None
    return found if any(":" in text[it.start : it.end] for it in found) else None


def _walk(text: str) -> Iterator[RecordField]:
    levels: list[_RecordLevel] = []
    wants = "value"  # value, key, colon, next
    position, end, records = 0, len(text.rstrip()), 0
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(position)
        start, position = token.start(token.lastgroup or 0), token.end()
        mark = token["mark"]
        top = levels[-1] if levels else None
        if mark in ("}", "]"):
            if top is None or (top.opener == "{") != (mark == "}") or wants == "colon":
                raise ValueError(position)
            levels.pop()
            yield from _listed(top, position)
            wants = "next" if levels else "value"
        elif mark == ",":
            if wants != "next" or top is None:
                raise ValueError(position)
            wants = "key" if top.opener == "{" else "value"
        elif mark == ":":
            if wants != "colon":
                raise ValueError(position)
            wants = "value"
        elif mark is not None:  # opens an object or a list
            if wants != "value" or len(levels) >= _DEEPEST:
                raise ValueError(position)
            records += top is None
            levels.append(_opened(mark, top, start, records))
            wants = "key" if mark == "{" else "value"
        elif wants == "key" and token["string"] and top is not None:
            top.key, top.key_start, wants = _decoded(token["string"]), start, "colon"
        elif wants == "value" and top is not None:
            if top.opener == "{":
                yield from _field(top, token)
            else:
                top.values.append((_value(token), start, position))
            wants = "next"
        else:
            raise ValueError(position)
    if levels:
        raise ValueError(position)


def _opened(mark: str, top: _RecordLevel | None, start: int, records: int) -> _RecordLevel:
    """Open an object or list under the key it belongs to; names of mere containers say nothing."""
    if top is None:
        return _RecordLevel(mark, "", start, ((-1, records),))
    top.items += 1
    if top.opener == "[":
        return _RecordLevel(mark, "" if mark == "{" else top.name, start, (*top.rows, (top.start, top.items)))
    name, unit = _measured(_words(top.key))
    return _RecordLevel(mark, "" if name.casefold() in _CONTAINERS else name, top.key_start, top.rows, unit)


def _listed(level: _RecordLevel, end: int) -> Iterator[RecordField]:
    """Say a list of plain values in one sentence; of an empty one, that there is none."""
    if level.opener == "[" and level.name and not level.items and not level.values:
        yield RecordField(_sentence(level.name, "none"), level.start, end, level.rows)
    elif level.values:
        said = ", ".join(value for value, _, _ in level.values)
        start = level.start if level.name else level.values[0][1]
        yield RecordField(_sentence(level.name, said), start, end, level.rows)


def _field(level: _RecordLevel, token: re.Match[str]) -> Iterator[RecordField]:
    """Say a field in one sentence; prose sentence by sentence, each with its own place."""
    raw, name = token["string"], _words(level.key)
    if raw is None or len(raw) < _LONG:
        said = _value(token)
        if raw is None and said[-1].isdigit():
            name, unit = _measured(name)
            said = f"{said} {unit or level.unit}".rstrip()
        path = _path(level.name, name)
        if path or raw not in _EMPTY:
            yield RecordField(_sentence(path, said), level.key_start, token.end(), level.rows)
        return
    name = _path(level.name, name)
    opens = token.start("string")
    for number, (low, high) in enumerate(sentence_spans(raw[1:-1].replace("\\n", "\n\n"))):
        said = " ".join(_decoded(f'"{raw[1 + low : 1 + high]}"').split())
        if said:
            yield RecordField(_sentence("" if number else name, said), opens + 1 + low, opens + 1 + high, level.rows)


def _sentence(name: str, said: str) -> str:
    return capital(f"{name}: {said}" if name else said)


def _path(parent: str, name: str) -> str:
    return ", ".join(filter(None, (parent, name)))


def _measured(name: str) -> tuple[str, str]:
    """Take the unit off a name that ends in one: ``weight kg`` counts kilograms. A name that is a unit stays.

    ``gdp usd billion`` counts billions of dollars, ``temperature c`` degrees.
    """
    words = name.split(" ")
    at = len(words)
    if at > 1 and words[-1].casefold() in _DEGREES and any(word.casefold().startswith("temp") for word in words):
        return " ".join(words[:-1]), _DEGREES[words[-1].casefold()]
    while at > 1 and words[at - 1].casefold() in _UNIT_WORDS:
        at -= 1
    units = sorted(words[at:], key=lambda word: word.casefold() not in _SCALES)  # "billion usd"
    return " ".join(words[:at]), " ".join(units)


def _words(key: str) -> str:
    """Say a key in words: ``RestaurantsTakeOut`` and ``take_out`` hold no spaces, their readers do."""
    if len(key) > _LONGEST_KEY:
        raise ValueError(key[:_LONGEST_KEY])
    parts = [part for part in _HUMP.split(key) if part]
    if all(len(part) <= 2 for part in parts):  # WiFi, HiFi
        return "".join(parts)
    return " ".join(part if part.isupper() or len(parts) == 1 else part[:1].lower() + part[1:] for part in parts)


def _value(token: re.Match[str]) -> str:
    raw = token["string"]
    if raw is None:
        atom = token["atom"]
        return _SPOKEN.get(atom.lower(), atom)
    said = " ".join(_decoded(raw).split()) or _SPOKEN["null"]
    if _JOINED.fullmatch(said):
        said = (said.lower() if said.isupper() else said).replace("_", " ")
    return _CLOCKS.sub(r"\1–", _SHORT_CLOCK.sub(r"\1:0\2", said))


def _decoded(raw: str) -> str:
    """Undo the escapes of a quoted string; one that is odd stays as it is."""
    if raw[0] == "'":
        return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), raw[1:-1])
    try:
        text: str = json.loads(raw, strict=False)
    except ValueError:
        return raw[1:-1]
    return text
