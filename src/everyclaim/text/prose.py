"""What fenced code says: an answer set in a fence, a comment, a message that a program prints, the values of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.tokens import word_set


class Stretch(NamedTuple):
    """Where prose stands in a line; half-open."""

    start: int
    end: int


_RUN = re.compile(
    r"(?<!\w)[^\W\d_]++(?:[’'][^\W\d_]++)?(?:[,:;]?[ \t]++(?:[^\W\d_]++(?:[’'-][^\W\d_]+)*|\d[\d.,%]*)){3,}"
)
# Words that sentences hold and programs seldom do.
_TELLING = word_set(
    "the you your may are was were be been this that these those of to should can must will would they he she has have "
    "it its we our than which who does did always never"
)
_COMMENT = re.compile(r"[ \t]*(?:#+|//+|/\*+|\*+/?|--+|;+|%+|>+|\"\"\"|'''|[Rr][Ee][Mm]\b)[ \t]*")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
_CODE_SIGN = re.compile(r"[=(){}<>\[\];|&$\\]|\w\.\w+\(|::|->")


_STRING_IN_JSON = r"\"(?:[^\"\\\n]|\\.)*\""
_VALUE = re.compile(
    rf"(?:{_STRING_IN_JSON}\s*:\s*)(?P<keyed>{_STRING_IN_JSON}|-?\d[\d.eE+-]*|true|false)?|(?P<listed>{_STRING_IN_JSON})"
)


def is_json(text: str) -> bool:
    """Whether a text is JSON with something in it."""
    try:
        return bool(text.strip()[:1] in "{[" and json.loads(text))
    except (ValueError, RecursionError):
        return False


def values_in_json(line: str) -> Iterator[Stretch]:
    """Find the values of a line of JSON, each with its key."""
    for value in _VALUE.finditer(line):
        if (value["keyed"] or value["listed"] or '""') != '""':
            yield Stretch(*value.span())


def prose_in_code(line: str) -> Iterator[Stretch]:
    """Find what a line of code holds that reads as prose: the line itself, its comment, its strings."""
    run = _RUN.search(line)
    if run is None:
        return
    mark = _COMMENT.match(line)
    start = mark.end() if mark else len(line) - len(line.lstrip())
    if mark is None and _CODE_SIGN.search(line):
        trailing = re.search(r"(?:#|//|--|/\*)\s*", line)
        for string in _STRING.finditer(line):
            group = next(number for number in (1, 2, 3) if string[number] is not None)
            if _is_prose(string[group]):
                yield Stretch(*string.span(group))
                trailing = None
        if trailing is None or not _is_prose(line[trailing.end() :]):
            return
        start = trailing.end()
    end = len(line.rstrip(" \t\r\n*/"))
    if start < end and _is_prose(line[start:end]):
        yield Stretch(start, end)


def _is_prose(text: str) -> bool:
    run = _RUN.search(text)
    if run is None:
        return False
    words = run.group().lower().split()
    return any(word.strip(",:;") in _TELLING for word in words) or language_of(text) not in {"", ENGLISH}
