"""Cells of any origin as plain values, and plain values as the text a field needs.

`RowError` is how one row says that it cannot be used; the reader turns it into a `BadRow`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_PLAIN = (str, int, list, dict)
_PYTHON_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
_PYTHON_LIST = re.compile(rf"\[\s*(?:{_PYTHON_STRING})(?:(?:\s*,\s*|\s+)(?:{_PYTHON_STRING}))*\s*,?\s*\]", re.DOTALL)
_PYTHON_ITEM = re.compile(_PYTHON_STRING, re.DOTALL)
_PYTHON_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_LIST_START = re.compile(r"""\s*\[\s*["'{]""")


class RowError(Exception):
    """This row cannot be used; the message says why."""


def plain(value: Any) -> Any:
    """Turn one cell into str, int, float, bool, None, list or mapping. NaN and its kin become None.

    Knows the values of numpy, pandas, polars and pyarrow by their methods, without importing them.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 - the test for NaN
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise RowError(f"holds bytes that are not UTF-8 (at byte {error.start})") from None
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    for method in ("isoformat", "tolist", "to_list", "as_py"):
        convert = getattr(value, method, None)
        if callable(convert):
            return plain(convert())
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


def kind(value: Any) -> str:
    """Name a value's kind the way a person would: "a number", "a list of objects"."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)) or type(value).__name__ == "Decimal":
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return f"a {type(value).__name__}"


def as_scalar_text(value: Any) -> str | None:
    """Turn a text, number, truth value or null into text or None. Raises `RowError` for anything else."""
    value = plain(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer_text(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
    if isinstance(value, (list, Mapping)):
        raise RowError(f"is {kind(value)}, not text")
    return str(value)


def as_json_text(value: Any) -> str:
    """Write a nested value as JSON text. Raises `RowError` when it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError, TypeError):
        raise RowError("is nested too deeply or cannot be written as text") from None


def list_in_text(text: str) -> Any | None:
    """Return the list or object that a text cell holds as JSON or as Python prints lists of strings.

    None when the text is just text. Raises `RowError` when it begins as a list and breaks off,
    which is how spreadsheets cut long cells.
    """
    start = text.lstrip()[:1]
    if start not in {"[", "{"}:
        return None
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        found = _python_strings(text)
        if found is None and _LIST_START.match(text):
            raise RowError("begins like a list but is not valid JSON; was the cell cut off?") from None
        return found
    if isinstance(found, Mapping):
        return found
    is_list_of_cells = all(isinstance(item, (str, Mapping)) or item is None for item in found)
    return found if is_list_of_cells else None  # "[1]" is a citation, not a list


def _python_strings(text: str) -> list[str] | None:
    """Read ``['a', 'b']`` as pandas writes lists, and ``['a' 'b']`` as numpy does."""
    if not _PYTHON_LIST.fullmatch(text.strip()):
        return None
    return [_PYTHON_ESCAPE.sub(_unescape, item[0][1:-1]) for item in _PYTHON_ITEM.finditer(text)]


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else match[0]
    return _ESCAPED.get(code, code)


def _integer_text(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        raise RowError("is a number with thousands of digits") from None


def named(name: str, convert: Callable[[Any], T], value: Any) -> T:
    """Convert a cell; a `RowError` from it gets the field's name in front."""
    try:
        return convert(value)
    except RowError as error:
        raise RowError(f"{name} {error}") from None
