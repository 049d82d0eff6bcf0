"""The decomposer that asks a chat model, sentence by sentence, and believes it only after a check.

Every sentence of the response comes back as claims or as skipped with a reason; what the model leaves out is asked for
again, and then kept as it stands; so are claims that invent something. A reply that was cut is not used: the request is
halved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Decomposition
from everyclaim.decompose.numbered_sentences import NumberedSentence, assembled, context, numbered_sentences, portions
from everyclaim.decompose.split_check import SplitSource, inventions
from everyclaim.models.chat.reask import TOO_MUCH, WORTH_ASKING_AGAIN, Inquiry, ask_for_each, ask_once
from everyclaim.prompts.split import Degree, Split, SplitPrompt, SplitTask, spelt_out

# Faults of a reply, after which the sentence itself is the claim; a provider that cannot be reached is a failure.
_KEEP_SENTENCE = WORTH_ASKING_AGAIN | TOO_MUCH | {"refused", "filtered"}

Former = Mapping[str, Sequence[str]]  # the claims of a sentence, each with what it invents


@dataclass(frozen=True, slots=True)
class LlmDecomposer:
    """Split a response with a chat model: one call up to `at_most` sentences, more calls for longer answers.

    `language` is an ISO 639-1 code for sentence boundaries, empty to go by the text; claims stay in the response's
    language whatever it is. `name` is the spec it was built from, the chat model's own when empty.
    """

    chat: ChatModel
    prompt: SplitPrompt = field(default_factory=SplitPrompt)
    at_most: int = 30
    language: str = ""
    name: str = ""
    reply_limit: str = ""  # most tokens of a reply, as the provenance says it
    checks_inventions: ClassVar[bool] = True  # so nobody has to do it again

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the claims, for the result's provenance."""
        limit = {"split_reply_limit": self.reply_limit} if self.reply_limit else {}
        return {"split_prompt": self.prompt.version, "sentences_per_call": str(self.at_most), **limit}

    def adjusted(self, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> LlmDecomposer:
        """Return this decomposer with another wording of its prompt: how fine claims are, and how much they cover."""
        degrees = {"atomicity": atomicity, "coverage": coverage}
        said = {name: degree for name, degree in degrees.items() if degree is not None}
        spec = Spec.parse(self.spec)
        name = str(Spec(spec.name, spec.argument, {**spec.options, **said}))
        prompt = replace(
            self.prompt, atomicity=atomicity or self.prompt.atomicity, coverage=coverage or self.prompt.coverage
        )
        return replace(self, prompt=prompt, name=name)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Split a response into claims `c1`, `c2`, ... by sentence, in the model's order.

        Raises `JudgeError` when the model cannot be reached, declines, or twice says nothing usable at all.
        """
        pieces, skipped = numbered_sentences(response, self.language)
        job = _Job(self, response, question)
        parts = [_by_number(part) for part in portions(pieces, self.at_most)]
        splits = await ask_for_each(job.inquiry(), parts)
        kept, number = await job.corrected(pieces, splits)
        return assembled(pieces, kept, skipped, kept_whole=number)


@dataclass(frozen=True, slots=True)
class _Job:
    """One response being split."""

    decomposer: LlmDecomposer
    response: str
    question: str

    def inquiry(self, former: Mapping[int, Former] | None = None) -> Inquiry[NumberedSentence, Split]:
        """Ask for claims by sentence; `former` holds those of a first reply of which some invent something."""
        prompt, earlier = self.decomposer.prompt, former or {}

        def write(pieces: Mapping[str, NumberedSentence], shared: bool) -> list[Message]:  # noqa: ARG001 - nothing long is shared
            texts = {name: piece.text for name, piece in pieces.items()}
            shown = {name: earlier[piece.number] for name, piece in pieces.items() if piece.number in earlier}
            before = context(self.response, list(pieces.values()))
            return prompt.messages(SplitTask(texts, before, self.question, shown))

        return Inquiry(self.decomposer.chat, prompt, write, ids="s", needs="some", code="missing_claims")

    async def corrected(
        self, pieces: Sequence[NumberedSentence], splits: Mapping[int, Split]
    ) -> tuple[dict[int, Split], int]:
        """Ask once more for claims that invent something; where they still do, the sentence is the claim.

        Returns the splits, and of how many sentences that is so.
        """
        kept = {piece.number: spelt_out(splits.get(piece.number) or piece.whole, piece.text) for piece in pieces}
        if all(kept[piece.number] == piece.whole for piece in pieces):
            return kept, 0
        source = SplitSource(self.response, self.question)
        found = {p.number: inventions(kept[p.number].claims, p.ground, source) for p in pieces}
        former = {n: {claim: odd.get(claim, ()) for claim in kept[n].claims} for n, odd in found.items() if odd}
        number = 0
        for part in portions([piece for piece in pieces if piece.number in former], self.decomposer.at_most):
            try:
                again = await ask_once(self.inquiry(former), _by_number(part))
            except JudgeError as error:
                if error.code not in _KEEP_SENTENCE:
                    raise
                again = {}
            for piece in part:
                new = spelt_out(again.get(piece.number) or piece.whole, piece.text)
                usable = new.claims and not inventions(new.claims, piece.ground, source)
                kept[piece.number] = _mended(former[piece.number], new, piece) if usable else piece.whole
                number += not usable
        return kept, number


def _mended(former: Former, new: Split, piece: NumberedSentence) -> Split:
    """Put new claims in the place of the first that invented something; the right ones stay."""
    if new == piece.whole:
        return new
    claims: list[str] = []
    for claim, odd in former.items():
        claims += new.claims if odd else [claim]
    return Split(tuple(dict.fromkeys(claims)))


def _by_number(pieces: Sequence[NumberedSentence]) -> dict[int, NumberedSentence]:
    return {piece.number: piece for piece in pieces}
