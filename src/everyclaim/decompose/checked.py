"""The border between a decomposer and the rest: claims are identified, placed and faithful, or the sample fails."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Decomposer
from everyclaim.core.types import Claim, Decomposition, Span
from everyclaim.decompose.grounds import Ground, grounds
from everyclaim.decompose.leftout import marked
from everyclaim.decompose.strangers import Surroundings, faults


async def decomposed(decomposer: Decomposer, response: str, *, question: str = "") -> Decomposition:
    """Decompose a response and check what comes back; a blank response needs no decomposer.

    A claim that holds or lacks what its sentence does not is not believed (rule 9): the sentence itself takes the place
    of its claims. What is skipped although it says something is marked. Raises `JudgeError` for claims without text,
    with repeated ids, or with spans outside the response.
    """
    if not response.strip():
        return Decomposition(claims=())
    parts = await decomposer.decompose(response, question=question)
    if not isinstance(parts, Decomposition):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} returned {type(parts).__name__}")
    if len({claim.id for claim in parts.claims}) < len(parts.claims):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} gave two claims the same id")
    for claim in parts.claims:
        if not claim.text.strip():
            raise JudgeError("bad_decomposition", f"{decomposer.spec} gave claim {claim.id} no text")
        if not 0 <= claim.span.start <= claim.span.end <= len(response):
            raise JudgeError("bad_decomposition", f"{decomposer.spec} placed claim {claim.id} outside the response")
    claims = _faithful(parts.claims, response, question, getattr(decomposer, "language", "en"))
    return marked(replace(parts, claims=claims), question)


def _faithful(claims: Sequence[Claim], response: str, question: str, language: str) -> tuple[Claim, ...]:
    """Put the sentence in the place of its claims where one of them is not its own."""
    found = grounds(response, language)
    ends = [one.end for one in found]
    around: Surroundings | None = None
    places = {claim.id: _place(claim, found, ends) for claim in claims}
    wrong: set[tuple[int, int]] = set()
    for claim in claims:
        place = places[claim.id]
        text = " ".join(one.text for one in found[slice(*place)])
        if " ".join(claim.text.split()) == " ".join(text.split()):
            continue
        around = around or Surroundings.of(response, question)
        if any(faults(claim.text, text, around)):
            wrong.add(place)
    kept: list[Claim] = []
    for claim in claims:
        place = places[claim.id]
        if place not in wrong:
            kept.append(claim)
        elif not any(other.id in places and places[other.id] == place for other in kept):
            kept.append(_whole(claim, found[slice(*place)], response))
    return tuple(kept)


def _place(claim: Claim, found: Sequence[Ground], ends: Sequence[int]) -> tuple[int, int]:
    """Return the sentences that a claim's span touches, half-open; the nearest one for an empty span."""
    first = min(bisect_right(ends, claim.span.start), len(found) - 1)
    last = first + 1
    while last < len(found) and found[last].start < claim.span.end:
        last += 1
    return first, last


def _whole(claim: Claim, places: Sequence[Ground], response: str) -> Claim:
    span = Span(places[0].start, places[-1].end)
    text = " ".join(" ".join(one.text for one in places).split())
    return replace(claim, text=text, span=span, sentence=response[span.start : span.end])
