"""Pages as Markdown: the same pieces as in the terminal, so that both say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from everyclaim.core.plaintext import one_line
from everyclaim.report.style import GLUE, LABEL_SIGN, HouseTable

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~@&$:-])")
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
    return _MARKUP.sub(r"\\\1", one_line(text))


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
            named = "" if _text(sign).plain.strip() in _PLAIN_SIGNS else one_line(_text(sign).plain.translate(_WORDS))
            yield " ".join(["-", *filter(None, [md(named), *(_line(_text(cell)) for cell in cells)])])


def _table(table: HouseTable) -> Iterator[str]:
    yield f"| {' | '.join(_line(_text(column.header)) for column in table.columns)} |"
    yield f"| {' | '.join('--:' if column.justify == 'right' else '---' for column in table.columns)} |"
    for row in zip(*(column.cells for column in table.columns), strict=True):
        yield f"| {' | '.join(_line(_text(cell)) for cell in row)} |"


def _text(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def _line(text: Text) -> str:
    """Write a line of a page, with what is bold in it."""
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
    return _MARKUP.sub(r"\\\1", text)
