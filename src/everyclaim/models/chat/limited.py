"""Stay under a provider's rates: requests and tokens per minute, and calls in flight. Per process.

Where the rates are not known, the provider says them: every refusal for rate halves the calls that may be
in flight, and a few rounds of answers add one again. So a low limit slows a run down and fails nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from everyclaim.core.errors import JudgeError
from everyclaim.core.kinds import Range
from everyclaim.core.lifetime import LoopLocal
from everyclaim.core.options import check_declared
from everyclaim.core.protocols import ChatReply
from everyclaim.models.chat.call import Call, Link

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

BURST_SECONDS = 5.0  # how far ahead of an even pace calls may run
ROUNDS = 4  # of good answers before one more call is tried at once
REPLY_TOKENS = 300  # a first guess, until replies have been seen
_PerMinute = Annotated[float, Range(above=0)]


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits; None means none. `concurrency` is calls in flight."""

    requests_per_minute: _PerMinute | None = None
    tokens_per_minute: _PerMinute | None = None
    concurrency: Annotated[int, Range(1)] | None = None

    def __post_init__(self) -> None:
        check_declared(self)


class Limited:
    """Hold calls back until the rates allow them. Tokens are guessed before a call and settled after it."""

    def __init__(self, following: Link, rates: Rates) -> None:
        self._next = following
        self._gates = LoopLocal(lambda: _Gate(rates))

    async def ask(self, call: Call) -> ChatReply:
        """Wait for a turn, then ask."""
        gate = self._gates.get()
        await gate.slots.acquire()
        try:
            guess = await gate.enter(call)
            before = gate.slots.backed_off
            try:
                reply = await self._next.ask(call)
            except JudgeError as error:
                if error.code in {"rate_limited", "overloaded"}:
                    gate.slots.back_off(before)
                raise
            gate.settle(guess, reply)
            gate.slots.go_on()
            return reply
        finally:
            gate.slots.release()


class Slots:
    """A semaphore whose size follows what the provider takes: halved by a refusal, one more after good rounds."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.allowed = float(most)
        self.running = 0
        self.backed_off = 0  # how often

    async def acquire(self) -> None:
        """Wait for a slot, first come first served."""
        if self.running < int(self.allowed) and not self._waiting:
            self.running += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # the slot came at the moment its taker left
            raise

    def release(self) -> None:
        """Give a slot back."""
        self.running -= 1
        while self._waiting and self.running < int(self.allowed):
            turn = self._waiting.popleft()
            if not turn.done():
                self.running += 1
                turn.set_result(None)

    def back_off(self, before: int) -> None:
        """Halve, once for all calls that were under way together; `before` is `backed_off` when a call began."""
        if before == self.backed_off:
            self.allowed = max(1.0, min(self.allowed, self.running) / 2)
            self.backed_off += 1

    def go_on(self) -> None:
        """Count one good answer; a few rounds of them make room for one more."""
        self.allowed = min(float(self._most), self.allowed + 1 / (ROUNDS * self.allowed))


class _Gate:
    """The limiters of one event loop."""

    def __init__(self, rates: Rates) -> None:
        self.slots = Slots(rates.concurrency or 1_000_000)
        self._requests = _limiter(rates.requests_per_minute)
        self._tokens = _limiter(rates.tokens_per_minute)
        self._owed = 0.0  # tokens that calls took beyond their guesses
        self._guessed = 1.0
        self._actual = 1.0
        self._reply = float(REPLY_TOKENS)

    async def enter(self, call: Call) -> float:
        """Wait until one more call is allowed; return the prompt tokens guessed for it, before correction."""
        if self._requests:
            await self._requests.acquire()
        if not self._tokens:
            return 0.0
        guess = call.size / 4 + 1
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
