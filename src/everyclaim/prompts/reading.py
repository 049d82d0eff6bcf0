"""Reading replies strictly: a field is there and of its type, or the reply is a fault that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everyclaim.core.errors import JudgeError


def bad_reply(why: str) -> JudgeError:
    """Make the error for a reply that is JSON but not what was asked for."""
    return JudgeError("bad_reply", f"the reply does not have the form asked for: {why}")


def rows(reply: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list at the top of a reply. Raises `JudgeError`."""
    value = reply.get(name)
    if not isinstance(value, list):
        raise bad_reply(f"{name!r} is not a list but {shown(value)}")
    return value


def by_id(found: Sequence[Any], asked: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Sort a reply's rows by the ids they answer to. A row that is no object or an id that comes twice is left out.

    Raises `JudgeError` for ids that were never given: such a reply does not speak of what was asked.
    """
    named = [(row["id"], row) for row in found if isinstance(row, Mapping) and isinstance(row.get("id"), str)]
    seen = Counter(row_id for row_id, _ in named)
    if unknown := sorted(seen.keys() - set(asked)):
        raise bad_reply(f"it answers for {shown(unknown[0])}, which was not asked")
    return {row_id: row for row_id, row in named if seen[row_id] == 1}


def text(row: Mapping[str, Any], name: str) -> str | None:
    """Return a text field, stripped; None when it is missing or not a text."""
    value = row.get(name)
    return value.strip() if isinstance(value, str) else None


def word(row: Mapping[str, Any], name: str, words: Iterable[str]) -> str | None:
    """Return a field that holds one of these words, in whatever case; None when it holds anything else."""
    given = (text(row, name) or "").casefold()
    return next((one for one in words if one.casefold() == given), None)


def shown(value: Any) -> str:
    """Show a value of a reply in a message, shortened."""
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:57]}..."


def closed(title: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object in the form that strict modes take: closed, everything required, in order."""
    schema: dict[str, Any] = {"title": title} if title else {}
    return schema | {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def listed(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(items)}


def one_of(values: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a text that is one of these."""
    return {"type": "string", "enum": list(values)}


TEXT: Mapping[str, Any] = {"type": "string"}
