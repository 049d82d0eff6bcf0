"""Cells of any origin as plain values, and plain values as the text, the passages or the tags that a field needs.

`RowError` is how one row says that it cannot be used; the reader turns it into a `BadRow`.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from everyclaim.core.types import Passage, Tag, tag_values
from everyclaim.io.fields import listed

T = TypeVar("T")

_TEXT_KEYS = ("text", "page_content", "content", "body")  # of a passage
_METADATA_KEYS = ("metadata", "meta")
_PLAIN = (str, int, list, dict)
_PYTHON_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
_PYTHON_LIST = re.compile(rf"\[\s*(?:{_PYTHON_STRING})(?:(?:\s*,\s*|\s+)(?:{_PYTHON_STRING}))*\s*,?\s*\]", re.DOTALL)
_PYTHON_ITEM = re.compile(_PYTHON_STRING, re.DOTALL)
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
            raise RowError(f"contains bytes that are not UTF-8 (at byte {error.start})") from None
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
        try:
            return str(value)
        except ValueError:  # Python refuses to print integers of thousands of digits
            raise RowError("is a number with thousands of digits") from None
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
            raise RowError("starts like a list but is not valid JSON; was the cell cut off?") from None
        return found
    if isinstance(found, Mapping):
        return found
    is_list_of_cells = all(isinstance(item, (str, Mapping)) or item is None for item in found)
    return found if is_list_of_cells else None  # "[1]" is a citation, not a list


def _python_strings(text: str) -> list[str] | None:
    """Read ``['a', 'b']`` as pandas writes lists, and ``['a' 'b']`` as numpy does."""
    if not _PYTHON_LIST.fullmatch(text.strip()):
        return None
    try:
        return [literal_eval(item[0]) for item in _PYTHON_ITEM.finditer(text)]
    except (ValueError, SyntaxError):
        return None


def named(name: str, convert: Callable[[Any], T], value: Any) -> T:
    """Convert a cell; a `RowError` from it gets the field's name in front."""
    try:
        return convert(value)
    except RowError as error:
        raise RowError(f"{name} {error}") from None


def row_mapping(row: Any) -> Mapping[Any, Any] | None:
    """Return one row as a mapping: itself, a named tuple, a dataclass, a pandas Series, a pydantic model; else None."""
    if isinstance(row, Mapping):
        return row
    if isinstance(row, type):
        return None
    for method in ("_asdict", "model_dump", "to_dict"):
        if callable(convert := getattr(row, method, None)):
            made = convert()
            return made if isinstance(made, Mapping) else None
    return {part.name: getattr(row, part.name) for part in fields(row)} if is_dataclass(row) else None


def passage_of(place: int, item: Any) -> Passage:
    """Make the passage at this place, counted from 1. Raises `RowError` saying why it cannot be one."""
    if isinstance(item, str):
        return Passage(f"p{place}", item)
    if (held := row_mapping(item)) is None:
        raise RowError(f"passage {place} is {kind(item)}, not text or an object with a text")
    item = held
    text = named(f"passage {place}", plain, first_of(item, _TEXT_KEYS))
    if not isinstance(text, str):
        raise RowError(f"passage {place} has no text (its fields: {listed(item, 10)})")
    metadata: Mapping[str, Any] = next((item[key] for key in _METADATA_KEYS if isinstance(item.get(key), Mapping)), {})
    identifier, title = first_of(item, ("id",)), first_of(item, ("title",))
    identifier = first_of(metadata, ("id", "source")) if identifier is None else identifier
    title = metadata.get("title") if title is None else title
    return Passage(
        id=named(f"the id of passage {place}", as_scalar_text, identifier) or f"p{place}",
        text=text,
        title=named(f"the title of passage {place}", as_scalar_text, title) or "",
        kind=named(f"the kind of passage {place}", as_scalar_text, item.get("kind")) or "",
    )


def first_of(item: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Return what an object has under the first of these keys that holds something; None where none does."""
    return next((item[key] for key in keys if item.get(key) is not None), None)


def holds_passages(held: Any) -> bool:
    """Whether a list found in text is one of passages, and not itself the passage (a price list as JSON)."""
    items = held if isinstance(held, list) else [held]
    return all(not isinstance(item, Mapping) or any(key in item for key in _TEXT_KEYS) for item in items)


def objects_of_columns(value: Mapping[str, Any]) -> list[Any]:
    """Read an object of lists (``{"id": [...], "text": [...]}``) as a list of objects, one object as a list of it."""
    columns = {key: plain(cells) for key, cells in value.items()}
    lengths = {len(cells) for cells in columns.values() if isinstance(cells, list)}
    if not any(isinstance(columns.get(key), list) for key in _TEXT_KEYS):
        return [value]
    if len(lengths) > 1:
        raise RowError("contexts is an object of lists of different lengths")
    lists = {key: cells for key, cells in columns.items() if isinstance(cells, list)}
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def tags_of(value: Any) -> dict[str, Tag]:
    """Make tags of an object, of a list of names, or of text (a JSON object, or ``a, b=c``).

    A list of texts, numbers or truth values, also as a CSV cell holds it, is a tag with several values.
    """
    value = plain(value)
    if isinstance(value, str):
        held = list_in_text(value)
        value = [part.strip() for part in value.replace(";", ",").split(",")] if held is None else held
    if value is None:
        return {}
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        pairs = [_pair(plain(item)) for item in value if item is not None]
    else:
        raise RowError(f"is {kind(value)}, not an object or a list")
    tags: dict[str, Tag] = {}
    for key, item in pairs:
        name, tag = str(key), tag_value(item)
        if name and tag is not None:
            known = tag_values(tags.get(name, ()))
            tags[name] = tuple(dict.fromkeys((*known, *tag_values(tag)))) if known else tag  # `a=x, a=y`
    return tags


def _pair(item: Any) -> tuple[str, Any]:
    if isinstance(item, str):
        name, equals, value = item.partition("=")
        return (name.strip(), value.strip()) if equals else (item, "true")
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):  # how Arrow gives maps
        return item[0], item[1]
    raise RowError(f"contains {kind(item)} instead of a name")


def tag_value(value: Any) -> Tag | None:
    """Make one tag of a cell; None where there is nothing in it."""
    value = plain(value)
    if isinstance(value, str):
        values = _texts_in(value)
        return value if values is None else values or None
    if isinstance(value, list):
        items = [plain(item) for item in value]
        if any(isinstance(item, (list, Mapping)) for item in items):
            return as_json_text(value)
        return tuple(dict.fromkeys(text for item in items if (text := as_scalar_text(item)) is not None)) or None
    return as_json_text(value) if isinstance(value, Mapping) else as_scalar_text(value)


def _texts_in(text: str) -> tuple[str, ...] | None:
    """Return the texts of a list that a cell of text holds, each once; None when it holds no such list."""
    try:
        held = list_in_text(text)
    except RowError:  # it only begins like one
        return None
    is_list_of_texts = isinstance(held, list) and all(isinstance(item, str) for item in held)
    return tuple(dict.fromkeys(held)) if held is not None and is_list_of_texts else None
