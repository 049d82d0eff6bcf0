"""How things look in every terminal page: colours, signs, and a fall-back to ASCII; and the same pages as Markdown.

Colour never carries meaning alone: each label has its own sign and each band its word, so that pages read the same
without colour. Output is told apart from data by `Text` objects; no markup is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.console import Group as Stack
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from everyclaim.core import plaintext
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.printing import Band
from everyclaim.core.types import Label, Usage

LABEL_STYLE = {Label.SUPPORTED: "green", Label.UNSUPPORTED: "yellow", Label.CONTRADICTED: "red"}
LABEL_FILL = {Label.SUPPORTED: "█", Label.UNSUPPORTED: "▒", Label.CONTRADICTED: "╳"}
LABEL_SIGN = {Label.SUPPORTED: "✓", Label.UNSUPPORTED: "?", Label.CONTRADICTED: "✗"}
BAND_STYLE = {Band.HIGH: "bold green", Band.GOOD: "green", Band.MODERATE: "yellow", Band.LOW: "bold red"}
UNBROKEN = 40  # columns; a longer word, such as an address, may be broken
_GAPS = (3, 2)  # columns between two of a table: as usual, and where the page is narrow
GLUE = "\uf8ff"  # stands for a blank until lines are broken: rich breaks them at every blank, unbreakable ones too

_REFUSALS = {"right": "correct (the passages have no answer)", "wrong": "wrong (the passages answer the question)"}
_ASCII = str.maketrans("█▒╳✓✗–−→↓×·…≥≤«»", "#=x+x-->vx|~><<>")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is printed: no blanks at line ends, and nothing that the terminal cannot show.

    Where the output is not Unicode, our signs become others of the same width, the data's become escapes.
    """

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in Segment.split_lines(console.render(self.content, options)):
            for segment in _without_trailing_blanks(line):
                yield _in_ascii(segment) if options.ascii_only else segment
            yield Segment.line()


def page(*blocks: RenderableType | None) -> Page:
    """Return a page of blocks, set in from its edge, with a blank line between those that are there."""
    parts: list[RenderableType] = []
    for block in blocks:
        if block is not None:
            parts += [Text(), block] if parts else [block]
    return Page(indented(Stack(*parts), 2))


def _without_trailing_blanks(line: list[Segment]) -> list[Segment]:
    kept = [Segment(one.text.replace(GLUE, " "), one.style, one.control) if GLUE in one.text else one for one in line]
    while kept and not kept[-1].control and not kept[-1].text.strip(" "):
        kept.pop()
    if kept and kept[-1].text.endswith(" "):
        kept[-1] = Segment(kept[-1].text.rstrip(" "), kept[-1].style)
    return kept


def _in_ascii(segment: Segment) -> Segment:
    if segment.control or segment.text.isascii():
        return segment
    plain = segment.text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
    return Segment(plain, segment.style)


class HouseTable(Table):
    """A table that breaks no word: where the page is too narrow for that, every row becomes a few lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths: list[tuple[int, int, int]] = []  # what a column wants besides what it needs, that, and which it is
        for place, column in enumerate(self.columns):
            cells = [_as_text(cell).plain for cell in (column.header, *column.cells)]
            whole = max(map(cell_len, cells))
            words = cells if column.no_wrap else [word for cell in cells for word in cell.split()]
            longest = min(max(map(cell_len, words), default=0), UNBROKEN)
            widths.append((whole - longest, longest, place))
        needed, between = sum(width for _, width, _ in widths), len(widths) - 1
        gap = next((gap for gap in _GAPS if needed + gap * between <= options.max_width), 0)
        if not gap:
            yield from self._as_lines()
            return
        self.padding = (0, gap - 1, 0, 0)
        room = options.max_width - needed - gap * between  # which rich shares out so that the last column may be cut
        for others, (wanted, width, place) in zip(range(between, -1, -1), sorted(widths), strict=True):
            more = min(wanted, room // (others + 1))
            self.columns[place].width, room = width + more, room - more
        yield from super().__rich_console__(console, options)

    def _as_lines(self) -> Iterator[RenderableType]:
        """Each row's first cell on a line of its own, below it the others behind their headings."""
        headings = [_as_text(column.header) for column in self.columns]
        for row in zip(*(column.cells for column in self.columns), strict=True):
            first, *others = map(_as_text, row)
            yield joined([headings[0], first], " ") if headings[0] and not first else first
            named: list[Text | str] = [
                Text.assemble((f"{heading.plain} ".replace(" ", GLUE) if heading else "", "dim"), cell)
                for heading, cell in zip(headings[1:], others, strict=True)
                if cell
            ]
            yield indented(joined(named, f"{GLUE}· "), 2)


