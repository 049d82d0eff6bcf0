"""Count what is used: tokens, calls, cost, and failures by code; and what the calls under way may still use."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.prices import Price

AROUND = 400  # bytes of a prompt beside its texts: marks of turns, the form of the reply
TOKENS_PER_BYTE = 0.5  # of a prompt, at first; English is half of it, scripts with long encodings come near
SHORTEST_REPLY = 1_000  # tokens that a reply of no stated limit is reckoned as at least


class Meter:
    """What was used so far, over all the models that share this meter. Safe from any thread."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.started = 0  # requests that a budget let through
        self.failures: Counter[str] = Counter()  # by code
        self.reserves: list[Reserve] = []  # one of each model with a budget
        self.lock = threading.RLock()
        self._waiting: list[asyncio.Future[None]] = []

    def add(self, usage: Usage) -> None:
        """Add what one call used."""
        with self.lock:
            self.usage += usage

    @property
    def under_way(self) -> int:
        """How many calls have begun and not ended."""
        return sum(reserve.calls for reserve in self.reserves)

    def wait(self) -> asyncio.Future[None]:
        """Return what is done as soon as a call under way has ended."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self.lock:
            self._waiting.append(turn)
        return turn

    def settle(self, reserve: Reserve, size: int, used: Usage | None) -> None:
        """Take a call that has ended out of its reserve, and wake whoever waits for room, in whatever event loop."""
        with self.lock:
            reserve.remove(size, used)
            waiting, self._waiting = self._waiting, []
        for turn in waiting:
            with contextlib.suppress(RuntimeError):  # its loop is closed, and nobody waits any more
                turn.get_loop().call_soon_threadsafe(_wake, turn)

    @property
    def says(self) -> str:
        """One line for people. An unknown cost is said."""
        used = self.usage
        cost = "cost unknown: no price for this model, or no token counts" if used.cost is None else f"${used.cost:.4f}"
        tokens = f"{used.prompt_tokens:,} prompt and {used.completion_tokens:,} reply tokens"
        return f"{used.calls:,} calls, {tokens}, {cost}"


class Reserve:
    """What the calls of one model may take: those under way, and one more. Learns from what calls took."""

    def __init__(self, price: Price | None, reply_limit: int | None = None) -> None:
        self.calls = 0  # under way
        self.size = 0  # bytes of their prompts
        self.is_tried = False  # whether any call has ended
        self._price = price
        self._reply_limit = reply_limit
        self._per_byte = TOKENS_PER_BYTE
        self._longest = 0

    def tokens(self, calls: int, size: int) -> float:
        """Reckon what so many calls take, whose prompts have so many bytes together."""
        return self._prompt(calls, size) + self._reply(calls)

    def cost(self, calls: int, size: int) -> float:
        """Reckon what they cost, in US dollars; 0 without a price."""
        if self._price is None:
            return 0.0
        return self._price.at_most(self._prompt(calls, size), self._reply(calls))

    def add(self, size: int) -> None:
        """Note a call that begins."""
        self.calls += 1
        self.size += size

    def remove(self, size: int, used: Usage | None) -> None:
        """Note that a call has ended, and what it used if that is known."""
        self.calls -= 1
        self.size -= size
        self.is_tried = True
        if used:
            self._per_byte = max(self._per_byte, used.prompt_tokens / (size + AROUND))
            self._longest = max(self._longest, used.completion_tokens)

    def _prompt(self, calls: int, size: int) -> float:
        return (size + calls * AROUND) * self._per_byte

    def _reply(self, calls: int) -> float:
        return calls * (self._reply_limit or max(2 * self._longest, SHORTEST_REPLY))


class Metered:
    """Put a price on every reply and add it to a meter. `price` None means unknown, and so is the cost."""

    def __init__(self, model: ChatModel, price: Price | None, meter: Meter) -> None:
        self._model = model
        self._price = price
        self._meter = meter

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, and count what it took, whether it succeeded or not."""
        try:
            reply = await self._model.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            spent = error.usage or Usage(calls=1)
            # Where a model has answered, of whatever use that is, its cost is still to be put (None).
            error.usage = self._priced(spent) if spent.cost is None else spent
            self._meter.add(error.usage)
            self._meter.failures[error.code] += 1
            raise
        except (BudgetExceeded, ConfigError):
            self._meter.add(Usage(calls=1))
            raise
        usage = self._priced(reply.usage)
        self._meter.add(usage)
        return reply if usage is reply.usage else replace(reply, usage=usage)

    def _priced(self, usage: Usage) -> Usage:
        told = usage.prompt_tokens or usage.completion_tokens
        cost = self._price.cost(usage) if self._price and told else None
        return usage if usage.cost == cost else replace(usage, cost=cost)


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
