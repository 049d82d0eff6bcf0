"""The decomposer that asks a chat model, sentence by sentence, and believes it only after a check.

Every sentence of the response comes back as claims or as skipped with a reason; what the model leaves out
is asked for again, and then kept as it stands. A reply that was cut is not used: the request is halved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel
from everyclaim.core.spec import Spec
from everyclaim.core.types import Decomposition
from everyclaim.decompose.numbered_sentences import Piece, assembled, context, pieces_of, portions
from everyclaim.decompose.ungrounded import Faults, Surroundings, faults
from everyclaim.models.chat.structured_call import TOO_MUCH, WORTH_ASKING_AGAIN, Asking
from everyclaim.prompts.split import Degree, Split, SplitPrompt, SplitTask

# Faults of a reply, after which the sentence itself is the claim; a provider that cannot be reached is a failure.
_KEEP_SENTENCE = WORTH_ASKING_AGAIN | TOO_MUCH | {"refused", "filtered"}


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

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the claims, for the result's provenance."""
        return {"split_prompt": self.prompt.version, "sentences_per_call": str(self.at_most)}

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
        pieces, skipped = pieces_of(response, self.language)
        job = _Job(self, response, question)
        answers = await gather(job.splits(part) for part in portions(pieces, self.at_most))
        found = {number: split for answer in answers for number, split in answer.items()}
        return assembled(pieces, await job.corrected(pieces, found), skipped)


@dataclass(frozen=True, slots=True)
class _Job:
    """One response being split."""

    decomposer: LlmDecomposer
    response: str
    question: str

    async def splits(self, pieces: Sequence[Piece]) -> dict[int, Split]:
        """Ask for these sentences, once more for those left out, in halves where a reply is too long."""
        found: dict[int, Split] = {}
        asking = Asking(self.decomposer.chat)
        for attempt in (1, 2):
            missing = [piece for piece in pieces if piece.number not in found]
            try:
                found |= await self._ask(asking, missing, attempt)
            except JudgeError as error:
                if error.code in TOO_MUCH and len(missing) > 1:
                    middle = len(missing) // 2
                    first, second = await gather(self.splits(part) for part in (missing[:middle], missing[middle:]))
                    return found | first | second
                if not asking.may_go_better(error) or (attempt == 2 and not found):
                    asking.evict(error)
                    raise
            if len(found) == len(pieces):
                break
        if pieces and not found:
            asking.evict()
            raise JudgeError(
                "missing_claims", f"{self.decomposer.spec} said nothing about any sentence of the response"
            )
        return found

    async def corrected(self, pieces: Sequence[Piece], found: Mapping[int, Split]) -> dict[int, Split]:
        """Check every claim against its sentence; ask again for what is at fault, then keep the sentence."""
        kept = {piece.number: found.get(piece.number, piece.whole) for piece in pieces}
        if all(kept[piece.number] == piece.whole for piece in pieces):
            return kept
        around = Surroundings.of(self.response, self.question)
        odd = {p.number: wrong for p in pieces if any(wrong := faults_of(kept[p.number], p, around))}
        for part in portions([piece for piece in pieces if piece.number in odd], self.decomposer.at_most):
            try:
                again = await self._ask(Asking(self.decomposer.chat), part, 1, odd)
            except JudgeError as error:
                if error.code not in _KEEP_SENTENCE:
                    raise
                again = {}
            for piece in part:
                split = again.get(piece.number)
                usable = split is not None and split.claims and not any(faults_of(split, piece, around))
                kept[piece.number] = split if split is not None and usable else piece.whole
        return kept

    async def _ask(
        self, asking: Asking, pieces: Sequence[Piece], attempt: int, odd: Mapping[int, Faults] | None = None
    ) -> dict[int, Split]:
        prompt = self.decomposer.prompt
        numbers = {f"s{i}": piece.number for i, piece in enumerate(pieces, start=1)}
        task = SplitTask(
            {f"s{i}": piece.text for i, piece in enumerate(pieces, start=1)},
            context(self.response, pieces),
            self.question,
            {key: odd[number].foreign for key, number in numbers.items() if odd[number].foreign} if odd else {},
            {key: odd[number].lost for key, number in numbers.items() if odd[number].lost} if odd else {},
        )
        tag = prompt.version if attempt == 1 else f"{prompt.version}#{attempt}"
        reply = await asking.for_object(prompt.messages(task), schema=prompt.schema, tag=tag)
        return {numbers[key]: split for key, split in prompt.parse(reply, list(numbers)).items()}


def faults_of(split: Split, piece: Piece, around: Surroundings) -> Faults:
    """Return what is wrong with the claims of a sentence."""
    found = [faults(claim, piece.ground, around) for claim in split.claims] if split != piece.whole else []
    foreign = dict.fromkeys(word for one in found for word in one.foreign)
    return Faults(tuple(foreign), tuple(dict.fromkeys(word for one in found for word in one.lost)))
