"""The sentences of a passage, the pieces a claim is compared with.

A line break ends a sentence unless the next line goes on in lower case: table rows, list items and headings stay
on their own, hard-wrapped prose does not fall apart.
"""

from __future__ import annotations

import re

from everyclaim.text.abbreviations import MONTHS, NAMED

_BREAK = re.compile(
    r"\n(?:\s*\n|\s*(?![\sa-z,;)])|\s*(?=[^\n:.]{1,40}:\s))"
    r"|(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-Þ<`])"
    r"|(?<=[。！？])"
)
_ELSEWHERE = "Dña|Sra|Hr|Sig|sig|z"  # of other languages: "z. B."
_NOT_AN_END = re.compile(
    rf"\b(?:{NAMED}|{MONTHS}|etc|Nos|Fig|Figs|Eq|al|cf|ca|approx|e\.g|i\.e|Proc|Treas|{_ELSEWHERE}|[A-Z])\.$"
)
_LONGEST = 600  # characters; text without sentence ends is cut at white space


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Cut `text` into sentences: half-open offsets in order, without the white space between them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        end = match.start()
        is_line_break = "\n" in match.group()
        if end <= start or (not is_line_break and _NOT_AN_END.search(text, max(start, end - 12), end)):
            continue
        _add(text, start, end + len(match.group().rstrip()), spans)
        start = match.end()
    _add(text, start, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Add ``text[start:end]`` without its outer white space, in pieces when it is very long."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > _LONGEST:
        cut = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        cut = start + _LONGEST if cut < 0 else cut
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))
