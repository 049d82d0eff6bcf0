"""QA consistency without a model: claims with a blank for every name, number and date.

Weaker than real questions, and meant to be: it can ask only for what can be recognised by its form, the answer of
the response is what stood at the blank, and that of the passages is the name, number or date of the same kind in
the sentence that lines up best with the rest of the claim. A fact told in other words is often not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from everyclaim.core.types import Claim, Sample
from everyclaim.metrics.context import MetricContext
from everyclaim.metrics.qa import Exam, QaQuestion, exact
from everyclaim.text import agreement, dates, quantities
from everyclaim.text.names import covered, names
from everyclaim.text.tokens import content_stems
from everyclaim.verify.lexical.alignment import AlignedSource, align, reading_of, source_of
from everyclaim.verify.lexical.passages import Shortlist
from everyclaim.verify.lexical.reading import Float32Array, Reading, shipped_vectors

Kind = Literal["date", "number", "name"]
BLANK = "____"
AT_MOST = 100  # questions about one response
_LINED_UP = 0.4  # share of a claim's weight that a sentence must cover to answer for it
_BEFORE = 0.5  # what a word of the sentence before counts: a subject is often named there
_AS_GOOD = 0.1  # sentences this much behind the best may answer as well
_LONGEST = 1000  # characters; a longer claim is no question


class ClozeMark(NamedTuple):
    """Something that can be asked for; ``text[start:end]`` of where it stands."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClozeExaminer:
    """Blank out names, numbers and dates of claims and look for what the passages have in their place."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What made the questions and answers, for the result's provenance."""
        return {"questions": "cloze-1"}

    async def examine(self, sample: Sample, claims: Sequence[Claim], ctx: MetricContext) -> list[Exam]:
        """Return a cloze question for every name, number and date of the claims, the same one once."""
        del ctx
        shelf = Shortlist.of([passage for passage in sample.passages if passage.text.strip()])
        asked: dict[str, Exam] = {}
        for claim in claims:
            for mark in marks(claim.text) if len(claim.text) <= _LONGEST else ():
                words = claim.text[mark.start : mark.end]
                text = claim.text[: mark.start] + BLANK + claim.text[mark.end :]
                if text in asked or not _context(text).content or len(asked) == AT_MOST:
                    continue
                hole = (mark.start, mark.start + len(BLANK))
                question = QaQuestion(f"q{len(asked) + 1}", text, claim.sentence, hole)
                asked[text] = Exam(question, words, _answer(shelf, claim.text, mark, _context(text)))
        return list(asked.values())


def marks(text: str) -> list[ClozeMark]:
    """Return the dates, numbers and names of a text in order, without overlap; dates go before the others.

    Ordinals are left out: hardly a question asks for the "first" of "the first game".
    """
    found = [ClozeMark("date", moment.start, moment.end) for moment in dates.moments(text)]
    numbers = [found for found in quantities.quantities(text) if found.dimension != "ordinal"]
    others = [ClozeMark("number", number.start, number.end) for number in numbers]
    others += [ClozeMark("name", name.start, name.end) for name in names(text)]
    for mark in others:
        if all(mark.end <= other.start or other.end <= mark.start for other in found):
            found.append(mark)
    return sorted(found, key=lambda mark: mark.start)


def _answer(shortlist: Shortlist, claim: str, mark: ClozeMark, context: Reading) -> str | None:
    """Return what stands in the place of a claim's mark; None where no sentence lines up or has the like."""
    texts = tuple(piece.text for piece in shortlist.pieces(context.keys))
    source = source_of(texts, every_word=False)
    if not source.places:
        return None
    strengths = _strengths(context, source)
    order = [int(i) for i in np.argsort(-strengths, kind="stable") if strengths[i] >= _LINED_UP]
    best: float | None = None
    found: list[str] = []
    for place in order:
        if best is not None and strengths[place] < best - _AS_GOOD:
            break
        candidates = list(_candidates(source, place, claim, mark, context))
        if candidates and best is None:
            best = float(strengths[place])
        found += candidates
    wanted = claim[mark.start : mark.end]
    return next((text for text in found if _same(mark.kind, wanted, text)), found[0] if found else None)


def _strengths(context: Reading, source: AlignedSource) -> Float32Array:
    """Return how much of the context's weight each sentence covers, with half of what only the one before has."""
    aligned = align(context, source, shipped_vectors())
    held = (aligned.exact + aligned.soft) / 2
    before = np.zeros_like(held)
    together = source.owner[1:] == source.owner[:-1]
    before[:, 1:] = np.where(together[None, :], held[:, :-1], 0.0)
    strengths: Float32Array = aligned.weights @ np.maximum(held, _BEFORE * before)
    return strengths


def _candidates(source: AlignedSource, place: int, claim: str, mark: ClozeMark, context: Reading) -> Iterator[str]:
    """Give what of the mark's kind a sentence holds, nearest to the claim's words first, but not what the claim
    says in another place.
    """
    number, sentence = source.places[place]
    reading = source.readings[number]
    start, end = reading.sentences[sentence]
    text = reading.text[start:end]
    keys = {context.keys[i] for i in context.content}
    shared = [
        reading.spans[i][0] - start
        for i, key in enumerate(reading.keys)
        if reading.sentence[i] == sentence and key in keys
    ]
    rest = claim[: mark.start] + " ; " + claim[mark.end :]
    fitting = [
        other for other in marks(text)
        if other.kind == mark.kind and not _said(mark.kind, text[other.start : other.end], rest)
    ]  # fmt: skip
    wanted = claim[mark.start : mark.end]
    if mark.kind == "number":
        fitting = [other for other in fitting if _comparable(wanted, text[other.start : other.end])]
    fitting.sort(key=lambda other: min((abs(other.start - at) for at in shared), default=0))
    return (text[other.start : other.end] for other in fitting)


def _said(kind: Kind, words: str, rest: str) -> bool:
    """Whether the rest of a claim says this already, so that it is not what the blank asks for."""
    if kind == "name":
        return covered(words, names(rest)) or content_stems(words) <= content_stems(rest)
    return any(_same(kind, words, rest[mark.start : mark.end]) for mark in marks(rest) if mark.kind == kind)


def _same(kind: Kind, first: str, second: str) -> bool:
    if exact(first, second):
        return True
    if kind == "name":
        return covered(first, [second]) or covered(second, [first]) or content_stems(first) == content_stems(second)
    if kind == "date":
        return any(agreement.same(a, b) for a in dates.moments(first) for b in dates.moments(second))
    return any(agreement.same(a, b) for a in quantities.quantities(first) for b in quantities.quantities(second))


def _comparable(first: str, second: str) -> bool:
    return any(a.dimension == b.dimension for a in quantities.quantities(first) for b in quantities.quantities(second))


def _context(text: str) -> Reading:
    return reading_of(text.replace(BLANK, " "))
