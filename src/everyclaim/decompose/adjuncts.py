"""Where and when of one event are two statements: "born in Ulm on 14 March 1879" is born in Ulm, and born then.

Only for events that happen once to their subject. "Released in France on 3 May" stays whole: it may have been
released elsewhere on another day.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from everyclaim.decompose.grammar import stays_whole
from everyclaim.text.dates import moments
from everyclaim.text.tagger import tag

_ONCE = r"(?:was|were|is)\s+(?:born|baptised|baptized|buried|founded|assassinated|executed|incorporated)|died"
_PLACE = r"(?:in|at|near)\s+(?:the\s+)?[A-Z][\w.'’-]*(?:,?\s+(?:[A-Z][\w.'’-]*|of|the|de|la|upon|am|an\s+der))*"
_DATE = r"(?:on|in|around|about)\s+[\w\s,.]{3,30}?\d[\w\s,]{0,20}?"
_EVENT = re.compile(
    rf"^(?P<head>[A-Z][^;:]*?\b(?:{_ONCE}))\s+"
    rf"(?:(?P<place_first>{_PLACE}),?\s+(?P<date_second>{_DATE})|(?P<date_first>{_DATE}),?\s+(?P<place_second>{_PLACE}))"
    r"$"
)


class Adjunct(NamedTuple):
    """One of the two statements, and where its circumstance stands in the text."""

    text: str
    start: int
    end: int


def where_and_when(text: str) -> tuple[Adjunct, Adjunct] | None:
    """Split a clause about a once-only event into its place and its date, in their order; None when it is no such."""
    body = text.rstrip(" .")
    found = _EVENT.match(body)
    if found is None or stays_whole(tag(body)):
        return None
    first, second = ("place_first", "date_second") if found["place_first"] else ("date_first", "place_second")
    date = found[first] if first.startswith("date") else found[second]
    place = found[first] if first.startswith("place") else found[second]
    if not _is_date(date) or moments(place):
        return None
    head, end = found["head"], text[len(body) :]
    return (
        Adjunct(f"{head} {found[first]}{end}", 0, found.end(first)),
        Adjunct(f"{head} {found[second]}{end}", *found.span(second)),
    )


def _is_date(text: str) -> bool:
    """Whether a phrase is a preposition and one date, and nothing else."""
    read = moments(text)
    if len(read) != 1:
        return False
    rest = f"{text[: read[0].start]} {text[read[0].end :]}".split()
    return all(word.lower() in {"on", "in", "around", "about", "the"} for word in rest)
