"""The verifier of classifiers of an answer's tokens (LettuceDetect): which words does nothing in the passages back?

The answer that is read is made of the claims' sentences. Where the passages do not fit in at once they are shown in
several readings, and a word counts as unbacked only when *no* reading backs it: to take the worst over readings, as
is done elsewhere, condemns every word whose evidence stands in another one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.kinds import Range
from everyclaim.core.options import divided, read
from everyclaim.core.protocols import Marked, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Passage, Probabilities, Span, Verdict
from everyclaim.models.local.hf_files import ModelOptions, read_options
from everyclaim.models.local.hf_models import LoadedTokens, load_model
from everyclaim.text.tokens import tokenize
from everyclaim.verify.lexical.alignment import point
from everyclaim.verify.lexical.passages import Piece
from everyclaim.verify.pairs import (
    ALIGNSCORE,
    MINICHECK,
    MINICHECK_WORDS,
    WHOLE,
    Chunking,
    Document,
    Lengths,
    PairVerifier,
)

_LEAST_ROOM = 32  # tokens of passages that must fit in beside question and answer


class Shown(NamedTuple):
    """What the model was shown in all."""

    answer: str
    pieces: Sequence[Piece]
    passages: Sequence[Passage]


class MarkedAnswer(NamedTuple):
    """The claims' sentences as one text, and where each claim's words stand in it."""

    text: str
    places: list[list[Span]]


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """Judge claims by the tokens of their sentences.

    A token is unbacked from the probability `threshold` on. A claim is UNSUPPORTED when more than `share` of its tokens
    are; with the usual 0 one is enough, as a single wrong number is. Never CONTRADICTED.
    """

    model: LoadedTokens
    spec: str
    threshold: float = 0.5
    share: float = 0.0

    @property
    def parameters(self) -> Mapping[str, str]:
        """What made the verdicts beside the model."""
        return {
            **self.model.parameters,
            "hf_threshold": f"{self.threshold:g}",
            "hf_share": f"{self.share:g}",
        }

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order.

        Raises `JudgeError` for an answer that leaves no room for passages.
        """
        answer = answer_of(claims)
        readings = await asyncio.to_thread(self._readings, answer.text, passages, question)
        texts = [[piece.text for piece in reading] for reading in readings]
        read = await self.model.mark(texts, question, answer.text)
        marks = [min(several, key=lambda mark: mark.unbacked) for several in zip(*read, strict=True)]
        shown = Shown(answer.text, [piece for reading in readings for piece in reading], passages)
        return [
            self._verdict(claim, _in_place(marks, places, answer.text), shown)
            for claim, places in zip(claims, answer.places, strict=True)
        ]

    def _readings(self, answer: str, passages: Sequence[Passage], question: str) -> list[list[Piece]]:
        """Share the passages out over as few readings as hold them; only a passage too long for one is cut."""
        room = self.model.room(question, answer)
        if room < _LEAST_ROOM:
            raise JudgeError("too_long", f"an answer of {len(answer)} characters leaves no room for passages")
        pieces = _pieces(passages, self.model.lengths, room)
        readings: list[list[Piece]] = []
        have = 0
        for piece, tokens in zip(pieces, self.model.lengths([piece.text for piece in pieces]), strict=True):
            if not readings or have + tokens > room:
                readings.append([])
                have = 0
            readings[-1].append(piece)
            have += tokens
        return readings

    def _verdict(self, claim: Claim, marks: Sequence[Marked], shown: Shown) -> Verdict:
        """Count the unbacked among a claim's tokens. `marks` are those of words in its place."""
        ranked = sorted((mark.unbacked for mark in marks), reverse=True)
        # The token that would have to be backed for the claim to stand; it gives the claim its probability.
        decisive = ranked[math.floor(self.share * len(ranked))] if ranked else 1.0
        is_backed = decisive < self.threshold
        bad = _runs([mark for mark in marks if mark.unbacked >= self.threshold], shown.answer)
        return Verdict(
            claim_id=claim.id,
            label=Label.SUPPORTED if is_backed else Label.UNSUPPORTED,
            probabilities=Probabilities.rounded(1.0 - decisive),
            evidence=point(claim.text, shown.pieces, shown.passages) if is_backed else (),
            rationale="not supported: " + ", ".join(repr(text) for text in bad) if bad else "every token is supported",
            judge=self.spec,
        )


def answer_of(claims: Sequence[Claim]) -> MarkedAnswer:
    """Put the claims' sentences together, in the order of the response, and find each claim in them.

    A claim that stands there word for word has that place; of one that was reworded, the words that are its own do.
    """
    starts: dict[str, int] = {}
    length = 0
    for claim in sorted(claims, key=lambda claim: claim.span):
        text = _sentence(claim)
        if text not in starts:
            starts[text] = length
            length += len(text) + 1
    return MarkedAnswer(" ".join(starts), [_places(claim.text, _sentence(claim), starts) for claim in claims])


