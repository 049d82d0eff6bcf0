"""Where a guard's models are asked, and what it says of a judge that is of the generator's family."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Request, ScriptedChat, play

SHELF = ["The kettle is red. It holds 2 litres."]
WRITTEN = "The kettle is red. It holds 9 litres."
MINE = {"X-Team": "mine"}


def played(request: Request) -> str:
    """Write an answer, correct it, split it, judge it."""
    words = request.messages[0].content
    if words.startswith("Answer the question"):
        return WRITTEN
    if words.startswith("Correct sentences"):
        return '{"sentences": [{"id": "s1", "text": "It holds 2 litres."}]}'
    return play(request)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """Where models are that nobody gave an address."""
    with JudgeServer(played) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.root)
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        yield server


@pytest.mark.parametrize(
    ("generate", "options"),
    [
        ("openai:writer", {"judge": "lexical"}),
        ("openai:writer", {"judge": "openai:judge"}),
        ("openai:writer", {"judge": "cascade:lexical>openai:judge"}),
        (lambda *_: WRITTEN, {"judge": "lexical", "rewriter": "openai:corrector", "repair": "rewrite"}),
        ("openai:writer", {"judge": "lexical", "rewriter": "openai:corrector"}),
    ],
    ids=["generator", "generator and judge", "generator and cascade", "rewriter", "generator and rewriter"],
)
def test_everyone_is_asked_at_the_address_that_was_given(
    elsewhere: JudgeServer, generate: Any, options: dict[str, Any]
) -> None:
    """Generator, rewriter and judge, with the headers that were given; nobody else hears of it."""
    with JudgeServer(played) as server, ec.Guard(generate, base_url=server.base_url, headers=MINE, **options) as guard:
        answer = guard("What is it?", SHELF)
        assert "2 litres" in answer.text
        assert server.calls > 0
        assert {request.headers.get("x-team") for request in server.requests} == {"mine"}
    assert elsewhere.calls == 0


@pytest.mark.parametrize(
    ("generate", "warned"),
    [
        ("openai:gpt-5-mini", True),
        ("openai:gpt-5-mini?temperature=0.5", True),
        ("openai:mistral-large", False),
        (ScriptedChat([WRITTEN], spec="openai:gpt-4o"), True),
        (lambda *_: WRITTEN, False),
    ],
)
def test_a_judge_of_the_generators_family_is_warned_of(elsewhere: JudgeServer, generate: Any, warned: bool) -> None:
    """With the answer, and with every sentence of a stream; not where the families differ or are not known."""

    async def streamed() -> list[bool]:
        return [bool(piece.result.warnings) async for piece in guard.astream("What is it?", SHELF)]

    with ec.Guard(generate, judge="openai:gpt-5", repair="none", max_retries=0) as guard:
        answer = guard("What is it?", SHELF)
        assert any("same family" in warning for warning in answer.warnings) is warned
        assert set(asyncio.run(streamed())) == {warned}
