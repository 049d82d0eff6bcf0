"""Text under test, made safe to show.

Answers, passages, ids and tags come from outside. Printed raw they could move the cursor, recolour or
erase lines (ANSI escapes), reorder what is read (bidirectional controls), forge a line of a log (line
breaks) or hide text (invisible characters). Here such characters are shown as escapes instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_JOINERS = "\u200c\u200d"  # part of spelling in several scripts, and of emoji
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` on one line with nothing in it that acts; runs of white space become one space.

    With `limit`, at most that many characters of the given text are shown, and "…" says so.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit].rstrip() + "…"
    joined = " ".join(text.split())
    if joined.isprintable():
        return joined
    return "".join(character if _harmless(character) else escaped(character) for character in joined)


def escaped(character: str) -> str:
    """Return a character's escape the way Python writes it, its code in hexadecimal."""
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _harmless(character: str) -> bool:
    return character.isprintable() or character in _JOINERS


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Write JSON that is readable in every script and cannot act on a terminal. Refuses NaN and infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # Outside of strings JSON is plain ASCII, so whatever is found here stands inside one.
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def json_lines(values: Iterator[Any]) -> Iterator[str]:
    """Write one JSON value per line."""
    for value in values:
        yield json_text(value) + "\n"
