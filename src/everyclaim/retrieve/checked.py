"""The border between a knowledge source and the rest: what it finds are passages, each id standing for one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import KnowledgeSource
from everyclaim.core.types import Passage


async def searched(source: KnowledgeSource, query: str, k: int, *, topic: str | None = None) -> Sequence[Passage]:
    """Search, and check that what comes back is at most `k` passages; those without text are left out.

    Raises `JudgeError` (`bad_search`) when it is anything else.
    """
    found = await source.search(query, k, topic=topic)
    if not isinstance(found, Sequence) or not all(_is_passage(one) for one in found):
        raise JudgeError("bad_search", f"{source.spec} returned {type(found).__name__}, not a list of passages")
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


def _is_passage(one: object) -> bool:
    return isinstance(one, Passage) and isinstance(one.id, str) and isinstance(one.text, str)
