"""JSON Lines: one object per line, every line on its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from everyclaim.core.limits import MB
from everyclaim.io.faults import BadRow
from everyclaim.io.files import STREAM_ERRORS, TextSource, stream_fault

_PIECE = 1 << 18  # bytes of a line that is passed over, read at once


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object. Raises `ValueError` for a key that appears twice: which of its values is meant nobody knows."""
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = Counter(name for name, _ in pairs)
        raise _RepeatedKeyError(seen.most_common(1)[0][0])
    return made


class _RepeatedKeyError(ValueError):
    pass


# Control characters inside strings are data.
DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)


class RawRow(NamedTuple):
    """A row as the file has it. `number` is its line or row number, from 1."""

    number: int
    values: Mapping[str, Any]


def read_jsonl(source: TextSource, limit: int) -> Iterator[RawRow | BadRow]:
    """Yield the object of every line that is not blank, or why the line holds none.

    A line of more than `limit` bytes is passed over, and never in memory as a whole.
    """
    number = 0
    with source.open() as stream:
        try:
            while line := stream.readline(limit + 1):
                number += 1
                if len(line) > limit and not line.endswith(b"\n"):
                    del line
                    _pass_line(stream)
                    yield BadRow(number, row_too_large(limit))
                elif not line.isspace():
                    yield parse_line(number, line)
        except STREAM_ERRORS as error:
            yield BadRow(number + 1, f"{stream_fault(error)}; the rest could not be read", rest_lost=True)


def _pass_line(stream: BinaryIO) -> None:
    """Read to the end of a line."""
    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass


def row_too_large(limit: int) -> str:
    """Say that a row is larger than it may be."""
    return f"the row is larger than max_row_mb={limit / MB:g}"


def as_row(number: int, value: Any, unit: Any = "line") -> RawRow | BadRow:
    """Make a row of a decoded JSON value."""
    if isinstance(value, dict):
        return RawRow(number, value)
    return BadRow(number, f"expected an object, found {type_name(value)}", unit)


def type_name(value: Any) -> str:
    """Name the JSON type of a decoded value."""
    names = {str: "a string", bool: "true or false", list: "an array", type(None): "null"}
    return names.get(type(value), "a number")


def json_fault(error: ValueError | RecursionError) -> str:
    """Say in words why a text is not a JSON value."""
    if isinstance(error, _RepeatedKeyError):
        return f"the key {str(error)[:60]!r} appears twice in one object"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}"
    return "contains a number with thousands of digits"


def parse_line(number: int, line: bytes) -> RawRow | BadRow:
    """Return the object that a line holds, or why it holds none."""
    try:
        return as_row(number, DECODER.decode(line.decode().rstrip("\r\n")))
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return BadRow(number, f"not valid UTF-8: byte 0x{byte:02x} at byte {error.start + 1} of the line")
    except (ValueError, RecursionError) as error:
        return BadRow(number, json_fault(error) + ("" if line.endswith(b"\n") else "; is the file cut off?"))
