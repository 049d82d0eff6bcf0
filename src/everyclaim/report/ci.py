"""What build servers read: JUnit XML, GitHub's annotations, and pages as Markdown.

Markdown is made of the same pieces as the pages in the terminal, so that both say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from everyclaim.analysis.gate import GateResult, GateStatus, is_less_likely, is_worse
from everyclaim.analysis.summary import Summary
from everyclaim.core.cited import failing_lines
from everyclaim.core.plaintext import number, one_line
from everyclaim.core.types import Outcome, Result
from everyclaim.report.style import GLUE, LABEL_SIGN, HouseTable, data, hanging, joined
from everyclaim.report.terminal import overview

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


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(
    results: Iterable[Result], gate: GateResult, name: str, bar: float | None = None, least: float | None = None
) -> bytes:
    """Write one test case per answer and one for the gate; cases fail only where the gate does.

    Then an answer fails that scores worse than `bar` or has a probability below `least`, or without both one that has a
    claim that is not supported; and one whose judging failed is an error. Otherwise the failing claims are the output
    of a case that passes. An answer without a score is skipped.
    """
    is_failed = gate.status in (GateStatus.FAILED, GateStatus.TOO_MANY_FAILURES)
    suite = ET.Element("testsuite", package="everyclaim", name=_xml(name))
    counts = {"failure": 0, "error": 0, "skipped": 0}
    tests = 1
    for result in results:
        tests += 1
        case = ET.SubElement(suite, "testcase", classname=_xml(name), name=_xml(result.id))
        lines = "\n".join(failing_lines(result))
        if result.outcome is Outcome.FAILED:
            _child(case, "error" if is_failed else "skipped", result.reason, "", counts)
        elif result.outcome is not Outcome.SCORED:
            _child(case, "skipped", result.outcome.value, "", counts)
        elif is_failed and _fails(result, bar, least):
            _child(case, "failure", f"failing claims: {len(result.failing)} of {len(result.claims)}", lines, counts)
        elif lines:
            ET.SubElement(case, "system-out").text = _xml(lines)
    case = ET.SubElement(suite, "testcase", classname=_xml(name), name="gate")
    if gate.status is not GateStatus.PASSED:
        _child(case, "failure", gate.message, "", counts)
    suite.set("tests", str(tests))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", str(counts["skipped"]))
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def _fails(result: Result, bar: float | None, least: float | None) -> bool:
    if bar is None and least is None:
        return bool(result.failing)
    return is_less_likely(result, least) or (bar is not None and is_worse(result, bar))


def github_lines(results: Iterable[Result], gate: GateResult) -> Iterator[str]:
    """Yield GitHub's commands: an error or a notice of the gate, a warning for every answer given."""
    kind = "notice" if gate.status is GateStatus.PASSED else "error"
    yield f"::{kind} title=everyclaim {gate.title}::{_github(gate.message)}"
    for result in results:
        title = _github(one_line(result.id, 80)).replace(":", "%3A").replace(",", "%2C")
        yield f"::warning title={title}::{_github('; '.join(failing_lines(result)))}"


def run_markdown(summary: Summary, worst: Sequence[Result], gate: GateResult, name: str) -> str:
    """Write the gate's word, the rates with their intervals, and the answers to look at first."""
    told = Text.assemble((gate.title, "bold"), f": {one_line(gate.message)}")
    parts = [f"## everyclaim: {md(name)}", told, *overview(summary)]  # files that begin so may be replaced
    if worst:
        parts.append(headline("Worst answers", 3))
    for result in worst:
        parts.append(joined([data(result.id, "bold", 80), number(result.score)], " "))
        parts += [hanging(Text("-"), Text(line)) for line in failing_lines(result)]
    return markdown(parts)


def _child(case: ET.Element, kind: str, message: str, text: str, counts: dict[str, int]) -> None:
    ET.SubElement(case, kind, message=_xml(message)).text = _xml(text)
    counts[kind] += 1


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _github(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
