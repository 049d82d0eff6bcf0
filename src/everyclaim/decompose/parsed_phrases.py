"""Phrases that the parser hung elsewhere than their neighbours speak for: behind a participle, or in a gap."""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.decompose.parsed_names import cases_of, first_word, has, is_under
from everyclaim.models.local.parser import ParsedToken


def bare_participle(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The participle of the same noun that a phrase follows, and that nothing else depends on."""
    verb = first_word(tokens, place) - 1
    beside = verb > tokens[place].head and tokens[verb][4:] == ("VBN", tokens[place].head, "acl")
    return verb if beside and not any(one.head == verb for one in tokens) else None


def gapped(tokens: Sequence[ParsedToken], place: int) -> tuple[int, int] | None:
    """What a noun hung on the phrase before it is rather beside, and the phrase of that kind behind it."""
    above = tokens[place].head
    cases, before = cases_of(tokens, above), first_word(tokens, above) - 1
    if cases in ([], ["of"]) or cases_of(tokens, place) or tokens[place].pos not in {"NOUN", "PROPN"} or before < 0:
        return None
    inside = [i for i in range(place, len(tokens)) if is_under(tokens, i, place)]
    behind = [
        i for i in range(place + 1, len(tokens))
        if cases_of(tokens, i) == cases and first_word(tokens, i) in {place + 1, inside[-1] + 1}
    ]  # fmt: skip
    if not behind or tokens[behind[0]].pos != tokens[above].pos:
        return None
    verb = tokens[above].head if tokens[above].relation == "obl" else tokens[tokens[above].head].head
    nouns = [i for i in range(above) if tokens[i].head == verb and tokens[i].relation in {"obj", "nsubj", "nsubj:pass"}]
    alike = [i for i in nouns[::-1] if tokens[i].pos == tokens[place].pos]
    return (alike[0], behind[0]) if alike and alike[0] == nouns[-1] else None


def noun_before(tokens: Sequence[ParsedToken], place: int) -> int | None:
    """The noun right before a phrase that no sign or conjunction joins to a list, or that hangs on a later noun."""
    if tokens[place].relation == "nmod" and tokens[place].head < place:
        return None
    before = first_word(tokens, place) - 1
    is_phrase = (
        tokens[place].pos in {"NOUN", "PROPN"} and cases_of(tokens, place) and not has(tokens, place, {"cc", "punct"})
    )
    return before if is_phrase and before >= 0 and tokens[before].pos in {"NOUN", "PROPN"} else None
