"""The decomposer that asks a chat model, sentence by sentence, and believes it only after a check.

Every sentence of the response comes back as claims or as skipped with a reason; what the model leaves out
is asked for again, and then kept as it stands. A reply that was cut is not used: the request is halved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Decomposition
from everyclaim.decompose.numbered_sentences import NumberedSentence, assembled, context, numbered_sentences, portions
from everyclaim.decompose.ungrounded import BEFORE, Faults, Surroundings, faults
from everyclaim.models.chat.reask import TOO_MUCH, WORTH_ASKING_AGAIN, Inquiry, ask_for_each, ask_once
from everyclaim.prompts.split import Degree, Split, SplitPrompt, SplitTask, spelt_out

# Faults of a reply, after which the sentence itself is the claim; a provider that cannot be reached is a failure.
_KEEP_SENTENCE = WORTH_ASKING_AGAIN | TOO_MUCH | {"refused", "filtered"}

_NAMED_BY = 8  # words that say which claim is meant


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
        """Split a response into claims `c1`, `c2`, ... in order of their spans.

        Raises `JudgeError` when the model cannot be reached, declines, or twice says nothing usable at all.
        """
        pieces, skipped = numbered_sentences(response, self.language)
        job = _Job(self, response, question)
        parts = [_by_number(part) for part in portions(pieces, self.at_most)]
        splits = await ask_for_each(job.inquiry(), parts)
        return assembled(pieces, await job.corrected(pieces, splits), skipped)


@dataclass(frozen=True, slots=True)
class _Job:
    """One response being split."""

    decomposer: LlmDecomposer
    response: str
    question: str

    def inquiry(self, faulty: Mapping[int, Faults] | None = None) -> Inquiry[NumberedSentence, Split]:
        """Ask for claims by sentence; `faulty` says what was wrong with those of a first reply."""
        prompt, wrong = self.decomposer.prompt, faulty or {}

        def write(pieces: Mapping[str, NumberedSentence], shared: bool) -> list[Message]:  # noqa: ARG001 - nothing long is shared
            texts = {name: piece.text for name, piece in pieces.items()}
            faults_by_name = {name: wrong[piece.number] for name, piece in pieces.items() if piece.number in wrong}
            foreign = {name: one.foreign for name, one in faults_by_name.items() if one.foreign}
            lost = {name: one.lost for name, one in faults_by_name.items() if one.lost}
            before = context(self.response, list(pieces.values()))
            return prompt.messages(SplitTask(texts, before, self.question, foreign, lost))

        return Inquiry(self.decomposer.chat, prompt, write, ids="s", needs="some", code="missing_claims")

    async def corrected(self, pieces: Sequence[NumberedSentence], splits: Mapping[int, Split]) -> dict[int, Split]:
        """Check every claim against its sentence; ask again for what is at fault, then keep the sentence."""
        kept = {piece.number: spelt_out(splits.get(piece.number, piece.whole), piece.text) for piece in pieces}
        if all(kept[piece.number] == piece.whole for piece in pieces):
            return kept
        around = Surroundings.of(self.response, self.question)
        odd = {p.number: wrong for p in pieces if any(wrong := self._faults(kept[p.number], p, around))}
        for part in portions([piece for piece in pieces if piece.number in odd], self.decomposer.at_most):
            try:
                again = await ask_once(self.inquiry(odd), _by_number(part))
            except JudgeError as error:
                if error.code not in _KEEP_SENTENCE:
                    raise
                again = {}
            for piece in part:
                split = spelt_out(again.get(piece.number, piece.whole), piece.text)
                usable = split.claims and not any(self._faults(split, piece, around))
                kept[piece.number] = split if usable else piece.whole
        return kept

    def _faults(self, split: Split, piece: NumberedSentence, around: Surroundings) -> Faults:
        return faults_of(split, piece, around, self.response)


def _by_number(pieces: Sequence[NumberedSentence]) -> dict[int, NumberedSentence]:
    return {piece.number: piece for piece in pieces}


def faults_of(split: Split, piece: NumberedSentence, around: Surroundings, response: str) -> Faults:
    """Return what is wrong with the claims of a sentence. The check sees what the model sees before it.

    Of several claims, a word left out is said with the beginning of the claim that lacks it.
    """
    before = response[max(0, piece.start - BEFORE) : piece.start]
    if split == piece.whole:
        return Faults()
    found = [(claim, faults(claim, piece.ground, around, before, split.claims)) for claim in split.claims]
    several = len(split.claims) > 1
    foreign = dict.fromkeys(word for _, one in found for word in one.foreign)
    lost = dict.fromkeys(
        f"{word}: {_beginning(claim)}" if several else word for claim, one in found for word in one.lost
    )
    return Faults(tuple(foreign), tuple(lost))


def _beginning(claim: str) -> str:
    words = claim.split()
    return claim if len(words) <= _NAMED_BY else f"{' '.join(words[:_NAMED_BY])} …"
