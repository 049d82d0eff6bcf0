"""Limits hold with sixty-four calls under way: exact for calls; for tokens and cost, over by one call at most."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from chatting import KEY, SCHEMA, run, spec_for

from everyclaim.core.errors import BudgetExceeded, JudgeError
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.build import ChatSettings, build_chat_model
from everyclaim.models.chat.budget import Budget, Meter
from everyclaim.models.chat.links import Patience, Rates
from everyclaim.testing import JudgeServer, Reply, Request, empty_body, rejected, server_error
from everyclaim.testing.script import Step

INPUT, OUTPUT = 2.0, 8.0  # dollars per million tokens
WIRES = ("chat", "messages")
Rule = Callable[[Request], Step]


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "prices.json"
    row = {"judge-1": {"input": INPUT, "output": OUTPUT}, "judge-2": {"input": INPUT, "output": OUTPUT}}
    file.write_text(json.dumps({"openai": {"models": row}, "anthropic": {"models": row}}))
    return file


def price(usage: Usage) -> float:
    return (usage.prompt_tokens * INPUT + usage.completion_tokens * OUTPUT) / 1e6


def ask_many(
    server: JudgeServer,
    settings: ChatSettings,
    count: int,
    *,
    wire: str = "chat",
    length: Callable[[int], int] = lambda _: 200,
    **options: str,
) -> tuple[list[Any], Meter]:
    """Ask so many different questions at once."""
    meter = Meter()

    async def work() -> list[Any]:
        async with build_chat_model(spec_for(wire, server.base_url, **options), settings, key=KEY, meter=meter) as chat:
            questions = [f"{number} " + "x" * length(number) for number in range(count)]
            calls = (chat.complete([Message("user", question)], schema=SCHEMA) for question in questions)
            return await asyncio.gather(*calls, return_exceptions=True)

    return run(work), meter


def plain(budget: Budget, prices: Path | None = None, *, attempts: int = 1) -> ChatSettings:
    return ChatSettings(Patience(attempts=attempts), Rates(concurrency=64), budget, prices=prices)


def steady(request: Request) -> Step:
    return Reply('{"ok": true}', prompt_tokens=100, completion_tokens=200, latency=0.005)


def uneven(request: Request) -> Step:
    """Replies of 1 to 900 tokens; the prompt as long as English makes it."""
    chance = Random(request.text)
    size = len(request.text.encode()) // 4
    return Reply('{"ok": true}', prompt_tokens=size, completion_tokens=chance.randint(1, 900), latency=0.005)


def heavy(request: Request) -> Step:
    """Mostly short replies, every tenth as long as the limit of 4,000."""
    long = int(request.text.split()[0]) % 10 == 9
    return Reply('{"ok": true}', prompt_tokens=90, completion_tokens=4000 if long else 30, latency=0.005)


def dense(request: Request) -> Step:
    """A script that takes nearly one token for each byte."""
    size = len(request.text.encode())
    return Reply('{"ok": true}', prompt_tokens=size, completion_tokens=50, latency=0.005)


def unlike(request: Request) -> Step:
    """Counts that have nothing to do with the texts, as some gateways report them."""
    return Reply('{"ok": true}', prompt_tokens=50_000, completion_tokens=3, latency=0.005)


CASES: dict[str, tuple[Rule, dict[str, str], float]] = {
    "steady": (steady, {}, 0.05),
    "uneven replies": (uneven, {}, 0.1),
    "long replies within a stated limit": (heavy, {"reply_tokens": "4000"}, 0.5),
    "dense prompts": (dense, {}, 0.05),
    "counts unlike the texts": (unlike, {}, 1.0),
    "one call is dearer than the limit": (unlike, {}, 0.01),
}


@pytest.mark.parametrize("kind", ["max_cost", "max_tokens"])
@pytest.mark.parametrize("name", CASES)
def test_cost_and_tokens_go_over_by_one_call_at_most(prices: Path, name: str, kind: str) -> None:
    """Sixty-four at once: what is spent is within the limit, or over it by less than one call; every reply is kept."""
    rule, options, dollars = CASES[name]
    limit = dollars if kind == "max_cost" else dollars * 1e6 / OUTPUT
    budget = Budget(max_cost=limit) if kind == "max_cost" else Budget(max_tokens=int(limit))
    with JudgeServer(rule) as server:
        results, meter = ask_many(
            server, plain(budget, prices), 400, length=lambda number: 37 * number % 2000, **options
        )
        replies = [result for result in results if isinstance(result, ChatReply)]
        assert len(replies) == server.calls < 400
    measure = price if kind == "max_cost" else lambda usage: usage.prompt_tokens + usage.completion_tokens
    spent, dearest = measure(meter.usage), max(measure(reply.usage) for reply in replies)
    assert limit - dearest * 0.001 <= spent <= limit + dearest, (spent, limit)
    stops = [result for result in results if not isinstance(result, ChatReply)]
    assert {type(stop) for stop in stops} == {BudgetExceeded}
    assert {stop.limit.partition("=")[0] for stop in stops} == {kind}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "steps",
    [
        ["{}"],
        [server_error(), server_error(), "{}"],
        [rejected("'response_format' json_schema is not supported"), "{}"],
        [rejected("json_schema is not supported"), rejected("tools are not supported"), "{}"],
    ],
    ids=["all good", "two failures first", "one other way", "two other ways"],
)
def test_calls_are_never_more_than_allowed(wire: str, steps: list[Any]) -> None:
    """Sixty-four at once; attempts count, and so does every way a request is put until the endpoint takes it."""
    with JudgeServer([*steps[:-1], Reply("{}", latency=0.005)]) as server:
        results, meter = ask_many(server, plain(Budget(max_calls=20), attempts=4), 100, wire=wire)
        assert server.calls == meter.usage.calls == 20
    assert sum(isinstance(result, ChatReply) for result in results) == 20 - len(steps) + 1


def test_a_decomposer_and_a_judge_spend_from_one_purse(prices: Path) -> None:
    """Two models with calls under way at once reserve together."""
    meter, settings = Meter(), plain(Budget(max_cost=0.05), prices)

    async def work() -> list[Any]:
        spec = spec_for("chat", server.base_url)
        async with (
            build_chat_model(spec, settings, key=KEY, meter=meter) as one,
            build_chat_model(spec.replace("judge-1", "judge-2"), settings, key=KEY, meter=meter) as two,
        ):
            calls = (chat.complete([Message("user", str(number))]) for number in range(64) for chat in (one, two))
            return await asyncio.gather(*calls, return_exceptions=True)

    with JudgeServer(steady) as server:
        run(work)
        assert server.calls == 28
        assert {request.model for request in server.requests} == {"judge-1", "judge-2"}


# What is paid, and what is not known


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_reply_is_priced(prices: Path, wire: str) -> None:
    """It was made and is billed: the limit on cost stops asking for more of them."""
    empty = Reply("", prompt_tokens=10_000, completion_tokens=0)
    with JudgeServer(empty) as server:
        (result,), meter = ask_many(server, plain(Budget(), prices, attempts=3), 1, wire=wire)
        assert (server.calls, meter.usage.cost) == (3, pytest.approx(3 * 0.02))
        assert isinstance(result, JudgeError)
        assert result.usage is not None
        assert (result.code, result.usage.cost) == ("empty_reply", pytest.approx(0.06))
    with JudgeServer(empty) as server:
        (result,), meter = ask_many(server, plain(Budget(max_cost=0.03), prices, attempts=6), 1, wire=wire)
        assert (server.calls, type(result)) == (2, BudgetExceeded)


@pytest.mark.parametrize("step", [server_error(), empty_body(), rejected("too long", status=413)])
def test_where_no_model_has_answered_nothing_is_paid(step: Any) -> None:
    """An error of the provider costs 0, with and without a price."""
    with JudgeServer(step) as server:
        (result,), _ = ask_many(server, plain(Budget()), 1)
    assert (result.usage.calls, result.usage.cost) == (1, 0.0)
