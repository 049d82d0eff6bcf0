"""Passages of whatever a cell holds: texts, objects with a text, an object of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everyclaim.core.types import Passage
from everyclaim.io.fields import listed
from everyclaim.io.values import RowError, as_scalar_text, kind, named, plain

_TEXT_KEYS = ("text", "page_content", "content", "body")
_METADATA_KEYS = ("metadata", "meta")


def passage_of(place: int, item: Any) -> Passage:
    """Make the passage at this place, counted from 1. Raises `RowError` saying why it cannot be one."""
    if isinstance(item, str):
        return Passage(f"p{place}", item)
    if not isinstance(item, Mapping):
        raise RowError(f"passage {place} is {kind(item)}, not text or an object with a text")
    text = next((item[key] for key in _TEXT_KEYS if item.get(key) is not None), None)
    text = named(f"passage {place}", plain, text)
    if not isinstance(text, str):
        raise RowError(f"passage {place} has no text (its fields: {listed(item, 10)})")
    metadata: Mapping[str, Any] = next((item[key] for key in _METADATA_KEYS if isinstance(item.get(key), Mapping)), {})
    identifier = next(
        (value for value in (item.get("id"), metadata.get("id"), metadata.get("source")) if value is not None), None
    )
    title = item.get("title") if item.get("title") is not None else metadata.get("title")
    return Passage(
        id=named(f"the id of passage {place}", as_scalar_text, identifier) or f"p{place}",
        text=text,
        title=named(f"the title of passage {place}", as_scalar_text, title) or "",
    )


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
