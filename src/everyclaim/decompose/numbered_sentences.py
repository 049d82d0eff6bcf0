"""A response as numbered sentences on their way to a model, and the claims put back in their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from everyclaim.core.limits import limits_here
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.claim_spans import place
from everyclaim.decompose.contexts import BEFORE, grounds
from everyclaim.decompose.units import tidy
from everyclaim.prompts.split import Split
from everyclaim.text.citations import without_citations

CHARACTERS_PER_CALL = 12_000
_UNASKED: Mapping[str, str] = {"code": "code", "citation": "citation"}  # kinds of blocks that no model must see


class NumberedSentence(NamedTuple):
    """One sentence; ``response[start:end] == text``. `number` is its place in the response, from 0.

    `ground` is what its claims may be made of: the sentence behind its lead-in, where it has one.
    """

    number: int
    text: str
    start: int
    end: int
    ground: str

    @property
    def whole(self) -> Split:
        """The sentence as its own only claim, without its citations."""
        return Split((tidy(without_citations(self.text)),))


def numbered_sentences(response: str, language: str) -> tuple[list[NumberedSentence], list[Skipped]]:
    """Number the sentences that a model must see; code and what has no word in it is skipped without asking."""
    pieces: list[NumberedSentence] = []
    skipped: list[Skipped] = []
    everything = grounds(response, language)
    limits_here().check_claims(len(everything))
    for number, found in enumerate(everything):
        text = response[found.start : found.end]
        if found.kind in _UNASKED or not any(character.isalnum() for character in text):
            skipped.append(Skipped(text, Span(found.start, found.end), _UNASKED.get(found.kind, "no_words")))
        else:
            pieces.append(NumberedSentence(number, text, found.start, found.end, found.text))
    return pieces, skipped


def portions(pieces: Sequence[NumberedSentence], at_most: int) -> Iterator[list[NumberedSentence]]:
    """Cut a list of sentences into requests of a bounded number of sentences and characters."""
    part: list[NumberedSentence] = []
    size = 0
    for piece in pieces:
        if part and (len(part) == at_most or size + len(piece.text) > CHARACTERS_PER_CALL):
            yield part
            part, size = [], 0
        part.append(piece)
        size += len(piece.text)
    if part:
        yield part


def context(response: str, pieces: Sequence[NumberedSentence]) -> str:
    """Return what stands before these sentences, so that what "it" means is known.

    Where sentences are missing in between, the text that holds them all is given.
    """
    together = pieces[-1].number - pieces[0].number == len(pieces) - 1
    start, end = pieces[0].start, (pieces[0] if together else pieces[-1]).start
    begin = max(0, start - BEFORE)
    text = response[begin:end].strip()
    return f"… {text}" if begin and text else text


def assembled(
    pieces: Sequence[NumberedSentence], splits: Mapping[int, Split], skipped: Sequence[Skipped], *, kept_whole: int = 0
) -> Decomposition:
    """Put claims and skipped sentences of a response together; it abstained when that is all it does.

    Claims of one sentence stay in the order in which the model gave them.
    """
    claims: list[Claim] = []
    left = list(skipped)
    for piece in pieces:
        split = splits[piece.number]
        if not split.claims:
            left.append(Skipped(piece.text, Span(piece.start, piece.end), split.skip))
        for text in split.claims:
            span = place(text, piece.text, piece.start)
            claims.append(Claim(f"c{len(claims) + 1}", text, span, piece.text))
    left.sort(key=lambda skip: skip.span)
    abstained = not claims and any(skip.reason == "abstention" for skip in left)
    return Decomposition(tuple(claims), tuple(left), abstained, kept_whole)
