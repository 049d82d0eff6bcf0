"""Retries, rates, budget, meter and single-flight, each around the same protocol."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
import stamina
from chatting import run

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.build import ChatSettings, wrap_chat_model
from everyclaim.models.chat.budget import Budget, Meter, Metered, Price, find_price
from everyclaim.models.chat.links import Call, Limited, Patience, Rates, Retrying
from everyclaim.models.files import ReplyCache
from everyclaim.testing import ScriptedChat

TURNS = [Message("user", "x" * 400)]
CALL = Call("i", TURNS)
USED = Usage(1, 100, 50, 0, None)


class Scripted:
    """A chat model that does what it is told, call by call; the last step is repeated."""

    def __init__(self, *steps: Any) -> None:
        self._steps = list(steps) or [ChatReply("ok", "stop", "m", USED)]
        self.times: list[float] = []

    async def ask(self, call: Call) -> ChatReply:
        step = self._steps[min(len(self.times), len(self._steps) - 1)]
        self.times.append(time.monotonic())
        await asyncio.sleep(0)
        if isinstance(step, Exception):
            raise step
        return step


def failing(code: str, retry_after: float | None = None) -> JudgeError:
    return JudgeError(code, "on purpose", retry_after=retry_after, usage=Usage(calls=1))


# Retries


def test_retry_after_is_waited_for() -> None:
    """With real waits: the second attempt comes no earlier than the provider asked."""
    stamina.set_testing(False)
    model = Scripted(failing("rate_limited", 0.3), ChatReply("ok", "stop", "m", USED))
    asyncio.run(Retrying(model, Patience(first_wait=0.0)).ask(CALL))
    assert model.times[1] - model.times[0] >= 0.29


# Rates


def test_requests_are_paced() -> None:
    """1200 a minute are 20 a second, of which five seconds' worth may come at once."""
    model = Scripted()
    begun = time.monotonic()
    run(lambda: gather(Limited(model, Rates(requests_per_minute=1200)), 110))
    assert time.monotonic() - begun >= 0.4  # the ten beyond the burst


async def gather(model: Any, count: int) -> list[Any]:
    ask = model.complete if hasattr(model, "complete") else lambda turns: model.ask(Call("i", turns))
    return await asyncio.gather(*(ask([Message("user", str(n))]) for n in range(count)), return_exceptions=True)


class Narrow:
    """A provider that refuses whatever goes beyond `width` calls at once."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.running = self.refused = 0

    async def ask(self, call: Call) -> ChatReply:
        if self.running >= self.width:
            await asyncio.sleep(0)
            self.refused += 1
            raise failing("rate_limited")
        self.running += 1
        await asyncio.sleep(0.002)
        self.running -= 1
        return ChatReply("ok", "stop", "m", USED)


@pytest.mark.parametrize("width", [1, 3, 20, 64])
def test_a_provider_that_takes_less_slows_a_run_down_and_fails_nothing(width: int) -> None:
    """Sixty-four wanted, fewer taken: the calls in flight shrink to what is taken, and every call succeeds."""
    narrow = Narrow(width)
    model = Retrying(Limited(narrow, Rates(concurrency=64)), Patience(attempts=10))
    results = run(lambda: gather(model, 400))
    assert [result.content for result in results] == ["ok"] * 400
    assert narrow.refused <= 400
    assert (narrow.refused == 0) == (width == 64)


# Meter and prices


@pytest.mark.parametrize(
    ("provider", "model", "known"),
    [
        ("openai", "gpt-5-mini", True),
        ("openai", "gpt-5-mini-2025-08-07", True),
        ("openai", "gpt-5-mini-turbo", False),
        ("anthropic", "claude-haiku-4-5-20251001", True),
        ("anthropic", "claude-unheard-of", False),
        ("elsewhere", "gpt-5-mini", False),
    ],
)
def test_a_price_is_known_by_name_or_dated_name_only(provider: str, model: str, known: bool) -> None:
    """A likeness is no price."""
    price = find_price(provider, model, is_home=True)
    assert (price is not None) is known


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "[openai]\nmodels = 3",
        "[openai.models]\nm = { input = 1 }",
        "[openai.models]\nm = { input = -1, output = 1 }",
        "[openai.models]\nm = { input = nan, output = 1 }",
        '[openai.models]\nm = { input = 1, output = 1, per = "k" }',
    ],
)
def test_a_wrong_price_file_is_said(tmp_path: Path, text: str) -> None:
    """With its name; a price is never guessed."""
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"prices\.toml"):
        find_price("openai", "m", is_home=True, file=file)


@pytest.mark.parametrize(
    ("price", "told", "cost"),
    [(None, USED, None), (Price(1, 1, 1, 1), USED, 0.00015), (Price(1, 1, 1, 1), Usage(calls=1), None)],
)
def test_an_unknown_cost_is_none_and_said(price: Price | None, told: Usage, cost: float | None) -> None:
    """No price, or a server that reports no tokens: unknown, never zero."""
    meter = Meter()
    reply = asyncio.run(Metered(Scripted(ChatReply("ok", "stop", "m", told)), meter, price).ask(CALL))
    assert (reply.usage.cost, meter.usage.cost) == (cost, cost)
    assert ("unknown" in meter.says) is (cost is None)


# Chat models of others


@pytest.mark.parametrize("told", [True, False], ids=["cost told by its replies", "price from a file"])
def test_a_chat_model_of_ones_own_keeps_to_a_budget(tmp_path: Path, told: bool) -> None:
    """A cent a call and five cents: five calls, whoever says what they cost."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[mine.models]\nfast = { input = 100, output = 0 }\n")
    chat = ScriptedChat(
        ChatReply("ok", "stop", "m", Usage(1, 100, 10, cost=0.01 if told else 0.0)), spec="mine:fast?size=2"
    )
    settings = ChatSettings(budget=Budget(max_cost=0.05), prices=None if told else prices)
    wrapped = wrap_chat_model(chat, settings)
    replies = run(lambda: gather(wrapped, 20))
    assert chat.calls == sum(isinstance(reply, ChatReply) for reply in replies) == 5
    assert wrapped.meter.usage.cost == pytest.approx(0.05)


async def same(model: ChatModel, count: int) -> list[ChatReply]:
    return await asyncio.gather(*(model.complete(TURNS) for _ in range(count)))


def test_a_chat_model_of_ones_own_is_retried_and_asked_nothing_twice(tmp_path: Path) -> None:
    """Its refusals are waited out, equal calls are one, and a reply that is kept is not asked for again."""
    chat = ScriptedChat([failing("rate_limited"), "ok"], spec="mine")
    cache = ReplyCache(tmp_path / "replies.db")
    for _ in range(2):
        wrapped = wrap_chat_model(chat, ChatSettings(cache=cache))
        asyncio.run(same(wrapped, 9))
    assert chat.calls == 2
    assert wrapped.spec == "mine"
    cache.close()