def _sentence(claim: Claim) -> str:
    """Return the sentence a claim is read in: its own text when they share no word."""
    if not claim.sentence.strip():
        return claim.text
    ours = {token.norm for token in tokenize(claim.text)}
    return claim.sentence if any(token.norm in ours for token in tokenize(claim.sentence)) else claim.text


def _places(text: str, sentence: str, starts: Mapping[str, int]) -> list[Span]:
    base = starts[sentence]
    plain = text.strip().rstrip(".!?")
    found = sentence.find(plain)
    if found >= 0 and not sentence[found + len(plain) : found + len(plain) + 1].isalnum():
        return [Span(base + found, base + found + len(plain))]
    ours = {token.norm for token in tokenize(text)}
    return [Span(base + token.start, base + token.end) for token in tokenize(sentence) if token.norm in ours]


def _pieces(passages: Sequence[Passage], lengths: Lengths, room: int) -> list[Piece]:
    """Return the passages, each once, those that are too long in pieces."""
    first = {passage.text: i for i, passage in reversed(list(enumerate(passages))) if passage.text.strip()}
    kept = sorted(first.values())
    pieces = []
    for i, tokens in zip(kept, lengths([passages[i].text for i in kept]), strict=True):
        if tokens <= room:
            pieces.append(Piece(i, 0, passages[i].text))
        else:
            chunks = Document.of(passages[i : i + 1], lengths).chunks(room)
            pieces += [Piece(i, piece.offset, piece.text) for chunk in chunks for piece in chunk]
    return pieces


def _in_place(marks: Sequence[Marked], places: Sequence[Span], answer: str) -> list[Marked]:
    """Return the marks of words (not of punctuation) that lie in some places."""
    words = [mark for mark in marks if any(map(str.isalnum, answer[mark.start : mark.end]))]
    return [mark for mark in words if any(mark.start < place.end and mark.end > place.start for place in places)]


def _runs(marks: Sequence[Marked], answer: str) -> list[str]:
    """Join neighbouring tokens to the words a reader sees."""
    ends: list[list[int]] = []
    for mark in marks:
        if ends and not answer[ends[-1][1] : mark.start].strip():
            ends[-1][1] = mark.end
        else:
            ends.append([mark.start, mark.end])
    return [answer[start:end].strip() for start, end in ends]


# ---- specs

_CHUNKINGS = {"whole": WHOLE, "minicheck": MINICHECK, "alignscore": ALIGNSCORE}
# As each family was trained and published.
_USUAL: Mapping[str, Chunking] = {
    "hhem": WHOLE,
    "minicheck": MINICHECK,
    "minicheck-t5": MINICHECK_WORDS,
    "nli": MINICHECK,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfJudging(ModelOptions):
    """What a spec may say of how a model judges, beside how it is loaded."""

    threshold: Annotated[float, Range(above=0, below=1)] | None = None  # probability above which a claim is supported
    chunking: Literal["whole", "minicheck", "alignscore"] | None = None  # of pair classifiers, as the next two
    chunk: Annotated[int, Range(16, 1_000_000)] | None = None  # tokens
    most: Annotated[int, Range(1, 1_000_000)] | None = None  # chunks per claim
    share: Annotated[float, Range(0, below=1)] | None = None  # of flagged tokens at most; token classifiers


def hf_verifier(spec: Spec) -> Verifier:
    """Build the judge that ``hf:<model id or folder>`` names; the model is loaded now.

    Options are those of `OfJudging`. Raises `ConfigError`, `MissingExtraError` or `OperatorError` when it cannot be
    had.
    """
    said = read(spec, OfJudging)
    threshold, share, named, size, most = said.threshold, said.share, said.chunking, said.chunk, said.most
    options = read_options(divided(spec, ModelOptions)[0])
    model = load_model(options)
    if isinstance(model, LoadedTokens):
        if named or size or most:
            raise ConfigError(
                f"'chunking', 'chunk' and 'most' apply to pair classifiers; {options.model!r} classifies tokens"
            )
        usual = TokenVerifier(model, str(spec))
        return replace(usual, threshold=threshold or usual.threshold, share=share or 0.0)
    if share is not None:
        raise ConfigError(f"'share' applies to token classifiers; {options.model!r} judges whole claims")
    family = model.parameters["hf_family"]
    chunking = _USUAL[family]
    if named and named != chunking.name:
        chunking = _CHUNKINGS[named]
    if size:
        chunking = replace(chunking, tokens=size, words=None)
    return PairVerifier(model, chunking, str(spec), threshold, most or 64)
