"""What stands in a text to be seen, not read (emphasis, links, HTML, code), and the prose that code holds.

Markup is replaced in its own length, so that offsets into what is readable are offsets into the original. Fenced code
says something, too: an answer set in a fence, a comment, a message that a program prints, the values of JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from everyclaim.core.types import Span
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import word_set

_MARKUP = re.compile(
    r"(?<!`)`(?P<code>[^`\n]{1,500})`(?!`)|"
    r"|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=[\w.!?])_{1,2}(?!\w)|(?<!`)`(?!`)"
    r"|~~|[【】〔〕\ue200-\ue206]"
    r"|!?\[(?=[^\]\[\n]{1,200}\](?:\(\S{1,500}(?:\s+[\"'(][^\n]{1,200}?)?\)|\[[^\]\n]{0,40}\]))"
    r"|\](?:\(\S{1,500}?\)|\[[^\]\n]{0,40}\])|\n[ \t]*>[ \t>]*"
)
_MARKED = re.compile(r"[*_`\[\](~【〔>\ue200]")

_TAG = re.compile(
    r"<!--|-->|<(?P<close>/)?(?P<name>[a-z][a-z0-9]{0,9})(?P<inside>(?:\s+(?:[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)"
    r"|open|checked|disabled|hidden|selected|required|controls|async|defer|nowrap|reversed))*)\s*/?>",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"\b(?P<name>[\w:.-]+)\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')", re.IGNORECASE)
_INLINE = word_set(WORDS["marks"]["inline"])
_BLOCKS = word_set(WORDS["marks"]["blocks"])
_TEXTS = frozenset({"alt", "title", "aria-label", "content", "value", "placeholder"})
_CODE_TAGS = frozenset({"pre", "script", "style"})
_ROW = re.compile(r"<tr\b[^<>]*>.*?(?:</tr\s*>|(?=<tr\b)|(?=</table))", re.IGNORECASE | re.DOTALL)
_HEADER_END = re.compile(r"</th\s*>\s*</tr\s*>", re.IGNORECASE)
_BREAK = re.compile(r"[\r\n]")
_SIGN = re.compile(r"<(?:/?[a-zA-Z]|!--)")
_RUN = re.compile(
    r"(?<!\w)[^\W\d_]++(?:[’'][^\W\d_]++)?(?:[,:;]?[ \t]++(?:[^\W\d_]++(?:[’'-][^\W\d_]+)*|\d[\d.,%]*)){3,}"
)
# Words that sentences hold and programs seldom do.
_TELLING = word_set(WORDS["marks"]["telling"])
_COMMENT = re.compile(r"[ \t]*(?:#+|//+|/\*+|\*+/?|--+|;+|%+|>+|\"\"\"|'''|[Rr][Ee][Mm]\b)[ \t]*")
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`\n]*)`")
_CODE_SIGN = re.compile(r"[=(){}<>\[\];|&$\\]|\w\.\w+\(|::|->")
_STRING_IN_JSON = r"\"(?:[^\"\\\n]|\\.)*\""
_VALUE = re.compile(
    rf"(?:{_STRING_IN_JSON}\s*:\s*)(?P<keyed>{_STRING_IN_JSON}|-?\d[\d.eE+-]*|true|false)?|(?P<listed>{_STRING_IN_JSON})"
)


def blanked(text: str) -> str:
    """Blank emphasis and link addresses out, every other character in its place; code stays code."""
    if _MARKED.search(text) is None:
        return text
    return _MARKUP.sub(lambda mark: f" {mark['code']} " if mark["code"] else " " * len(mark.group()), text)


def rendered(text: str) -> str:
    """Write HTML as the layout it stands for, in the same length: its lists, tables, headings and lines as Markdown's.

    Only elements that HTML has are read; text without any comes back as it is. What a tag shows (`alt`, `title`) stays.
    """
    if _SIGN.search(text) is None:
        return text
    ruled = "\x1d--|--\x1d"  # stands for a table's ruling until line breaks inside rows are gone
    ruling = lambda end: ruled.rjust(len(end.group()))  # noqa: E731
    text = _ROW.sub(lambda row: _BREAK.sub(" ", _HEADER_END.sub(ruling, row.group())), text)
    text = text.replace(ruled, "\n--|--\n")
    depth = 0
    parts: list[str] = []
    place = 0
    for tag in _TAG.finditer(text):
        name = (tag["name"] or "").lower()
        if tag["name"] and name not in _INLINE and name not in _BLOCKS:
            continue
        if name in {"ul", "ol"}:
            depth = max(0, depth - 1) if tag["close"] else depth + 1
        parts += [text[place : tag.start()], _written(tag, name, depth)]
        place = tag.end()
    return "".join([*parts, text[place:]])


def _written(tag: re.Match[str], name: str, depth: int) -> str:
    """What takes the place of a tag: as long as the tag."""
    size = len(tag.group())
    if name in _INLINE:
        mark = ""
    elif name in _CODE_TAGS:
        mark = "\n```\n"
    elif name == "tr":
        mark = "|".rjust(size) if tag["close"] else "\n"  # the row ends where its tag does
    elif name in {"td", "th"}:
        mark = "" if tag["close"] else "|"
    elif tag["close"]:
        mark = "\n"
    elif name == "li":
        mark = "\n" + "\t" * min(depth - 1, size - 3) + "-"
    elif len(name) == 2 and name[0] == "h" and name[1].isdigit():
        mark = f"\n{'#' * min(int(name[1]), 2)} "
    else:
        mark = "\n"
    written = list(mark.ljust(size))
    for shown in _SHOWN.finditer(tag.group()):
        group = "single" if shown["double"] is None else "double"
        if shown["name"].lower() in _TEXTS and " " in shown[group].strip():
            written[shown.start(group) : shown.end(group)] = shown[group]
    return "".join(written)


def is_json(text: str) -> bool:
    """Whether a text is JSON with something in it."""
    try:
        return bool(text.strip()[:1] in "{[" and json.loads(text))
    except (ValueError, RecursionError):
        return False


def values_in_json(line: str) -> Iterator[Span]:
    """Find the values of a line of JSON, each with its key."""
    for value in _VALUE.finditer(line):
        if (value["keyed"] or value["listed"] or '""') != '""':
            yield Span(*value.span())


def prose_in_code(line: str) -> Iterator[Span]:
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
                yield Span(*string.span(group))
                trailing = None
        if trailing is None or not _is_prose(line[trailing.end() :]):
            return
        start = trailing.end()
    end = len(line.rstrip(" \t\r\n*/"))
    if start < end and _is_prose(line[start:end]):
        yield Span(start, end)


def _is_prose(text: str) -> bool:
    run = _RUN.search(text)
    if run is None:
        return False
    words = run.group().lower().split()
    return any(word.strip(",:;") in _TELLING for word in words) or language_of(text) not in {"", ENGLISH}
