"""What a request asks for, read as a row of a file is, but that a name which means nothing is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everyclaim.core.nearest import did_you_mean
from everyclaim.io.fields import Fields, shown
from everyclaim.web.service.problems import Problem
from everyclaim.web.service.schemas import NAMES, REQUESTS

_FIELDS = {kind: Fields({name: NAMES[name] for name in names}) for kind, names in REQUESTS.items()}


def fields_of(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request by our names, None where they are not given.

    Raises `Problem` for a name that is none of them, for two names of one field, and where the first is missing.
    """
    fields = _FIELDS[kind]
    known = [name for ours in REQUESTS[kind] for name in NAMES[ours]]
    for name in row:
        if not fields.wanted([name]):
            raise Problem(
                "bad-input",
                f"{kind} has no field {shown(name)}{did_you_mean(name, known)} (it takes {', '.join(REQUESTS[kind])})",
            )
    for used, ignored in fields.rivals(row):
        raise Problem("bad-input", f"{shown(used)} and {shown(ignored)} are names of one field: keep one")
    found = {ours: fields.get(row, ours) for ours in REQUESTS[kind]}
    needed = REQUESTS[kind][0]
    if found[needed] is None:
        raise Problem("bad-input", f"{kind} needs {needed!r} ({', '.join(NAMES[needed])})")
    return found


def text_of(kind: str, name: str, value: Any) -> str:
    """Return a field that is a text, empty where it is not given. Raises `Problem` for what is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Problem("bad-input", f"{name} of {kind} must be a text, got {_kind(value)}")
    return value


def texts_of(kind: str, name: str, value: Any) -> Sequence[str]:
    """Return a field that is a list of texts, or one text. Raises `Problem` for what is neither."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise Problem("bad-input", f"{name} of {kind} must be a text or a list of texts, got {_kind(value)}")
    return texts


def options_of(
    given: Sequence[tuple[str, str]], known: Sequence[str], repeatable: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the query of an address says; of what may be repeated a list.

    Raises `Problem` for a name that means nothing here, and for one that is given twice.
    """
    found: dict[str, Any] = {name: [] for name in repeatable}
    for name, value in given:
        if name in repeatable:
            found[name].append(value)
        elif name not in known:
            meant = did_you_mean(name, [*known, *repeatable])
            takes = ", ".join([*known, *repeatable]) or "none"
            raise Problem("bad-input", f"there is no parameter {shown(name)} here{meant} (it takes {takes})")
        elif name in found:
            raise Problem("bad-input", f"the parameter {name} is given twice")
        else:
            found[name] = value
    return found


def whole_number(name: str, text: str | None, usual: int, least: int, most: int) -> int:
    """Return a parameter that is a whole number. Raises `Problem` for what is none, or out of range."""
    if text is None:
        return usual
    plain = text.removeprefix("-")
    if not plain.isascii() or not plain.isdecimal() or len(plain) > 18 or not least <= int(text) <= most:
        raise Problem("bad-input", f"{name} must be a whole number from {least} to {most}, got {shown(text)}")
    return int(text)


def _kind(value: Any) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something else")
