"""What a reply left out is asked for once more, alone, by whatever asks; the first reason is the one that is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import KEY

import everyclaim as ec
from everyclaim.testing import JudgeServer, Request, play
from everyclaim.testing.script import Step

ROW: dict[str, Any] = {
    "question": "What does the kettle hold?",
    "response": "The kettle holds 1.7 litres. It was made in Ghent in 1934. The handle is red.",
    "passages": ["The kettle holds 1.7 litres. It was made in Ghent in 1934.", "The handle is blue."],
}
USERS: dict[str, dict[str, Any]] = {
    "judge": {"decomposer": "embedded"},
    "relations": {"decomposer": "embedded", "spec": "&prompt=nli"},
    "decomposer": {"judge": "lexical"},
    "one call": {"one_call": True},
    "questions": {"metric": "qa?compare=judge"},
    "claims to stand alone": {"metric": "safe", "decomposer": "embedded", "passages": [], "knowledge": True},
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def scored(server: JudgeServer, user: str, cache: Path | None = None) -> ec.Result:
    chosen = dict(USERS[user])
    spec = f"openai:judge-1?base_url={server.base_url}{chosen.pop('spec', '')}"
    options = {"judge": spec, **chosen}
    if options["judge"] != spec:
        options["decomposer"] = spec
    if options.get("knowledge"):
        options["knowledge"] = lambda _: ROW["passages"]
    return ec.score(**{**ROW, **options}, cache=cache and str(cache))


def first_reply(request: Request, change: Callable[[dict[str, Any]], object]) -> Step:
    """Answer by rule; change what is said first, before anything is asked again."""
    reply = json.loads(play(request))
    return json.dumps(change(reply))


def emptied(reply: dict[str, Any]) -> dict[str, Any]:
    return {name: [] for name in reply}


@pytest.mark.parametrize("user", USERS)
def test_the_first_reason_is_told(user: str) -> None:
    """Rows for ids that nobody gave, then no rows at all: the first is why it failed."""
    seen: list[str] = []

    def rule(request: Request) -> Step:
        seen.append(request.text)
        if len(seen) == 1:
            return first_reply(request, lambda reply: {name: [{"id": "z9"}] for name in reply})
        return first_reply(request, emptied)

    with JudgeServer(rule) as server:
        result = scored(server, user)
        assert (result.outcome, server.calls) == (ec.Outcome.FAILED, 2)
    assert result.reason.startswith("bad_reply: ")
    assert "'z9'" in result.reason


@pytest.mark.parametrize("user", USERS)
def test_only_what_is_missing_is_asked_for_again(user: str) -> None:
    """Each kind of request, its last row left out once: asked about alone, and the sample has its score."""
    asked: list[dict[str, Any]] = []

    def rule(request: Request) -> Step:
        reply = json.loads(play(request))
        name, rows = next(iter(reply.items()))
        asked.append({"name": name, "count": len(rows)})
        is_first = [one["name"] for one in asked].count(name) == 1
        return json.dumps(reply | {name: rows[:-1] if is_first and len(rows) > 1 else rows})

    with JudgeServer(rule) as server:
        assert scored(server, user).outcome is ec.Outcome.SCORED
    first = asked[0]
    assert first["count"] > 1
    assert asked[1] == {**first, "count": 1}
