"""Claims made to stand alone, each said to matter to the question or not: SAFE's second and third step.

A chat model does both in one request per `at_most` claims. Without one the claims stay as the decomposer completed
them, and relevance is read off the words: where those of a claim say nothing, what is found for it has to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim
from everyclaim.decompose.checked import SplitSource, inventions
from everyclaim.models.chat.replies import Inquiry, ask_for_each, portions
from everyclaim.prompts.split import Standing, StandingPrompt
from everyclaim.text.names import points
from everyclaim.text.tokens import content_stems


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
    asked = content_stems(question)
    return not asked or not asked.isdisjoint(content_stems(text))


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
        inquiry: Inquiry[str, Standing] = Inquiry(
            self.chat,
            self.prompt,
            lambda texts, shared: self.prompt.messages(texts, response, question, shared=shared),
            ids="c",
            code="missing_claims",
        )
        standings = await ask_for_each(inquiry, portions({claim.id: claim.text for claim in claims}, self.at_most))
        source = SplitSource(response, question)
        return [_prepared(claim, standings[claim.id], source) for claim in claims]


def _prepared(claim: Claim, standing: Standing, source: SplitSource) -> Prepared:
    why = "" if standing.relevant else standing.why
    if standing.text == claim.text or inventions([standing.text], f"{claim.sentence}\n{claim.text}", source):
        return Prepared(claim, standing.relevant, why)
    return Prepared(replace(claim, text=standing.text), standing.relevant, why, was=claim.text)
