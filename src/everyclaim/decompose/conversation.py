"""What a conversation and a provider say of the claims of an answer: what its pronouns stand for, and what it cites."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from everyclaim.core.types import TURNS_BEFORE, Citation, Claim, Decomposition, Sample
from everyclaim.decompose.antecedents import PRONOUN, antecedent, is_expletive, put
from everyclaim.text.citations import citations
from everyclaim.text.segment import sentences

_CLAIMS_BEFORE = 12  # of the same answer
_OWNERS = {"its": "it", "their": "they", "his": "he", "her": "she"}


class _Completed(NamedTuple):
    """A claim with the pronoun that it began with, if any, as a subject, and what was put in its place."""

    sentence: str
    text: str
    word: str
    thing: str


def in_conversation(parts: Decomposition, sample: Sample) -> Decomposition:
    """Complete the claims of a response from the turns before it, and give them the citations that came beside it."""
    claims = parts.claims
    if sample.history:
        claims = _completed(claims, sample)
    if sample.citations:
        claims = _cited(claims, sample)
    return replace(parts, claims=claims)


def _completed(claims: Sequence[Claim], sample: Sample) -> tuple[Claim, ...]:
    """Put what they stand for in the place of pronouns that begin a claim, where the response does not say it."""
    told = [*(turn.text for turn in sample.history[-TURNS_BEFORE:]), sample.question]
    earlier = [text[one.start : one.end] for text in told for one in sentences(text)][::-1]
    found: list[Claim] = []
    before = deque[_Completed](maxlen=_CLAIMS_BEFORE)  # the last one first
    for claim in claims:
        pronoun = PRONOUN.match(claim.text)
        stands_for = (pronoun["subject"] or pronoun["owner"] or "").lower() if pronoun else ""
        thing = ""
        if pronoun and stands_for and not is_expletive(claim.text):
            others = [one for one in before if one.sentence != claim.sentence]
            thing = _meant(pronoun, _OWNERS.get(stands_for, stands_for), others, earlier)
            thing = "" if thing.lower() in claim.text.lower() else thing
        found.append(replace(claim, text=put(thing, claim.text, pronoun)) if pronoun and thing else claim)
        before.appendleft(_Completed(claim.sentence, found[-1].text, _OWNERS.get(stands_for, stands_for), thing))
    return tuple(found)


def _meant(pronoun: re.Match[str], word: str, before: Sequence[_Completed], earlier: Sequence[str]) -> str:
    """Return what a pronoun stands for: what it stood for last, or what was spoken of; empty where a claim names it."""
    for one in before:
        if one.thing and one.word == word:
            return one.thing
        if antecedent(pronoun, [one.text]):
            return ""
        if fragment := antecedent(pronoun, [one.text], is_topic_enough=True):
            return fragment
    return antecedent(pronoun, earlier, is_topic_enough=True)


def _cited(claims: Sequence[Claim], sample: Sample) -> tuple[Claim, ...]:
    """Give each claim the citations of the stretches that it overlaps; what stands in the text was read there."""

    def has_words(one: Citation, claim: Claim) -> bool:
        stretch = sample.response[max(one.span.start, claim.span.start) : min(one.span.end, claim.span.end)]
        return any(character.isalnum() for character in stretch)

    read = [mark.span for mark in citations(sample.response).marks if mark.sources]
    beside = [one for one in sample.citations if not any(_overlap(one, start, end) for start, end in read)]
    return tuple(
        replace(claim, citations=tuple(dict.fromkeys(chain(claim.citations, own))))
        if (own := [one for one in beside if has_words(one, claim)])
        else claim
        for claim in claims
    )


def _overlap(citation: Citation, start: int, end: int) -> bool:
    return citation.span.start < end and start < citation.span.end
