"""The sentences of a response, each with all the text that its claims may be made of.

A list item means something only behind the sentence that introduces the list, a table row below its header: "You must
not:" governs every item below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.text.citations import without_citations
from everyclaim.text.segment import Kind, Sentence, sentences

BEHIND = "\x1f"  # white space that no sentence holds: it stands between a lead-in and what it introduces
BEFORE = 1500  # characters of an answer before a sentence that tell what "it" means there
LONGEST_LEAD = 2000  # characters; what is longer introduces nothing
_MARKUP = " \t*_"


class Ground(NamedTuple):
    """One sentence, ``response[start:end]``; `text` is it without citations, behind its lead-in or header row."""

    start: int
    end: int
    kind: Kind
    text: str


def grounds(response: str, language: str = "") -> list[Ground]:
    """Segment a response; it is asked for before an answer is split, and after."""
    return list(_grounds(response, language))


@remembered(4_000_000, lambda found, text, *_: 8 * len(text) + 300 * len(found))
def _grounds(response: str, language: str) -> tuple[Ground, ...]:
    found = sentences(response, language)
    bare = without_citations(response)
    return tuple(
        Ground(*one, BEHIND.join([*([" ".join(lead)] if lead else []), bare[one.start : one.end].strip()]))
        for one, lead in zip(found, _leads(bare, found), strict=True)
    )


def _leads(response: str, found: Sequence[Sentence]) -> list[list[str]]:
    """Return what introduces each sentence: for an item the lead-in of its list, and of the list around that."""
    leads: list[list[str]] = []
    lead: list[str] = []
    before: Sentence | None = None
    for one in found:
        if one.kind == "citation":
            leads.append([])
            continue
        begins = before is not None and before.kind != "table_row"
        if one.kind not in ("item", "table_row") or (one.kind == "table_row" and begins):
            lead = []
        leads.append(lead)
        text = response[one.start : one.end].strip(_MARKUP)
        if len(text) > LONGEST_LEAD:
            text = ""  # it governs nothing; behind each of a thousand items it would fill the memory
        if one.kind == "table_row":
            lead = lead or [text] if text else lead
        elif text.endswith(":"):
            lead = [*(lead[:1] if one.kind == "item" else []), text]
        before = one
    return leads
