"""How values of the core show themselves in a notebook: as a room above writes them, which the core does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WRITERS: dict[type, Callable[[Any], str]] = {}


def shows_as(kind: type, writer: Callable[[Any], str]) -> None:
    """Let values of a type be written as HTML by this function."""
    _WRITERS[kind] = writer


def html_of(value: object) -> str | None:
    """Write a value as HTML; None, so that a notebook prints it, where nobody has said how."""
    writer = _WRITERS.get(type(value))
    return writer(value) if writer else None
