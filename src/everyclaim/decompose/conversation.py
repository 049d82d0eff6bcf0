"""What a conversation and a provider say of the claims of an answer: what its pronouns stand for, and what it cites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from everyclaim.core.types import Citation, Claim, Decomposition, Sample
from everyclaim.decompose.antecedents import PRONOUN, is_expletive, named, put
from everyclaim.models.local.parser import parse
from everyclaim.text.citations import citations
from everyclaim.text.edges import capital
from everyclaim.text.names import names
from everyclaim.text.segment import sentences

_TURNS = 6  # that are looked back on


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
    told = [*(turn.text for turn in sample.history[-_TURNS:]), sample.question]
    earlier = [text[one.start : one.end] for text in told for one in sentences(text)][::-1]
    found: list[Claim] = []
    for claim in claims:
        pronoun = PRONOUN.match(claim.text)
        own = [one.text for one in reversed(found) if one.sentence != claim.sentence]
        if pronoun and not is_expletive(claim.text) and not named(claim.text, pronoun, own):
            wholes = (named(claim.text, pronoun, [one]) or _by_name(claim.text, pronoun, one) for one in earlier)
            whole = next(filter(None, wholes), "")
            found.append(replace(claim, text=whole) if whole else claim)
        else:
            found.append(claim)
    return tuple(found)


def _by_name(text: str, pronoun: re.Match[str], sentence: str) -> str:
    """Put the one name of a sentence in the place of "it" or "its"; empty where there is none, or several."""
    nouns = {token.start for token in parse([sentence])[0] if token.tag.startswith("NN")}
    known = {name.text: name for name in names(sentence) if name.start in nouns}  # and not "Gladly."
    if len(known) != 1 or pronoun.group().strip().lower() not in {"it", "its"}:
        return ""
    name = next(iter(known.values()))
    article = "the " if sentence[: name.start].lower().endswith("the ") else ""
    return put(capital(article + name.text), text, pronoun)


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
