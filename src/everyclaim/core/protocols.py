"""The seams of the system. Anything with these shapes can take part; nothing needs to inherit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from everyclaim.core.types import Claim, Decomposition, Passage, Provenance, Result, Sample, Usage, Verdict


class Decomposer(Protocol):
    """Response → claims."""

    @property
    def spec(self) -> str:
        """Identifies this decomposer in results."""

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Split a response into claims, ids `c1`, `c2`, ... in order of their spans.

        The result is checked: a claim that adds content to its sentence is replaced by the sentence.
        """


class Verifier(Protocol):
    """(claim, passages) → verdict."""

    @property
    def spec(self) -> str:
        """Identifies this judge in results."""

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> Sequence[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, by `claim_id`.

        Raises `JudgeError` if there is no usable verdict.
        """


class Ranker(Protocol):
    """Puts passages in order of relevance to a claim."""

    def rank(self, query: str, passages: Sequence[Passage]) -> list[int]:
        """Return the indices of all passages, most relevant first; ties keep the given order."""


class KnowledgeSource(Protocol):
    """Query → passages from a corpus, a search engine or a retriever.

    A source may also have `version`, a text that changes with its content; results store it with `spec`.
    """

    @property
    def spec(self) -> str:
        """Identifies the source in results."""

    async def search(self, query: str, k: int, *, topic: str | None = None) -> Sequence[Passage]:
        """Return at most `k` passages, best first, with stable ids.

        With a `topic` only passages about it, by the source's own rule. Raises `JudgeError` if it cannot search.
        """


class Scorer(Protocol):
    """Sample → result: a metric with its components, as the engine runs it."""

    @property
    def provenance(self) -> Provenance:
        """What made the number, stored with every result."""

    async def score(self, sample: Sample) -> Result:
        """Score one sample. A judge failure is raised as `JudgeError`; the engine records it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat. `cache` marks the end of a prefix for a provider's cache."""

    role: Literal["system", "user", "assistant"]
    content: str
    cache: bool = False


class Fork(NamedTuple):
    """A place of a reply, ``content[start:end]``, where the model might have gone on otherwise.

    `chances` are the texts that might stand there, the one that does among them, with their probabilities.
    """

    start: int
    end: int
    chances: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's reply and its cost; `finish` is `stop`, `length`, `refusal` or `filtered`.

    `forks` are the positions where another token was likely; None if the endpoint does not report them. `forget` drops
    the reply from the cache that keeps it, where one does.
    """

    content: str
    finish: Literal["stop", "length", "refusal", "filtered"]
    model: str
    usage: Usage
    forks: tuple[Fork, ...] | None = None
    forget: Callable[[], object] | None = field(default=None, repr=False, compare=False)


class ChatModel(Protocol):
    """A chat endpoint. Retries, rate limits, cache and budget are wrappers with the same methods."""

    @property
    def spec(self) -> str:
        """Provider and model, as a component spec."""

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer, with a JSON schema in that form (its `title` names it). Raises `JudgeError` if there is no answer.

        `tag` is never sent: it separates calls with the same text, such as the prompt's version or the number of a
        repeat, and is part of every cache key.
        """


def chat_of(*components: object) -> ChatModel | None:
    """Return the chat model of the first of these components that has one, None where none has.

    Of judges in a row it is that of the last one, of judges beside each other that of the first one.
    """
    found = (getattr(one, "chat", None) for one in components)
    return next((chat for chat in found if hasattr(chat, "complete")), None)


class Kept(NamedTuple):
    """One result with the sample it belongs to, as a store keeps it."""

    position: int  # the sample's place in the input, from 0
    fingerprint: str  # of the sample
    sample: Sample
    result: Result


class Marked(NamedTuple):
    """A token of an answer, ``answer[start:end]``, and the probability that nothing in the passages backs it."""

    start: int
    end: int
    unbacked: float


class ResultStore(Protocol):
    """Where the engine keeps results."""

    def kept(self, run: str, start: int, stop: int) -> Mapping[int, str]:
        """Return position → fingerprint of what is kept already at ``start <= position < stop``."""

    def save_all(self, run: str, batch: Sequence[Kept]) -> None:
        """Keep these results, all or none, durably, before returning; what is already kept stays as it is."""

    def finish_run(self, run: str, status: Literal["finished", "stopped", "failed"]) -> None:
        """Note how the run ended."""
