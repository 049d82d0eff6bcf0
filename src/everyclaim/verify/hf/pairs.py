"""The verifier of classifiers of (premise, hypothesis): HHEM, MiniCheck, NLI cross-encoders.

A claim is compared with every chunk of the passages. What any chunk supports is supported, else what any contradicts
is contradicted; so evidence may stand anywhere, and a chunk that knows nothing of the claim takes nothing away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.protocols import PairModel
from everyclaim.core.types import Claim, Evidence, Label, Passage, Probabilities, Verdict
from everyclaim.text.segment import sentences
from everyclaim.verify.hf.chunks import Choice, Chunk, Chunking, Document, shown
from everyclaim.verify.lexical.evidence import point

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

    model: PairModel
    chunking: Chunking
    name: str
    threshold: float | None = None
    most: int = 64

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise ConfigError(f"option threshold={self.threshold:g} must be between 0 and 1")

    @property
    def spec(self) -> str:
        """The spec it was built from."""
        return self.name

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
        """Make one verdict of a claim's parts."""
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
    supported, _, contradicted = (round(sum(column) / len(parts), 4) for column in zip(*parts, strict=True))
    return Probabilities(supported, max(0.0, round(1.0 - supported - contradicted, 4)), contradicted)


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
