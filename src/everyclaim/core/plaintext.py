"""What people read: text made safe to show, shortened and wrapped, without secrets; the right name for a wrong one.

Answers, passages, ids and tags come from outside. Printed raw they could move the cursor, recolour or
erase lines (ANSI escapes), reorder what is read (bidirectional controls), forge a line of a log (line
breaks) or hide text (invisible characters). Here such characters are shown as escapes instead.

Whoever has a secret names the option that holds it, and never its value. `hidden` is the net below that: every
error's message goes through it.
"""

from __future__ import annotations

import difflib
import json
import re
import textwrap
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from typing import Any

WIDTH = 80
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)")
_JOINERS = "\u200c\u200d"  # part of spelling in several scripts, and of emoji


def storable(text: str) -> str:
    """Replace lone surrogates, which no encoding carries, one character for one."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` on one line with nothing in it that acts; runs of white space become one space.

    With `limit`, at most that many characters of the given text are shown, and "…" says so.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit].rstrip() + "…"
    joined = " ".join(text.split())
    if joined.isprintable():
        return joined
    return "".join(one if one.isprintable() or one in _JOINERS else repr(one)[1:-1] for one in joined)


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


def file_name(place: str) -> str:
    """Return the name of a data set without its folders, which are nobody's business but this machine's."""
    return re.split(r"[/\\]", place.rstrip("/\\"))[-1]


def quoted(what: str, place: str, text: str) -> str:
    """Write what stands somewhere and what it is, shortened."""
    return f"{what}: {one_line(place, 60)} «{one_line(text, 240)}»"


def listed(lines: Sequence[str], most: int, noun: str) -> list[str]:
    """Return the first lines, and one that counts the rest."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {counted(more, f'more {noun}')}"] if more > 0 else [])]


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Write JSON that is readable in every script and cannot act on a terminal. Refuses NaN and infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # Outside of strings JSON is plain ASCII, so whatever is found here stands inside one.
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def digest(text: str, digits: int = 64) -> str:
    """Return the first hexadecimal digits, at most 64, of the SHA-256 of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


HIDDEN = "***"

# What repeats is bounded, so that no text makes a search long.
# A user and a password before a host; a password may hold any mark, so it ends at the last @ of the word.
_USER = re.compile(r"(?<=://)(?![\w.-]{0,100}:\*\*\*@)[^\s'\"<>]{0,500}@")
_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|tvly|hf|ghp|gho|xox[abp])[-_](?=[\w*.-]{0,100}\d)[\w*.-]{8,}"
    r"|\bBearer\s+(?=[\w.~+/=*-]{0,200}[\d*]|[\w.~+/=*-]{24})[\w.~+/=*-]{8,}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?i)\b((?:[\w.-]{0,40}[._-])?(?:api-?_?key|key|token|secret|password|passwd|pwd|authorization))=(?!\*\*\*)[^\s&'\",;)]+"
)
_VARIABLE = re.compile(r"\$\w+")
_PLACE = re.compile(r"(?:\d+\.)+")  # of a judge among several, before an option of its own


def hidden(text: str) -> str:
    """Return a text without what looks like a key, and without user and password of an address."""
    text = _USER.sub(f"{HIDDEN}@", text)
    return _NAMED.sub(rf"\1={HIDDEN}", _KEYS.sub(HIDDEN, text))


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own, reached from nowhere else."""
    from ipaddress import ip_address  # servers alone ask

    plain = host.strip().rstrip(".").lower()
    if plain == "localhost":
        return True
    try:
        return ip_address(plain.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def shown_option(name: str, value: str) -> str:
    """Return the value of a spec's option as it may be shown and stored.

    Headers and query parameters are hidden, unless they name an environment variable. Texts in a request's body are
    told apart by a digest, since they may change a verdict. Numbers and the rest stand as they are.
    """
    kind = _PLACE.sub("", name, count=1).partition(".")[0]
    if kind in {"header", "query"}:
        return value if _VARIABLE.fullmatch(value) else HIDDEN
    if kind == "body":
        try:
            is_plain = isinstance(json.loads(value), int | float | None)
        except (ValueError, RecursionError):
            is_plain = value == HIDDEN
        return value if is_plain else HIDDEN + digest(value, 8)
    if _NAMED.match(f"{name}=x"):
        return HIDDEN
    return hidden(value)


_CLOSE = 0.7


def nearest(name: str, known: Iterable[str], synonyms: Iterable[Collection[str]] = ()) -> str:
    """Return the name that was probably meant: a synonym, one spelt much alike, or one that begins so; else empty."""
    names = [str(one) for one in known]
    plain = name.strip().casefold().replace("-", "_")
    for group in synonyms:
        if plain in group and (same := next((one for one in names if one in group), "")):
            return same
    close = difflib.get_close_matches(plain, names, n=1, cutoff=_CLOSE)
    begun = [one for one in names if len(plain) > 2 and one.casefold().startswith(plain)]
    return next(iter(close or begun), "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'judge'?``, to stand at the end of a message, or an empty text."""
    found = nearest(name, known)
    return f"; did you mean {found!r}?" if found else ""
