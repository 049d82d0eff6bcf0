"""The border between a decomposer and the rest: claims are identified, placed and faithful, or the sample fails."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.limits import limits_here
from everyclaim.core.protocols import Decomposer
from everyclaim.core.types import Claim, Decomposition, Span
from everyclaim.decompose.citing import tied, with_citations_listed
from everyclaim.decompose.contexts import BEHIND, Ground, grounds
from everyclaim.decompose.omissions import marked
from everyclaim.decompose.questions import answered
from everyclaim.decompose.selection import is_bare_answer, is_yes
from everyclaim.decompose.split_check import SplitSource, inventions
from everyclaim.decompose.units import tidy
from everyclaim.text.citations import without_citations


async def decomposed(decomposer: Decomposer, response: str, *, question: str = "") -> Decomposition:
    """Decompose a response and check what comes back; a blank response needs no decomposer.

    A claim that invents something is not believed (rule 9): the sentence itself takes the place of its claims. What is
    skipped although it says something is marked. Citations are taken out of the claims' texts and tied to them. Raises
    `JudgeError` for claims without text, with repeated ids, or with spans outside the response, and `InputError` for
    more of them than the limits allow.
    """
    if not response.strip():
        return Decomposition(claims=())
    parts = await decomposer.decompose(response, question=question)
    if not isinstance(parts, Decomposition):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} returned {type(parts).__name__}")
    limits_here().check_claims(len(parts.claims), "claims")
    if len({claim.id for claim in parts.claims}) < len(parts.claims):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} gave two claims the same id")
    for claim in parts.claims:
        if not claim.text.strip():
            raise JudgeError("bad_decomposition", f"{decomposer.spec} gave claim {claim.id} no text")
        if not 0 <= claim.span.start <= claim.span.end <= len(response):
            raise JudgeError("bad_decomposition", f"{decomposer.spec} placed claim {claim.id} outside the response")
    found = grounds(response, getattr(decomposer, "language", "")) or [Ground(0, len(response), "paragraph", response)]
    claims, number = tuple(map(_uncited, parts.claims)), 0
    if not getattr(decomposer, "checks_inventions", False):
        claims, number = _faithful(claims, response, question, found)
    claims = tied(claims, response, found)
    parts = marked(replace(parts, claims=claims, kept_whole=parts.kept_whole + number), question)
    return with_citations_listed(parts, response)


def _uncited(claim: Claim) -> Claim:
    """Take citations out of a claim's text (rule 16)."""
    bare = without_citations(claim.text)
    return claim if bare == claim.text or not bare.strip(" .") else replace(claim, text=tidy(bare))


def _faithful(
    claims: Sequence[Claim], response: str, question: str, found: Sequence[Ground]
) -> tuple[tuple[Claim, ...], int]:
    """Put the sentence in the place of its claims where one of them invents something; say how often that was."""
    ends = [one.end for one in found]
    places = {claim.id: _place(claim, found, ends, response) for claim in claims}
    texts = {place: _joined(found[slice(*place)]) for place in set(places.values())}
    plain = {place: " ".join(text.split()) for place, text in texts.items()}
    together: dict[tuple[int, int], list[str]] = {}
    for claim in claims:
        place = places[claim.id]
        if " ".join(claim.text.split()) != plain[place] and not _answers(claim.text, plain[place], question):
            together.setdefault(place, []).append(claim.text)
    source = SplitSource(response, question) if together else None
    wrong = {place for place, several in together.items() if source and inventions(several, texts[place], source)}
    kept: list[Claim] = []
    for claim in claims:
        place = places[claim.id]
        if place not in wrong:
            kept.append(claim)
        elif texts.pop(place, None) is not None:  # the first of its sentence
            span = Span(found[place[0]].start, found[place[1] - 1].end)
            sentence = response[span.start : span.end]
            kept.append(replace(claim, text=plain[place], span=span, sentence=sentence))
    return tuple(kept), len(wrong)


def _answers(claim: str, sentence: str, question: str) -> bool:
    """Whether a claim is what a lone yes or no says to the question."""
    return is_bare_answer(sentence) and claim == answered(question, yes=is_yes(sentence))


def _joined(several: Sequence[Ground]) -> str:
    """Return what a claim may be made of; of several sentences none is the lead-in of all that follows."""
    return several[0].text if len(several) == 1 else " ".join(one.text.replace(BEHIND, " ") for one in several)


def _place(claim: Claim, found: Sequence[Ground], ends: Sequence[int], response: str) -> tuple[int, int]:
    """Return the sentences that a claim's span touches, half-open; that alone which the claim names, if it does."""
    first = min(bisect_right(ends, claim.span.start), len(found) - 1)
    last = first + 1
    while last < len(found) and found[last].start < claim.span.end:
        last += 1
    named = claim.sentence.strip()
    for place in range(first, last) if last > first + 1 else ():
        if response[found[place].start : found[place].end] == named:
            return place, place + 1
    return first, last
