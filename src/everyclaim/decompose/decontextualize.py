"""Claims made to stand alone, each said to matter to the question or not: SAFE's second and third step.

A chat model does both in one request per `at_most` claims. Without one the claims stay as the decomposer completed
them, and relevance is read off the words: where those of a claim say nothing, what is found for it has to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim
from everyclaim.decompose.commitments import drift
from everyclaim.decompose.ungrounded import Surroundings, ungrounded_terms
from everyclaim.models.chat.structured_call import TOO_MUCH, Asking
from everyclaim.prompts.decontextualize import Standing, StandingPrompt
from everyclaim.text.anaphora import points
from everyclaim.text.tokens import STOPWORDS, stem, tokenize


class Prepared(NamedTuple):
    """A claim ready to be checked by itself. `was` is its text before, where that changed.

    `relevant` is None where only what a search finds can tell: then a passage must be `tied` to the question.
    """

    claim: Claim
    relevant: bool | None
    why: str = ""
    was: str = ""


class Preparer(Protocol):
    """Makes claims stand alone and says which are relevant."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What a result stores of it."""

    async def prepare(self, claims: Sequence[Claim], response: str, question: str) -> list[Prepared]:
        """Return every claim, in order."""


@dataclass(frozen=True, slots=True)
class WordPreparer:
    """Go by words: a claim is relevant when its sentence shares a content word with the question, or when it points
    back ("It …", "… of this") to a claim before it; of the others, what is found for them has to tell. Where there is
    no question every claim is relevant.
    """

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its name."""
        return {"relevance": "words"}

    async def prepare(self, claims: Sequence[Claim], response: str, question: str) -> list[Prepared]:
        """Return every claim as it is, in order; calls nothing."""
        del response
        prepared: list[Prepared] = []
        for claim in claims:
            points_back = bool(prepared) and points(claim.text)
            own = tied(f"{claim.text}\n{claim.sentence}", question)
            prepared.append(Prepared(claim, True if own else prepared[-1].relevant if points_back else None))
        return prepared


def tied(text: str, question: str) -> bool:
    """Whether a text shares a content word with the question; without a question everything is."""
    asked = _content(question)
    return not asked or not asked.isdisjoint(_content(text))


@dataclass(frozen=True, slots=True)
class LlmPreparer:
    """Ask a chat model. A text that holds what the answer does not is not taken: the claim then stays as it was."""

    chat: ChatModel
    prompt: StandingPrompt = field(default_factory=StandingPrompt)
    at_most: int = 20

    @property
    def parameters(self) -> Mapping[str, str]:
        """The wording, and who answers it."""
        return {"relevance": self.chat.spec, "standing_prompt": self.prompt.version}

    async def prepare(self, claims: Sequence[Claim], response: str, question: str) -> list[Prepared]:
        """Return every claim, in order. Raises `JudgeError` when the model says nothing usable about one, twice."""
        parts = [claims[i : i + self.at_most] for i in range(0, len(claims), self.at_most)]
        answers = await gather(self._standings(part, response, question, shared=len(parts) > 1) for part in parts)
        found = {key: standing for answer in answers for key, standing in answer.items()}
        around = Surroundings.of(response, question)
        return [_prepared(claim, found[claim.id], around) for claim in claims]

    async def _standings(
        self, claims: Sequence[Claim], response: str, question: str, *, shared: bool
    ) -> dict[str, Standing]:
        """Ask for these claims, once more for those left out, in halves where a reply is too long."""
        found: dict[str, Standing] = {}
        asking = Asking(self.chat)
        for attempt in (1, 2):
            missing = [claim for claim in claims if claim.id not in found]
            try:
                found |= await self._ask(asking, missing, (response, question), attempt, shared=shared)
            except JudgeError as error:
                if error.code in TOO_MUCH and len(missing) > 1:
                    middle = len(missing) // 2
                    halves = (missing[:middle], missing[middle:])
                    first, second = await gather(
                        self._standings(half, response, question, shared=True) for half in halves
                    )
                    return found | first | second
                if not asking.may_go_better(error) or attempt == 2:
                    asking.evict(error)
                    raise
            if len(found) == len(claims):
                return found
        asking.evict()
        absent = ", ".join(claim.id for claim in claims if claim.id not in found)
        raise JudgeError("missing_claims", f"{self.chat.spec} said nothing usable about {absent}")

    async def _ask(
        self, asking: Asking, claims: Sequence[Claim], around: tuple[str, str], attempt: int, *, shared: bool
    ) -> dict[str, Standing]:
        ids = {f"c{i}": claim.id for i, claim in enumerate(claims, start=1)}
        texts = dict(zip(ids, (claim.text for claim in claims), strict=True))
        tag = self.prompt.version + ("" if attempt == 1 else "#2")
        messages = self.prompt.messages(texts, *around, shared=shared)
        reply = await asking.for_object(messages, schema=self.prompt.schema, tag=tag)
        return {ids[key]: standing for key, standing in self.prompt.parse(reply, list(ids)).items()}


def _prepared(claim: Claim, standing: Standing, around: Surroundings) -> Prepared:
    why = "" if standing.relevant else standing.why
    odd = any(drift(standing.text, claim.text)) or ungrounded_terms(
        standing.text, f"{claim.sentence}\n{claim.text}", around
    )
    if standing.text == claim.text or odd:
        return Prepared(claim, standing.relevant, why)
    return Prepared(replace(claim, text=standing.text), standing.relevant, why, was=claim.text)


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS)
