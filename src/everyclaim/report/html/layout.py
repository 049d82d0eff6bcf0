"""A text cut by what is marked in it and by its Markdown, then laid out: as prose, as records, as tables.

Of Markdown only what is pure form is hidden: the signs of a pair and the signs before a heading. Addresses of links,
items and quotes stay as they were written, and nothing becomes a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from everyclaim.core.types import Label, Span
from everyclaim.text.records import fields
from everyclaim.text.segment import blocks
from everyclaim.verify.lexical.passages import piped_tables

_ANY = re.compile(r"[*_`~#]")
_SIGNS = re.compile(r"\\.|(?P<code>`+)|\*{1,3}|_{1,3}|~~", re.DOTALL)
_KINDS = {1: "md-em", 2: "md-strong", 3: "md-strong md-em"}
_HASHES = re.compile(r"#{1,6}[ \t]+$")
_REACH = 24  # characters in which a window ends at a blank


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
        own = (one for one in open_ if isinstance(one, Mark))
        outermost = sorted(own, key=lambda mark: (mark.start - mark.end, mark.start, mark.claim, mark.kind))
        found.append(Segment(text[low:high], low, high, tuple(outermost), style))
    return found


_LAID_OUT = 100_000  # characters; a longer text is shown as prose
_LONGEST = 50_000  # characters that are shown of a text, whatever is marked in it
_CLOSED = re.compile(r"[\]}\s]*,?")
_BETWEEN = " \t\r\n|:-"  # cells and rows
_LINE = 200  # characters of a line of a record that is shown whole or not at all
_DEEPEST = 12  # levels that move a line to the right

Kind = Literal["prose", "table", "record", "cut"]


@dataclass(frozen=True, slots=True)
class LaidOutBlock:
    """A piece of a text. `prose` has segments, `record` lines, `table` rows of cells; `cut` tells how much is left out.

    A line is so many levels in. The first row of a table holds headings.
    """

    kind: Kind
    segments: Sequence[Segment] = ()
    lines: Sequence[tuple[int, Sequence[Segment]]] = ()
    rows: Sequence[Sequence[Sequence[Segment]]] = ()
    hidden: int = 0  # characters


def lay_out(text: str, marks: Sequence[Mark] = (), *, context: int | None = None) -> list[LaidOutBlock]:
    """Lay a text out with its marks.

    With `context`, a text of more than three times as many characters is cut to that many on either side of every
    mark, or to its beginning where it has none. Of 50,000 characters the rest is left out in any case. What is left out
    is counted.
    """
    windows = _within(_windows(text, marks, context), _LONGEST)
    styles = styles_of(text) if len(text) <= _LAID_OUT else []
    found: list[LaidOutBlock] = []
    shown = 0
    for piece in _pieces(text):
        for window in windows:
            start, end = max(window.start, piece.span.start, shown), min(window.end, piece.span.end)
            if start >= end:
                continue
            block, reach = _block(text, piece, Span(start, end), marks, styles)
            if block is None:
                continue
            if reach.start > shown and text[shown : reach.start].strip(_BETWEEN):
                found.append(LaidOutBlock("cut", hidden=reach.start - shown))
            found.append(block)
            shown = reach.end
    if text[shown:].strip(_BETWEEN):
        found.append(LaidOutBlock("cut", hidden=len(text) - shown))
    return found


class _Stretch(NamedTuple):
    """A piece of a text before it is cut: prose, the lines of a record, or the rows of a table."""

    span: Span
    lines: Sequence[tuple[int, Span]] = ()
    rows: Sequence[Sequence[Span]] = ()


def _windows(text: str, marks: Sequence[Mark], context: int | None) -> list[Span]:
    if context is None or len(text) <= 3 * context:
        return [Span(0, len(text))]
    around = sorted((max(0, mark.start - context), min(len(text), mark.end + context)) for mark in marks)
    found: list[Span] = []
    for start, end in around or [(0, context)]:
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Span(start, end))
    return [_at_words(text, window) for window in found]


def _within(windows: Sequence[Span], most: int) -> list[Span]:
    """Keep as many windows as hold so many characters, the last one cut."""
    found = []
    for start, end in windows:
        if most > 0:
            found.append(Span(start, min(end, start + most)))
        most -= end - start
    return found


def _at_words(text: str, window: Span) -> Span:
    """Move the ends of a window to the nearest blank inside it, where there is one."""
    start, end = window
    if start and (blank := text.find(" ", start, start + _REACH)) >= 0:
        start = blank + 1
    if end < len(text) and (blank := text.rfind(" ", end - _REACH, end)) > start:
        end = blank
    return Span(start, end)


def _block(
    text: str, piece: _Stretch, window: Span, marks: Sequence[Mark], styles: Sequence[Style]
) -> tuple[LaidOutBlock | None, Span]:
    """Make what lies in a window of a piece, whole lines and rows; also return what of the text that is."""
    if piece.rows:
        return _rows(text, piece, window, marks)
    if not piece.lines:
        return LaidOutBlock("prose", segments(text, marks, *window, styles)), window
    lines = []
    for indent, line in piece.lines:
        if line.start < window.end and line.end > window.start:
            is_long = line.end - line.start > _LINE
            shown = Span(max(line.start, window.start), min(line.end, window.end)) if is_long else line
            lines.append((indent, shown))
    if not lines:
        return None, window
    written = [(indent, segments(text, marks, *line)) for indent, line in lines]
    return LaidOutBlock("record", lines=written), Span(lines[0][1].start, lines[-1][1].end)


def _rows(text: str, piece: _Stretch, window: Span, marks: Sequence[Mark]) -> tuple[LaidOutBlock | None, Span]:
    rows = [row for row in piece.rows if row[0].start < window.end and row[-1].end > window.start]
    if not rows:
        return None, window
    kept = rows if rows[0] is piece.rows[0] else [piece.rows[0], *rows]  # cells mean nothing without their headings
    cells = [[segments(text, marks, *cell) for cell in row] for row in kept]
    return LaidOutBlock("table", rows=cells), Span(rows[0][0].start, rows[-1][-1].end)


def _pieces(text: str) -> Iterator[_Stretch]:
    if len(text) > _LAID_OUT:
        yield _Stretch(Span(0, len(text)))
    elif fields(text) is not None:
        lines = list(_lines_of_record(text))
        yield _Stretch(Span(lines[0][1].start, lines[-1][1].end), lines)
    else:
        done = 0
        for table in _tables(text):
            if text[done : table.span.start].strip(" \t\r\n|"):
                yield _trimmed(text, done, table.span.start)
            yield table
            done = table.span.end
        if text[done:].strip(" \t\r\n|") or not done:
            yield _trimmed(text, done, len(text))


def _trimmed(text: str, start: int, end: int) -> _Stretch:
    """Leave out the line breaks, and the pipe of a table, at the ends of prose beside a table."""
    if start:
        start += len(text[start:end]) - len(text[start:end].lstrip(" \t|").lstrip("\r\n"))
    if end < len(text):
        end = start + len(text[start:end].rstrip(" \t|").rstrip())
    return _Stretch(Span(start, end))


def _tables(text: str) -> Iterator[_Stretch]:
    """Find tables of at least two rows with pipes around them; the first row is taken for headings."""
    for table in piped_tables(text):
        rows = [[_stripped(text, cell.start, cell.end) for cell in row] for row in table]
        if len(rows) > 1:
            yield _Stretch(Span(rows[0][0].start, rows[-1][-1].end), (), rows)


def quote_at(text: str, start: int, end: int) -> str:
    """Return what stands there; of rows of a table the cells, each behind the heading of its column."""
    if "|" in text[start:end] and len(text) <= _LAID_OUT:
        for table in _tables(text):
            head, *body = table.rows
            rows = [row for row in body if start <= row[0].start and row[-1].end <= end]
            is_within = table.span.start <= start + 2 and end <= table.span.end + 2  # the pipes at its ends are no part
            if rows and is_within:
                return "; ".join(_told(text, head, row) for row in rows)
    return text[start:end]


def _told(text: str, headings: Sequence[Span], row: Sequence[Span]) -> str:
    pairs = ((text[slice(*heading)], text[slice(*cell)]) for heading, cell in zip(headings, row, strict=False))
    return " · ".join(f"{heading}: {cell}" if heading else cell for heading, cell in pairs if cell)


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return Span(start + left, start + max(left, len(piece.rstrip())))


def _lines_of_record(text: str) -> Iterator[tuple[int, Span]]:
    """Lay a record out: each field, as the judge reads it, on a line with what closes behind it."""
    if "\n" in text.strip():  # it is laid out already
        place = 0
        for line in text.splitlines(keepends=True):
            inner = line.strip()
            if inner:
                indent = len(line) - len(line.lstrip())
                yield min(indent // 2, _DEEPEST), Span(place + indent, place + indent + len(inner))
            place += len(line)
        return
    start = 0
    for field in fields(text) or ():
        end = _CLOSED.match(text, field.end).end()  # type: ignore[union-attr]
        if text[start:end].strip():
            yield min(len(field.rows) - 1, _DEEPEST), _stripped(text, start, end)
            start = end
    if text[start:].strip():
        yield 0, _stripped(text, start, len(text))
