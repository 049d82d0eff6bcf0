"""A decomposer that splits at bars and a verifier that knows who supports what: the metrics' arithmetic alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Claim, Decomposition, Label, Passage, Span, Verdict


@dataclass(frozen=True)
class Bars:
    """``a | b`` are the claims ``a`` and ``b``; ``?`` declines to answer."""

    spec: str = "bars"

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        if response.strip() == "?":
            return Decomposition((), abstained=True)
        claims: list[Claim] = []
        at = 0
        for piece in response.split("|"):
            text = piece.strip()
            if text:
                start = at + piece.index(text)
                claims.append(Claim(f"c{len(claims) + 1}", text, Span(start, start + len(text)), text))
            at += len(piece) + 1
        return Decomposition(tuple(claims))


@dataclass
class Says:
    """A text supports claims whose words all stand in it, and contradicts those that stand there after NOT-."""

    spec: str = "says"
    broken: bool = False
    asked: list[tuple[str, ...]] = field(default_factory=list)  # the passages' ids of every call

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        self.asked.append(tuple(passage.id for passage in passages))
        if self.broken:
            raise JudgeError("bad_reply", "nothing usable")
        words = {word for passage in passages for word in passage.text.replace("|", " ").split()}
        return [Verdict(claim.id, _label(claim.text, words)) for claim in claims]


def _label(text: str, words: set[str]) -> Label:
    if set(text.split()) <= words:
        return Label.SUPPORTED
    return Label.CONTRADICTED if f"NOT-{text}" in words else Label.UNSUPPORTED
