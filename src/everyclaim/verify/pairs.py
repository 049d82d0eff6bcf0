"""The verifiers of classifiers of (premise, hypothesis): HHEM, NLI cross-encoders, MiniCheck (also as a chat model).

A claim is compared with every chunk of the passages: a run of neighbouring sentences, also across passages, cut between
sentences and never in silence. What any chunk supports is supported, else what any contradicts is contradicted; so
evidence may stand anywhere, and a chunk that knows nothing of the claim takes nothing away.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim, Evidence, Label, Passage, Probabilities, Verdict
from everyclaim.models.chat.replies import Inquiry, ask_for_each, portions
from everyclaim.prompts.verdicts import MiniCheckPrompt
from everyclaim.text.segment import sentences
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.alignment import point
from everyclaim.verify.lexical.passages import Piece, comparable

if TYPE_CHECKING:
    from everyclaim.models.local.hf_models import LoadedPairs

Lengths = Callable[[Sequence[str]], list[int]]
Chunk = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long a chunk is, and what becomes of a claim of several sentences.

    `tokens` are the model's, `words` are split at white space; None: no such bound, only the model's own. `claim` is
    judged as a `whole`, or sentence by sentence: its worst sentence decides (`min`), or their `mean`.
    """

    name: str
    tokens: int | None = None
    words: int | None = None
    claim: Literal["whole", "min", "mean"] = "whole"


WHOLE = Chunking("whole")
MINICHECK = Chunking("minicheck", tokens=400, claim="min")
MINICHECK_WORDS = Chunking("minicheck", words=500, claim="min")
ALIGNSCORE = Chunking("alignscore", tokens=350, claim="mean")


class ChunkSentence(NamedTuple):
    """A sentence ``passages[passage].text[start:end]`` and its size."""

    passage: int
    start: int
    end: int
    tokens: int
    words: int


@dataclass(frozen=True, slots=True)
class Document:
    """The passages of one call, as sentences with their sizes."""

    passages: Sequence[Passage]
    sentences: list[ChunkSentence]
    lengths: Lengths

    @classmethod
    def of(cls, passages: Sequence[Passage], lengths: Lengths) -> Document:
        """Measure the passages once; a text that stands there twice counts once."""
        first = {passage.text: i for i, passage in reversed(list(enumerate(passages)))}
        places = [(i, *span) for i in sorted(first.values()) for span in sentence_spans(passages[i].text)]
        return cls(passages, _measured(places, passages, lengths), lengths)

    def chunks(self, tokens: int, words: int | None = None) -> list[Chunk]:
        """Fill chunks in order of the text; a sentence that is too long by itself is cut at a blank."""
        fitting = [part for sentence in self.sentences for part in self._fitting(sentence, tokens)]
        runs: list[list[ChunkSentence]] = []
        have_tokens = have_words = 0
        for part in fitting:
            is_full = have_tokens + part.tokens > tokens or (words is not None and have_words + part.words > words)
            if is_full or not runs:
                runs.append([])
                have_tokens = have_words = 0
            runs[-1].append(part)
            have_tokens += part.tokens
            have_words += part.words
        return [self._chunk(run) for run in runs]

    def _fitting(self, sentence: ChunkSentence, tokens: int) -> list[ChunkSentence]:
        if sentence.tokens <= tokens or sentence.end - sentence.start < 2:
            return [sentence]
        text = self.passages[sentence.passage].text
        middle = (sentence.start + sentence.end) // 2
        blank = text.rfind(" ", sentence.start + 1, middle)
        cut = blank if blank > sentence.start else middle
        halves = [(sentence.passage, sentence.start, cut), (sentence.passage, cut, sentence.end)]
        parts = _measured(halves, self.passages, self.lengths)
        return [fitting for part in parts for fitting in self._fitting(part, tokens)]

    def _chunk(self, run: Sequence[ChunkSentence]) -> Chunk:
        """Join neighbours of one passage to one piece, so that what stands between them is kept."""
        ends: list[list[int]] = []
        for part in run:
            if ends and ends[-1][0] == part.passage:
                ends[-1][2] = part.end
            else:
                ends.append([part.passage, part.start, part.end])
        return tuple(Piece(i, start, self.passages[i].text[start:end]) for i, start, end in ends)


class Choice:
    """Which chunks to read for a claim when there are more than can be read: those that hold its rare words."""

    def __init__(self, chunks: Sequence[Chunk], most: int) -> None:
        self._chunks = chunks
        self._most = most
        self._keys: list[frozenset[str]] = []
        if len(chunks) > most:
            self._keys = [_keys(" ".join(piece.text for piece in chunk)) for chunk in chunks]
        self._holders = Counter(key for keys in self._keys for key in keys)

    def of(self, claim: str) -> list[int]:
        """Return the indices of the chunks to read, in order of the text."""
        count = len(self._chunks)
        if count <= self._most:
            return list(range(count))
        weights = {key: math.log(1 + count / self._holders[key]) for key in _keys(claim) if key in self._holders}
        gains = [sum(weights[key] for key in sorted(weights.keys() & keys)) for keys in self._keys]
        return sorted(sorted(range(count), key=lambda i: -gains[i])[: self._most])


