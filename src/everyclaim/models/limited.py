"""Stay under a provider's rates: requests and tokens per minute, and calls in flight. Per process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.models.perloop import PerLoop

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

BURST_SECONDS = 5.0  # how far ahead of an even pace calls may run
REPLY_TOKENS = 300  # a first guess, until replies have been seen


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits; None means none. `concurrency` is calls in flight."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None

    def __post_init__(self) -> None:
        for name in ("requests_per_minute", "tokens_per_minute", "concurrency"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} must be more than 0, got {value!r}")


class Limited:
    """Hold calls back until the rates allow them. Tokens are guessed before a call and settled after it."""

    def __init__(self, model: ChatModel, rates: Rates) -> None:
        self._model = model
        self._gates = PerLoop(lambda: _Gate(rates))

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Wait for a turn, then ask."""
        gate = self._gates.get()
        async with gate.slots:
            guess = await gate.enter(messages)
            reply = await self._model.complete(messages, schema=schema, tag=tag)
            gate.settle(guess, reply)
            return reply


class _Gate:
    """The limiters of one event loop."""

    def __init__(self, rates: Rates) -> None:
        self.slots = asyncio.Semaphore(rates.concurrency or 1_000_000)
        self._requests = _limiter(rates.requests_per_minute)
        self._tokens = _limiter(rates.tokens_per_minute)
        self._owed = 0.0  # tokens that calls took beyond their guesses
        self._guessed = 1.0
        self._actual = 1.0
        self._reply = float(REPLY_TOKENS)

    async def enter(self, messages: Sequence[Message]) -> float:
        """Wait until one more call is allowed; return the prompt tokens guessed for it, before correction."""
        if self._requests:
            await self._requests.acquire()
        if not self._tokens:
            return 0.0
        guess = sum(len(message.content.encode("utf-8", "replace")) for message in messages) / 4 + 1
        amount = guess * self._actual / self._guessed + self._reply + self._owed
        self._owed = 0.0
        # An amount beyond what the bucket holds is drawn in parts, so a large call waits longer and still goes.
        while amount > 0:
            part = min(amount, self._tokens.max_rate)
            await self._tokens.acquire(part)
            amount -= part
        return guess

    def settle(self, guess: float, reply: ChatReply) -> None:
        """Learn from what a call took."""
        usage = reply.usage
        if not self._tokens or not usage.prompt_tokens:
            return
        expected = guess * self._actual / self._guessed + self._reply
        self._owed += max(0.0, usage.prompt_tokens + usage.completion_tokens - expected)
        self._guessed += guess
        self._actual += usage.prompt_tokens
        self._reply += (usage.completion_tokens - self._reply) / 20


def _limiter(per_minute: float | None) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    from aiolimiter import AsyncLimiter

    window = max(BURST_SECONDS, 60 / per_minute)  # the bucket must hold at least one
    return AsyncLimiter(per_minute * window / 60, window)
