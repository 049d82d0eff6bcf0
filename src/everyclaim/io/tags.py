"""Tags of whatever a cell holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from everyclaim.core.types import Tag, tag_values
from everyclaim.io.values import RowError, as_json_text, as_scalar_text, kind, list_in_text, plain


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
    raise RowError(f"holds {kind(item)} where a name was expected")


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