def shown(chunk: Chunk) -> str:
    """Write a chunk as one premise: pieces of different passages on lines of their own."""
    return "\n".join(piece.text for piece in chunk)


def _measured(
    places: Sequence[tuple[int, int, int]], passages: Sequence[Passage], lengths: Lengths
) -> list[ChunkSentence]:
    texts = [passages[i].text[start:end] for i, start, end in places]
    # One more each: for the line break or blank that joins it to the next.
    return [
        ChunkSentence(*place, tokens + 1, len(text.split()))
        for place, text, tokens in zip(places, texts, lengths(texts), strict=True)
    ]


def _keys(text: str) -> frozenset[str]:
    return frozenset(comparable(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS)


_LEAST_ROOM = 16  # tokens of passages that must fit in beside a claim


class Asked(NamedTuple):
    """A claim's part beside one chunk."""

    claim: int
    part: int
    chunk: int
    of: int  # how many chunks there are
    pieces: Chunk


class PairMatch(NamedTuple):
    """What a model says about a claim's part beside the chunk that decides."""

    text: str
    asked: Asked
    probabilities: Probabilities
    label: Label
    conflict: bool


@dataclass(frozen=True, slots=True)
class PairVerifier:
    """Judge claims with a classifier of pairs.

    `threshold` is the least probability of a support; None: 0.5 where a model only tells supported from not, else the
    most probable label. At most `most` chunks are read per claim, those that share most with it. A model with two
    classes never says CONTRADICTED: its probabilities are (p, 1 - p, 0).
    """

    model: LoadedPairs
    chunking: Chunking
    spec: str
    threshold: float | None = None
    most: int = 64

    @property
    def parameters(self) -> Mapping[str, str]:
        """What made the verdicts: the model's revision, and how passages and claims are cut."""
        size = self.chunking.tokens or self.chunking.words
        unit = "tokens" if self.chunking.tokens else "words"
        return {
            **self.model.parameters,
            "hf_chunking": f"{self.chunking.name}, {size} {unit}" if size else self.chunking.name,
            "hf_claim": self.chunking.claim,
            "hf_threshold": "usual" if self.threshold is None else f"{self.threshold:g}",
            "hf_most_chunks": str(self.most),
        }

    async def verify(
        self,
        claims: Sequence[Claim],
        passages: Sequence[Passage],
        *,
        question: str = "",  # noqa: ARG002 - these models read no question
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order.

        Raises `JudgeError` for a claim that leaves no room for passages, and when the model gives no number.
        """
        parts = [self._parts(claim.text) for claim in claims]
        asked = await asyncio.to_thread(self._asked, parts, passages)
        pairs = [(shown(one.pieces), parts[one.claim][one.part]) for one in asked]
        answers = await self.model.judge(pairs)
        found: list[list[list[tuple[Asked, Probabilities]]]] = [[[] for _ in texts] for texts in parts]
        for one, probabilities in zip(asked, answers, strict=True):
            found[one.claim][one.part].append((one, probabilities))
        return [
            self._verdict(
                claim, [self._best(text, alone) for text, alone in zip(texts, rows, strict=True) if alone], passages
            )
            for claim, texts, rows in zip(claims, parts, found, strict=True)
        ]

    def _parts(self, text: str) -> list[str]:
        if self.chunking.claim == "whole":
            return [text]
        return [text[part.start : part.end] for part in sentences(text)] or [text]

    def _asked(self, parts: Sequence[Sequence[str]], passages: Sequence[Passage]) -> list[Asked]:
        """Lay every part of every claim beside the chunks it is to be compared with."""
        document = Document.of(passages, self.model.lengths)
        lengths = iter(self.model.lengths([text for texts in parts for text in texts]))
        choices: dict[int, tuple[list[Chunk], Choice]] = {}
        asked = []
        for i, texts in enumerate(parts):
            for j, text in enumerate(texts):
                room = self.model.limit - next(lengths) - 1
                if room < _LEAST_ROOM:
                    raise JudgeError("too_long", f"a claim of {len(text)} characters leaves no room for passages")
                size = min(room, self.chunking.tokens or room)
                if size not in choices:
                    chunks = document.chunks(size, self.chunking.words)
                    choices[size] = chunks, Choice(chunks, self.most)
                chunks, choice = choices[size]
                asked += [Asked(i, j, k, len(chunks), chunks[k]) for k in choice.of(text)]
        return asked

    def _best(self, text: str, alone: Sequence[tuple[Asked, Probabilities]]) -> PairMatch:
        """Choose the chunk that decides: the surest support, else the surest contradiction, else the closest."""
        labels = [self._label(probabilities) for _, probabilities in alone]
        label = next((one for one in (Label.SUPPORTED, Label.CONTRADICTED) if one in labels), Label.UNSUPPORTED)
        deciding = [pair for pair, one in zip(alone, labels, strict=True) if one is label]
        contradicted = label is Label.CONTRADICTED
        asked, probabilities = max(
            deciding, key=lambda pair: pair[1].contradicted if contradicted else pair[1].supported
        )
        return PairMatch(text, asked, probabilities, label, {Label.SUPPORTED, Label.CONTRADICTED} <= set(labels))

    def _label(self, probabilities: Probabilities) -> Label:
        supported, unsupported, contradicted = probabilities
        if self.threshold is None and contradicted > 0:
            return probabilities.label
        if supported >= (0.5 if self.threshold is None else self.threshold):
            return Label.SUPPORTED
        return Label.CONTRADICTED if contradicted > unsupported else Label.UNSUPPORTED

    def _verdict(self, claim: Claim, parts: Sequence[PairMatch], passages: Sequence[Passage]) -> Verdict:
        if not parts:  # passages without a word
            return Verdict(
                claim.id,
                Label.UNSUPPORTED,
                Probabilities(0.0, 1.0, 0.0),
                rationale="no passages to check against",
                judge=self.spec,
                flags=("no_passages",),
            )
        if self.chunking.claim == "mean":
            deciding, probabilities = list(parts), _mean([part.probabilities for part in parts])
            label = self._label(probabilities)
        else:
            worst = _worst(parts)
            deciding, probabilities, label = [worst], worst.probabilities, worst.label
            if label is Label.SUPPORTED:
                deciding = list(parts)
        asked = deciding[0].asked
        place = f" (chunk {asked.chunk + 1} of {asked.of})" if asked.of > 1 else ""
        return Verdict(
            claim_id=claim.id,
            label=label,
            probabilities=probabilities,
            evidence=() if label is Label.UNSUPPORTED else _evidence(deciding, passages),
            rationale=f"probability of support {probabilities.supported:.2f}{place}",
            judge=self.spec,
            conflict=any(part.conflict for part in parts),
        )


def _worst(parts: Sequence[PairMatch]) -> PairMatch:
    """Choose the part that decides a claim of several: a contradicted one, else the least supported."""
    contradicted = [part for part in parts if part.label is Label.CONTRADICTED]
    if contradicted:
        return max(contradicted, key=lambda part: part.probabilities.contradicted)
    return min(parts, key=lambda part: part.probabilities.supported)


def _mean(parts: Sequence[Probabilities]) -> Probabilities:
    supported, _, contradicted = (sum(column) / len(parts) for column in zip(*parts, strict=True))
    return Probabilities.rounded(supported, contradicted)


def _evidence(deciding: Sequence[PairMatch], passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Point at the sentences of the deciding chunks that speak of the claim; at all of a chunk when none does."""
    found: dict[Evidence, None] = {}
    for part in deciding:
        places = point(part.text, part.asked.pieces, passages)
        whole = [
            Evidence(passages[piece.passage].id, piece.offset, piece.offset + len(piece.text), piece.text)
            for piece in part.asked.pieces
            if piece.offset is not None
        ]
        found |= dict.fromkeys(places or whole)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MiniCheckChat:
    """Judge claims with Bespoke-MiniCheck-7B or a model trained like it. Never CONTRADICTED; no probabilities.

    It names no evidence: that of a supported claim is where the passages match its words best. `name` is the spec it
    was built from.
    """

    chat: ChatModel
    name: str = ""
    prompt: MiniCheckPrompt = field(default_factory=MiniCheckPrompt)

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the verdicts."""
        return {"judge_prompt": self.prompt.version, "claims_per_call": "1"}

    async def verify(
        self,
        claims: Sequence[Claim],
        passages: Sequence[Passage],
        *,
        question: str = "",  # noqa: ARG002 - the model was not trained to read one
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order.

        Raises `JudgeError` when the model cannot be reached, or twice answers neither Yes nor No.
        """
        texts = [passage.text for passage in passages]
        inquiry: Inquiry[str, bool] = Inquiry(
            self.chat, self.prompt, lambda asked, _: self.prompt.messages(asked, texts)
        )
        supported = await ask_for_each(inquiry, portions({claim.id: claim.text for claim in claims}, 1))
        pieces = [Piece(i, 0, text) for i, text in enumerate(texts)]
        return [
            Verdict(
                claim_id=claim.id,
                label=Label.SUPPORTED if supported[claim.id] else Label.UNSUPPORTED,
                evidence=point(claim.text, pieces, passages) if supported[claim.id] else (),
                judge=self.spec,
            )
            for claim in claims
        ]
