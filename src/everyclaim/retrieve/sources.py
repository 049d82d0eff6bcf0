"""Knowledge sources: a retriever of the user's own, any function from a query to texts, as one of them; and the border
to the rest: what a source finds are passages, each id standing for one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everyclaim.core.errors import ConfigError, EveryclaimError, JudgeError
from everyclaim.core.plaintext import digest
from everyclaim.core.protocols import KnowledgeSource
from everyclaim.core.spec import call, name_of, places
from everyclaim.core.types import Passage

Retriever = Callable[..., Any]
_TEXT = ("text", "page_content", "content", "snippet", "body")
_ID = ("id", "url", "link", "source")


def as_knowledge(given: Any) -> KnowledgeSource:
    """Return a knowledge source for one, or for a function.

    A function is called with the query, and with `k` and `topic` by name where it has such parameters; it may be
    asynchronous. It returns texts, `Passage`s, mappings with a `text` (and `id` or `url`, `title`), or objects with a
    `page_content`, best first. Raises `ConfigError` for anything else.
    """
    if hasattr(given, "search") and hasattr(given, "spec"):
        source: KnowledgeSource = given
        return source
    if callable(given):
        return FunctionSource(given)
    raise ConfigError(
        f"knowledge must be a function from a query to texts, or have `spec` and `search`; got {type(given).__name__}"
    )


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A user's function. What it raises fails the sample; an error of this library goes through as it is."""

    function: Retriever

    @property
    def spec(self) -> str:
        """`python:` and where the function is."""
        return name_of(self.function)

    async def search(self, query: str, k: int, *, topic: str | None = None) -> list[Passage]:
        """Call the function, a synchronous one in a thread of its own, and take the first `k`."""
        values = {"query": query, "k": k, "topic": topic}
        count, named = taken = places(self.function, tuple(values), "a retriever")
        if topic is not None and count < len(values) and "topic" not in named:
            raise ConfigError(f"{self.spec} has no parameter 'topic' and cannot search within a topic")
        try:
            return _passages(await call(self.function, values, "a retriever", taken), k)
        except EveryclaimError:
            raise
        except Exception as error:
            raise JudgeError("search_failed", f"{self.spec}: {type(error).__name__}: {str(error)[:200]}") from error


def _passages(found: Any, k: int) -> list[Passage]:
    if isinstance(found, str | Mapping) or not isinstance(found, Iterable):
        raise TypeError(f"it returned {type(found).__name__}, not a list of passages")
    return [_passage(item) for _, item in zip(range(k), found, strict=False)]


def _passage(item: Any) -> Passage:
    if isinstance(item, Passage):
        return item
    if isinstance(item, str):
        return Passage(passage_id(item), item)
    row: Mapping[str, Any] = item if isinstance(item, Mapping) else vars(item) if hasattr(item, "__dict__") else {}
    text = next((row[key] for key in _TEXT if isinstance(row.get(key), str)), None)
    if text is None:
        raise TypeError(f"a passage is {type(item).__name__}, not a text or something with a text")
    name = next((str(row[key]) for key in _ID if row.get(key) not in (None, "")), "")
    return Passage(name or passage_id(text), text, str(row.get("title") or ""))


def passage_id(text: str) -> str:
    """Return an id for a text that has none, the same every time."""
    return "t-" + digest(text, 12)


# ---- the border


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A source whose answers are at most `k` passages; those without text are left out."""

    source: KnowledgeSource

    @property
    def spec(self) -> str:
        """The source's own."""
        return self.source.spec

    async def search(self, query: str, k: int, *, topic: str | None = None) -> Sequence[Passage]:
        """Search. Raises `JudgeError` when it cannot, and (`bad_search`) for what are no passages."""
        found = await self.source.search(query, k, topic=topic)
        if not isinstance(found, Sequence) or not all(
            isinstance(one, Passage) and isinstance(one.id, str) and isinstance(one.text, str) for one in found
        ):
            raise JudgeError("bad_search", f"{self.spec} returned {type(found).__name__}, not a list of passages")
        return [passage for passage in found[:k] if passage.text.strip()]


class AnswerShelf:
    """All that was found for one sample. A text that comes under another text's id gets an id of its own."""

    def __init__(self) -> None:
        self._kept: dict[str, Passage] = {}

    def put(self, found: Sequence[Passage]) -> tuple[Passage, ...]:
        """Keep what one search found, and return it, each passage once, under the ids it has here."""
        return tuple(dict.fromkeys(self._put(passage) for passage in found))

    def written(self) -> dict[str, dict[str, str]]:
        """Write all down for a result's details: id → title, where there is one, and text."""
        return {p.id: ({"title": p.title} if p.title else {}) | {"text": p.text} for p in self._kept.values()}

    def _put(self, passage: Passage) -> Passage:
        name, number = passage.id, 1
        while (kept := self._kept.get(name)) and (kept.text, kept.title) != (passage.text, passage.title):
            number += 1
            name = f"{passage.id}#{number}"
        if kept:
            return kept
        unique = passage if name == passage.id else replace(passage, id=name)
        self._kept[name] = unique
        return unique
