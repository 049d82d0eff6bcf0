"""The next search query for each open claim, in the light of what earlier searches found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim
from everyclaim.models.chat.replies import Inquiry, ask_for_each, portions
from everyclaim.prompts.writing import LONGEST_QUERY, QueryPrompt, Searched, Wanted
from everyclaim.text.names import leaned_on, names
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

Trail = Sequence[Searched]  # the searches made for one claim, in order


class Around(NamedTuple):
    """What a query may take up beside the claim: the question, and by claim id what a claim points back to."""

    question: str = ""
    leaning: Mapping[str, str] = {}

    @classmethod
    def of(cls, claims: Sequence[Claim], question: str) -> Around:
        """Read all claims of a response, in order."""
        about = leaned_on([claim.text for claim in claims])
        return cls(question, {claim.id: words for claim, words in zip(claims, about, strict=True) if words})

    def query(self, claim: Claim) -> str:
        """Return a claim as a query, with what it points back to."""
        about = self.leaning.get(claim.id, "")
        return _short(f"{about}. {claim.text}" if about else claim.text)


@dataclass(frozen=True, slots=True)
class WordQueries:
    """Queries made of the claim's own words. In turn, leaving out what was asked before:

    the claim; the claim with the question; its names and numbers with those of its words that nothing found so far
    holds; these words with the question; the sentence it comes from.
    """

    parameters: ClassVar[Mapping[str, str]] = {"queries": "words"}

    async def queries(self, claims: Sequence[Claim], trails: Mapping[str, Trail], around: Around) -> dict[str, str]:
        """Return the next query by claim id; calls nothing."""
        found = {claim.id: _next(claim, trails.get(claim.id, ()), around) for claim in claims}
        return {key: query for key, query in found.items() if query}


@dataclass(frozen=True, slots=True)
class LlmQueries:
    """Queries by a chat model, for `at_most` claims in one request.

    A claim for which it writes nothing, twice, or what was asked before gets a query of its own words.
    """

    chat: ChatModel
    prompt: QueryPrompt = field(default_factory=QueryPrompt)
    at_most: int = 8

    @property
    def parameters(self) -> Mapping[str, str]:
        """The wording, and who writes."""
        return {"queries": self.chat.spec, "query_prompt": self.prompt.version}

    async def queries(self, claims: Sequence[Claim], trails: Mapping[str, Trail], around: Around) -> dict[str, str]:
        """Return the next query by claim id. Raises `JudgeError` when the model cannot be reached or declines."""
        wanted = {claim.id: Wanted(claim.text, tuple(trails.get(claim.id, ()))) for claim in claims}
        inquiry: Inquiry[Wanted, str] = Inquiry(
            self.chat, self.prompt, lambda part, _: self.prompt.messages(part, around.question), ids="c", needs="none"
        )
        written = await ask_for_each(inquiry, portions(wanted, self.at_most))
        asked = {key: {_key(searched.query) for searched in trail} for key, trail in trails.items()}
        found = {key: query for key, query in written.items() if _key(query) not in asked.get(key, ())}
        absent = [claim for claim in claims if claim.id not in found]
        return found | await WordQueries().queries(absent, trails, around)


QueryWriter = WordQueries | LlmQueries


def _next(claim: Claim, trail: Trail, around: Around) -> str:
    asked = {_key(searched.query) for searched in trail}
    return next((query for query in _ways(claim, trail, around) if _key(query) not in asked), "")


def _ways(claim: Claim, trail: Trail, around: Around) -> Iterator[str]:
    first = around.query(claim)
    yield first
    known, asked = set(_content(first)), _content(around.question)
    yield _short(" ".join([first, *(word for word in asked if word not in known)]))
    seen = {stem(token.norm) for searched in trail for text in searched.found for token in tokenize(text)}
    missing = [word for word in _content(first) if stem(word) not in seen]
    telling = [name.text for name in names(first)]
    telling += [token.text for token in tokenize(first) if any(map(str.isdigit, token.norm))]
    yield _short(" ".join(dict.fromkeys([*telling, *missing])))
    yield _short(" ".join(dict.fromkeys([*missing, *asked])))
    yield _short(claim.sentence)


def _content(text: str) -> list[str]:
    """Return the content words of a text, once each, in order."""
    return list(dict.fromkeys(token.norm for token in tokenize(text) if token.norm not in STOPWORDS))


def _key(query: str) -> frozenset[str]:
    """Return what makes two queries the same search: their words."""
    return frozenset(stem(token.norm) for token in tokenize(query))


def _short(query: str) -> str:
    words = " ".join(query.split())
    if len(words) <= LONGEST_QUERY:
        return words
    return words[: LONGEST_QUERY + 1].rpartition(" ")[0] or words[:LONGEST_QUERY]