def _as_text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def house_table(*headings: str | Text, numbers_from: int = 1) -> HouseTable:
    """Return an empty table in the house style; columns from `numbers_from` on are flush right."""
    made = HouseTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for place, heading in enumerate(headings):
        number = place >= numbers_from
        shown = Text(heading) if isinstance(heading, str) else heading  # a plain string would be read as markup
        made.add_column(shown, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return made


def whole(text: str) -> str:
    """Keep numbers of a sentence of ours with their per cent sign, on whichever line of a page they come to stand."""
    return plaintext.whole(text, GLUE)


def indented(content: RenderableType, columns: int) -> Padding:
    """Move a block to the right."""
    return Padding(content, (0, 0, 0, columns))


def hanging(sign: Text, content: Text) -> Table:
    """Put a sign before a paragraph whose further lines stay clear of it."""
    made = Table.grid(padding=(0, 1, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    made.add_row(sign, content)
    return made


def left_out(rest: int, noun: str, tail: str = "") -> list[RenderableType]:
    """Return a line that counts what is not shown; no line where that is nothing."""
    return [Text(f"… and {counted(rest, f'more {noun}')}{tail}", "dim")] if rest > 0 else []


def data(text: str, style: str = "", limit: int | None = None) -> Text:
    """Return text from outside, made safe."""
    return Text(one_line(text, limit), style=style)


def joined(parts: list[Text | str], separator: str = " · ") -> Text:
    """Join pieces that are there into one line."""
    return Text(separator).join(Text(part) if isinstance(part, str) else part for part in parts if part)


def usage_block(usage: Usage) -> Text:
    """Say what judges took, behind its heading."""
    return joined([Text("usage", "dim"), usage_line(usage)], " ")


def usage_line(usage: Usage) -> Text:
    """Say what judges took: calls, tokens, cache hits and dollars. A price that is not known is said, not zero."""
    tokens = f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} reply tokens"
    cost = "price unknown" if usage.cost is None else dollars(usage.cost)
    return joined([counted(usage.calls, "call"), tokens, counted(usage.cache_hits, "cache hit"), cost])


def refusal_words(finding: str) -> str:
    """Say what a finding about a refusal means."""
    return _REFUSALS.get(finding, finding)


def dollars(amount: float) -> str:
    """Write US dollars, small amounts with more digits."""
    return f"${amount:,.2f}" if amount >= 10 else f"${amount:.4f}"


@dataclass(frozen=True, slots=True)
class LabelBar:
    """A bar as wide as the page, shared out by label; a label that occurs has at least one cell."""

    counts: dict[Label, int]
    limit: int = 96

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        total = sum(self.counts.values())
        if total:
            cells = shares_of(list(self.counts.values()), min(options.max_width, self.limit))
            bar = Text()
            for label, width in zip(self.counts, cells, strict=True):
                bar.append(LABEL_FILL[label] * width, style=LABEL_STYLE[label])
            yield bar


def shares_of(counts: list[int], cells: int) -> list[int]:
    """Share cells out by counts: at least one to each that is not zero, all of them given."""
    present = sum(count > 0 for count in counts)
    spare, total = max(0, cells - present), sum(counts)
    exact = [count * spare / total for count in counts]
    given = [int(part) + (count > 0) for part, count in zip(exact, counts, strict=True)]
    by_remainder = sorted(range(len(counts)), key=lambda place: (int(exact[place]) - exact[place], place))
    for place in by_remainder[: max(0, cells - sum(given))]:
        given[place] += 1
    return given


_MARKUP = re.compile(r"([\\`*_\[\]<>#|~@&$]|^[+-]|:(?=//|[\w+-]+:))")  # the last: addresses and emoji
_LOOSE = re.compile(r"^(- .*)\n\n(?=- )", re.MULTILINE)
_PLAIN_SIGNS = {"", "-", "!", "·"}
_WORDS = str.maketrans({sign: f" {label.value} " for label, sign in LABEL_SIGN.items()})


def headline(text: str, level: int = 2) -> str:
    """Return a heading."""
    return f"{'#' * level} {md(text)}"


def markdown(parts: Iterable[RenderableType]) -> str:
    """Write pieces of a page: lines, tables, signs with their paragraphs. A plain string is Markdown already."""
    text = "\n\n".join(block for part in parts for block in _blocks(part) if block)
    return _LOOSE.sub(r"\1\n", text) + "\n"


def md(text: str) -> str:
    """Write a text on one line of Markdown, so that nothing in it is markup."""
    return _escaped(one_line(text))


def _blocks(part: RenderableType) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Text):
        yield _line(part)
    elif isinstance(part, Padding):
        yield from _blocks(part.renderable)
    elif isinstance(part, Stack):
        for inner in part.renderables:
            yield from _blocks(inner)
    elif isinstance(part, HouseTable):
        yield "\n".join(_table(part))
    elif isinstance(part, Table):  # a sign, or a name, before each paragraph
        for sign, *cells in zip(*(column.cells for column in part.columns), strict=True):
            plain = _as_text(sign).plain
            named = "" if plain.strip() in _PLAIN_SIGNS else one_line(plain.translate(_WORDS))
            yield " ".join(["-", *filter(None, [md(named), *(_line(_as_text(cell)) for cell in cells)])])


def _table(table: HouseTable) -> Iterator[str]:
    yield f"| {' | '.join(_line(_as_text(column.header)) for column in table.columns)} |"
    yield f"| {' | '.join('--:' if column.justify == 'right' else '---' for column in table.columns)} |"
    for row in zip(*(column.cells for column in table.columns), strict=True):
        yield f"| {' | '.join(_line(_as_text(cell)) for cell in row)} |"


def _line(text: Text) -> str:
    plain = text.plain.replace(GLUE, " ").replace("\n", " ")
    bold = sorted((span.start, span.end) for span in text.spans if "bold" in str(span.style))
    if "bold" in str(text.style):
        bold = [(0, len(plain))]
    made, at = "", 0
    for start, end in bold:
        made += _escaped(plain[at:start]) + (f"**{_escaped(plain[start:end])}**" if plain[start:end].strip() else "")
        at = end
    return made + _escaped(plain[at:])


def _escaped(text: str) -> str:
    """Write a text so that nothing in it is markup."""
    return _MARKUP.sub(r"\\\1", text)
