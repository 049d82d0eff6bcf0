"""Limits of a whole run: what is spent, what is kept, and what is refused before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Reply, Request, no_sleep, play

ROWS = [
    {"id": f"a{i}", "response": f"Kettle {i} is red. It holds {i} litres.", "contexts": [f"Kettle {i} is red."]}
    for i in range(80)
]
CALL = (1000 * 2 + 500 * 8) / 1e6  # dollars


def paid(request: Request) -> Reply:
    return Reply(play(request), prompt_tokens=1000, completion_tokens=500, latency=0.01)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    with no_sleep():
        yield


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"openai": {"models": {"m": {"input": 2, "output": 8}}}}))
    return file


@pytest.mark.parametrize(
    ("limit", "options"),
    [
        (CALL / 2, {}),
        (10.5 * CALL, {}),
        (10.5 * CALL, {"one_call": True}),
        (40 * CALL, {"judge": "cascade:lexical>openai:m"}),
    ],
)
def test_a_run_spends_its_limit_and_no_more_than_one_call_beyond(
    tmp_path: Path, prices: Path, limit: float, options: dict[str, Any]
) -> None:
    """Sixty-four answers in flight; what was paid for is kept, and the same call goes on without paying again."""
    with JudgeServer(paid) as server:
        usual: dict[str, Any] = {
            "judge": "openai:m",
            "decomposer": "openai:m",
            "base_url": server.base_url,
            "prices": prices,
            "store": tmp_path / "runs.db",
            "concurrency": 64,
        }
        chosen = {**usual, **options}
        with pytest.raises(ec.BudgetExceeded, match="max_cost"):
            ec.score_file(ROWS, max_cost=limit, **chosen)
        spent = server.calls * CALL
        assert limit - 1e-9 <= spent + CALL
        assert spent < limit + CALL
        again = {request.text for request in server.requests}
        ec.score_file(ROWS, **chosen)
        assert not again & {request.text for request in server.requests[round(spent / CALL) :]}


@pytest.mark.parametrize(
    "said",
    [
        {"judge": "openai:m"},
        {"judge": "lexical", "decomposer": "openai:m"},
        {"judge": "cascade:lexical>openai:m"},
        {"judge": "openai:m?prompt=minicheck"},
    ],
)
def test_a_limit_on_cost_without_a_price_is_refused_before_anything_is_sent(said: dict[str, str]) -> None:
    """With what to do about it, wherever the model stands; also for a guard's generator."""
    with JudgeServer(paid) as server:
        where = {"base_url": server.base_url, "max_cost": 1.0}
        with pytest.raises(ec.ConfigError, match="max_cost needs a price"):
            ec.score(response="The kettle is red.", passages=["The kettle is red."], **said, **where)
        with pytest.raises(ec.ConfigError, match="max_cost needs a price"):
            ec.Guard("openai:m", judge="lexical", **where)
        assert server.calls == 0
