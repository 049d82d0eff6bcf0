"""Which citations a claim has: those behind it in its sentence, and the source named below what it belongs to."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from urllib.parse import unquote, urlsplit

from everyclaim.core.types import Citation, Claim, Decomposition, Passage, Sample, Skipped
from everyclaim.decompose.units import Ground
from everyclaim.text.citations import citations
from everyclaim.text.sources import ADDRESS, CASELESS, asserts_something, names_only, passages_of


def tied(claims: Sequence[Claim], response: str, sentences: Sequence[Ground]) -> tuple[Claim, ...]:
    """Give claims their citations.

    A mark belongs to what its sentence says between the mark before and it; one before all claims of its sentence to
    all of them. Without any mark in its sentences, a line of marks, a "Source: …" line or a list of sources belongs to
    all that stands between the one before and it.
    """
    found = citations(response)
    ends = [one.end for one in sentences]
    by_sentence: dict[int, list[Citation]] = {}
    for mark in found.marks:
        place = bisect_right(ends, mark.span.start)
        if mark.sources and place < len(sentences) and sentences[place].kind != "citation":
            by_sentence.setdefault(place, []).append(mark)
    if not by_sentence:
        return _by_lists(claims, sorted((*found.marks, *found.lists)))
    given: dict[str, list[Citation]] = {}
    for place, several in by_sentence.items():
        start, end = sentences[place][:2]
        inside = [claim for claim in claims if claim.span.start < end and start < claim.span.end]
        before = start
        for group in _groups(several, response):
            first = group[0].span.start
            own = [claim for claim in inside if claim.span.start < first and before < claim.span.end]
            leads = not any(character.isalnum() for character in response[start:first])
            for claim in inside if leads else own:
                given.setdefault(claim.id, []).extend(group)
            before = group[-1].span.end
    return tuple(replace(claim, citations=tuple(given.get(claim.id, ()))) for claim in claims)


def cited_beside(claims: Sequence[Claim], sample: Sample) -> tuple[Claim, ...]:
    """Give each claim the citations of the stretches that it overlaps; what stands in the text was read there."""

    def has_words(one: Citation, claim: Claim) -> bool:
        stretch = sample.response[max(one.span.start, claim.span.start) : min(one.span.end, claim.span.end)]
        return any(character.isalnum() for character in stretch)

    read = [mark.span for mark in citations(sample.response).marks if mark.sources]
    beside = [
        one for one in sample.citations if not any(one.span.start < end and start < one.span.end for start, end in read)
    ]
    return tuple(
        replace(claim, citations=tuple(dict.fromkeys(chain(claim.citations, own))))
        if (own := [one for one in beside if has_words(one, claim)])
        else claim
        for claim in claims
    )


def with_citations_listed(
    parts: Decomposition, response: str, passages: Sequence[Passage] | None = None
) -> Decomposition:
    """List as unchecked the citations that are none of the passages: dead ones, and words that may be no citation.

    "(Unsafe, 2019)" looks like an author and a year: only the passages tell, and without any given it is taken for one.
    A line "Source: …" can name none of passages that have no titles. Of two passages "[7]" is neither.
    """
    found = citations(response)
    named = any(one.title for one in passages or ())
    doubtful = (*found.marks, *(found.lists if named else ()))
    unknown = {one.span for one in doubtful if passages is not None and _names_none(one, passages)}
    known = {one.span for one in (*found.marks, *found.lists)} - unknown
    kept = [replace(one, unchecked=one.unchecked and one.span not in known) for one in parts.skipped]
    added = [Skipped(response[slice(*span)], span, "citation", unchecked=True) for span in unknown]
    listed = [*(piece for piece in kept if piece.span not in unknown), *added]
    return replace(parts, skipped=tuple(sorted(listed, key=lambda piece: piece.span)))


def _names_none(mark: Citation, passages: Sequence[Passage]) -> bool:
    """Whether a citation names no passage, by words alone or by a number that none of the passages has."""
    if any(passages_of(source, passages) for source in mark.sources):
        return False
    return any(
        names_only(one) or (bool(passages) and one.number and not one.name) or _is_foreign(one.address, passages)
        for one in mark.sources
    )


def _is_foreign(address: str, passages: Sequence[Passage]) -> bool:
    """Whether no passage holds an address, though passages hold others, or its own words state something."""
    if not address:
        return False
    held = [f"{one.id} {one.title} {one.text}" for one in passages]
    if any(address.rstrip("/") in text for text in held):
        return False
    words = re.sub(r"[-_+/=.]+", " ", unquote(urlsplit(address)._replace(scheme="", netloc="").geturl()))
    return asserts_something(words) or any(re.search(ADDRESS, text, CASELESS) for text in held)


def _groups(marks: Sequence[Citation], response: str) -> list[list[Citation]]:
    """Marks that stand together."""
    groups: list[list[Citation]] = []
    for mark in marks:
        if groups and not any(character.isalnum() for character in response[groups[-1][-1].span.end : mark.span.start]):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _by_lists(claims: Sequence[Claim], lists: Sequence[Citation]) -> tuple[Claim, ...]:
    """Give claims the lines below them that name sources, down to the next claim."""
    starts = sorted(claim.span.start for claim in claims)
    named = [one.span.start for one in lists]
    given: list[Claim] = []
    for claim in claims:
        first = bisect_left(named, claim.span.end)
        following = bisect_right(starts, named[first]) if first < len(lists) else 0
        last = bisect_left(named, starts[following]) if following < len(starts) else len(lists)
        below = tuple(one for one in lists[first:last] if one.sources)
        given.append(claim if claim.citations == below else replace(claim, citations=below))
    return tuple(given)
