"""A text cut by what is marked in it, and by its Markdown: emphasis, code and headings as what they stand for.

Of Markdown only what is pure form is hidden: the signs of a pair and the signs before a heading. Addresses of links,
items and quotes stay as they were written, and nothing becomes a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from everyclaim.core.types import Label
from everyclaim.text.segment import blocks

_ANY = re.compile(r"[*_`~#]")
_SIGNS = re.compile(r"\\.|(?P<code>`+)|\*{1,3}|_{1,3}|~~", re.DOTALL)
_KINDS = {1: "md-em", 2: "md-strong", 3: "md-strong md-em"}
_HASHES = re.compile(r"#{1,6}[ \t]+$")


class Style(NamedTuple):
    """A stretch ``text[start:end]`` and the classes it is shown with; `md-sign` is not shown."""

    start: int
    end: int
    kind: str


def styles_of(text: str) -> list[Style]:
    """Find the Markdown of a text; offsets are those of the text."""
    found: list[Style] = []
    if not _ANY.search(text):
        return found
    for block in blocks(text):
        if block.kind == "heading" and (hashes := _HASHES.search(text, max(0, block.start - 12), block.start)):
            found += [Style(hashes.start(), block.start, "md-sign"), Style(block.start, block.end, "md-heading")]
        if block.kind == "code":
            found.append(Style(block.start, block.end, "md-code"))
        else:
            found += _pairs(text, block.start, block.end)
    return found


def _pairs(text: str, start: int, end: int) -> Iterator[Style]:
    """Yield what stands between two equal signs, of which the first is before a word and the second behind one."""
    open_: dict[str, int] = {}  # sign: where it ends
    code_ends = start
    for match in _SIGNS.finditer(text, start, end):
        sign, before, after = match[0], text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if match.start() < code_ends or sign.startswith("\\"):
            continue
        if match["code"]:
            close = re.compile(rf"(?<!`){sign}(?!`)").search(text, match.end(), end)
            if close is not None and close.start() > match.end():
                code_ends = close.end()
                yield from _pair(match.end(), close.start(), sign, "md-code")
            continue
        closes, opens = bool(before.strip()), bool(after.strip())
        if sign[0] == "_":  # inside a word it is a letter
            closes, opens = closes and not after.isalnum(), opens and not before.isalnum()
        if closes and sign in open_ and open_[sign] < match.start():
            first = open_.pop(sign)
            open_ = {other: place for other, place in open_.items() if place < first}
            yield from _pair(first, match.start(), sign, "md-del" if sign == "~~" else _KINDS[len(sign)])
        elif opens:
            open_[sign] = match.end()


def _pair(start: int, end: int, sign: str, kind: str) -> Iterator[Style]:
    yield Style(start - len(sign), start, "md-sign")
    yield Style(start, end, kind)
    yield Style(end, end + len(sign), "md-sign")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch ``text[start:end]``; `claim` is the number of the claim that it belongs to, from 1."""

    start: int
    end: int
    claim: int
    label: Label
    kind: str = "claim"  # claim, evidence, difference


class Segment(NamedTuple):
    """A stretch of the text under the same marks, the longest first; none at all between them."""

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...] = ()
    style: str = ""  # classes

    @property
    def innermost(self) -> Mark:
        """The shortest mark, of a claim where there is one: what a click on this stretch means."""
        return next((mark for mark in reversed(self.marks) if mark.kind == "claim"), self.marks[-1])

    @property
    def claims(self) -> str:
        """The numbers of its claims, in order, with blanks between: ``1 3``."""
        return " ".join(map(str, sorted({mark.claim for mark in self.marks})))

    @property
    def is_difference(self) -> bool:
        """Whether it is where a claim and its passage part."""
        return any(mark.kind == "difference" for mark in self.marks)


def segments(
    text: str, marks: Iterable[Mark], start: int = 0, end: int | None = None, styles: Iterable[Style] = ()
) -> list[Segment]:
    """Cut ``text[start:end]`` at the ends of marks and styles; all offsets are those of the whole text."""
    end = len(text) if end is None else min(end, len(text))
    everything: list[Mark | Style] = [*marks, *styles]
    inside = [mark for mark in everything if max(mark.start, start) < min(mark.end, end)]
    cuts = sorted({start, end} | {max(mark.start, start) for mark in inside} | {min(mark.end, end) for mark in inside})
    waiting = sorted(inside, key=lambda mark: mark.start, reverse=True)
    open_: list[Mark | Style] = []
    found = []
    for low, high in pairwise(cuts):
        while waiting and waiting[-1].start <= low:
            open_.append(waiting.pop())
        open_ = [mark for mark in open_ if mark.end > low]
        style = " ".join(one.kind for one in open_ if isinstance(one, Style))
        own = [one for one in open_ if isinstance(one, Mark)]
        found.append(Segment(text[low:high], low, high, _outermost_first(own), style))
    return found


def _outermost_first(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda mark: (mark.start - mark.end, mark.start, mark.claim, mark.kind)))
