"""Point citations to the passages that support what they stand behind; claims and their words stay as they are."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence

from everyclaim.core.cited import CitationFinding, CitationStatus, citation_findings
from everyclaim.core.types import Passage, Result, Span
from everyclaim.text.citations import citations
from everyclaim.text.sources import passages_of

_NUMERIC = re.compile(r"\[[\d\s,;–-]+\]")
_IN_WORDS = re.compile(r"([^\d]*[^\W\d_]{2}[^\d]*?)\d[\d\s,;&–-]*(?<=\d)(\]?,?\s[^\d]*)")  # "As document 2 says, "
_PART_OF_A_PAIR = ("](", "</")  # of a link's words, of a tag: what would be left makes no sense
_STOPS = f"{string.whitespace}\u00a0.!?…。"
_STANDS = (CitationStatus.RIGHT, CitationStatus.UNNEEDED)


def with_right_citations(
    answer: str, result: Result, passages: Sequence[Passage]
) -> tuple[str, tuple[CitationFinding, ...]]:
    """Return the answer with its citations mended, and the findings that were mended.

    A citation that names the wrong passage, or none, names those that support its claims instead, a claim without one
    gets one, and a dead one of a claim that nothing supports goes.
    """
    by_mark: dict[Span, list[CitationFinding]] = {}
    edits: dict[Span, list[str]] = {}
    mended: list[CitationFinding] = []
    # Where the words of claims end, before the full stop.
    ends = {claim.id: claim.span.start + len(answer[slice(*claim.span)].rstrip(_STOPS)) for claim in result.claims}
    for found in citation_findings(result):
        if found.cited:
            by_mark.setdefault(found.cited.span, []).append(found)
        elif found.instead and found.claim in ends:
            place = ends[found.claim]
            edits.setdefault(Span(place, place), []).append(found.instead[0])
            mended.append(found)
    for span, several in by_mark.items():
        wrong = [
            one for one in several if one.finding not in _STANDS and (one.instead or one.finding is CitationStatus.DEAD)
        ]
        if wrong and not answer[slice(*span)].startswith(_PART_OF_A_PAIR):
            kept = [one.cited.passage for one in several if one not in wrong and one.cited and one.cited.passage]
            edits[span] = list(dict.fromkeys([*kept, *(claim.instead[0] for claim in wrong if claim.instead)]))
            mended += wrong
    numbers = _numbers(answer, passages)
    for span, ids in sorted(edits.items(), reverse=True):
        mark = _mark(answer[slice(*span)], dict.fromkeys(ids), numbers, passages)
        blank = " " if mark and span.start == span.end else ""
        before = answer[: span.start] if mark else answer[: span.start].rstrip(" ")
        answer = before + blank + mark + answer[span.end :]
    return answer, tuple(mended)


def _numbers(answer: str, passages: Sequence[Passage]) -> dict[str, int]:
    """Return the numbers by which passages go in an answer: those of its list of sources, else their places or ids."""
    found = citations(answer)
    listed: dict[str, int] = {}
    for source in (source for one in found.lists for source in one.sources if source.number):
        for name in passages_of(source, passages):
            listed.setdefault(name, source.number)
    if listed:
        return listed
    return {one.id: int(one.id) if one.id.isdecimal() else place for place, one in enumerate(passages, 1)}


def _mark(old: str, ids: Mapping[str, None], numbers: Mapping[str, int], passages: Sequence[Passage]) -> str:
    """Write a citation of passages: by number where the old one had one or there was none, else by title."""
    if not ids:
        return ""
    titles = {passage.id: passage.title for passage in passages}
    in_words = _IN_WORDS.fullmatch(old)
    is_numeric = not old or in_words or _NUMERIC.fullmatch(old) or not all(titles[name] for name in ids)
    if is_numeric and all(name in numbers for name in ids):
        before, behind = in_words.groups() if in_words else ("[", "]")
        return f"{before}{', '.join(str(number) for number in sorted(numbers[name] for name in ids))}{behind}"
    return f"(Source: {'; '.join(titles[name] or name for name in ids)})"
