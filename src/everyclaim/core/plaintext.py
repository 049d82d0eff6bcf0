"""Plain lines for people: text under test made safe to show, shortened, and wrapped.

Answers, passages, ids and tags come from outside. Printed raw they could move the cursor, recolour or
erase lines (ANSI escapes), reorder what is read (bidirectional controls), forge a line of a log (line
breaks) or hide text (invisible characters). Here such characters are shown as escapes instead.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

WIDTH = 80
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)")
_JOINERS = "\u200c\u200d"  # part of spelling in several scripts, and of emoji


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


def wrapped(text: str, indent: int = 0) -> str:
    """Lay one line out over as many as it needs, at most 80 characters wide; further ones stand two further in.

    A longer word, such as an address, is not broken.
    """
    first, further = " " * indent, " " * (indent + 2)
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=further, break_long_words=False, break_on_hyphens=False
    )


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun: 1 claim, 2 claims, 1,200 claims."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def whole(text: str, blank: str = "\u00a0") -> str:
    """Keep the numbers of a sentence of ours with their per cent sign, by a blank at which no line is broken."""
    return _BEFORE_SIGN.sub(blank, text)


def words(name: str) -> str:
    """Write an identifier of ours as words: numeric_mismatch → numeric mismatch."""
    return name.replace("_", " ")


def metric_title(spec: str) -> str:
    """Write a metric as a title: its name without options; of ``python:module:name`` the name alone."""
    return words(spec.partition("?")[0].rpartition(":")[2])


def number(value: float | None) -> str:
    """Write a score with three digits, or that there is none."""
    return "undefined" if value is None else f"{value:.3f}"


def quoted(place: str, text: str) -> str:
    """Write what stands somewhere, shortened."""
    return f"{one_line(place, 60)} «{one_line(text, 240)}»"


def listed(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first lines, and one that counts the rest."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {counted(more, f'more {noun}')}"] if more > 0 else [])]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Write JSON that is readable in every script and cannot act on a terminal. Refuses NaN and infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # Outside of strings JSON is plain ASCII, so whatever is found here stands inside one.
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
