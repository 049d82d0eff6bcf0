"""The links between a caller and an endpoint, each handing a `Call` on to the next: `Cached`, `Retrying`, `Limited`.

A reply is on its way to the disk before it is returned: a killed process asks again only for what it never got.
Failures, refusals and cut replies are never kept; what was of no use is dropped again (see `replies`). Rates hold per
process. Where they are not known the provider says them: every refusal for rate halves the calls that may be in flight,
and a few rounds of answers add one again. So a low limit slows a run down and fails nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from everyclaim.core.errors import JudgeError, UnreachableError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.transport import RETRYABLE
from everyclaim.models.files import ReplyCache

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

T = TypeVar("T")


@dataclass
class Call:
    """What is asked, and of whom: `identity` names provider, model, address and all parameters.

    `tag` is never sent: it keeps calls apart that send the same.
    """

    identity: str
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    tag: str = ""

    @cached_property
    def key(self) -> bytes:
        """32 bytes that change with anything that can change a reply, and with nothing else.

        Where a cached prefix ends changes the price, not the reply, and is left out.
        """
        # The schema in the order given: a provider sees it, and properties are answered in it.
        parts = [self.identity, self.tag, json.dumps(self.schema)]
        for message in self.messages:
            parts += (message.role, message.content)
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # what is hashed says where each part ends
            digest.update(data)
        return digest.digest()

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return sum(len(message.content.encode("utf-8", "replace")) for message in self.messages)


class Link(Protocol):
    """An endpoint, or a wrapper around another link; what a chat model is made of."""

    async def ask(self, call: Call) -> ChatReply:
        """Answer. Raises `JudgeError` when there is no answer."""


@dataclass(frozen=True)
class Foreign:
    """The last link, where somebody else's chat model is to have our wrappers."""

    model: ChatModel

    async def ask(self, call: Call) -> ChatReply:
        """Hand the call over."""
        return await self.model.complete(call.messages, schema=call.schema, tag=call.tag)


class Cached:
    """One call for all who ask the same at the same time, and none for what the cache knows, where there is one.

    Whoever joins a call pays nothing and counts as a cache hit. A call ends early only when nobody waits for it.
    """

    def __init__(self, following: Link, cache: ReplyCache | None = None) -> None:
        self._next = following
        self._cache = cache
        self._running: LoopLocal[dict[bytes, _Flight]] = LoopLocal(dict)

    async def ask(self, call: Call) -> ChatReply:
        """Answer. Raises `StoreError` when the cache's disk is full or its file stays locked."""
        running = self._running.get()
        flight = running.get(call.key)
        joined = flight is not None
        if flight is None:
            if self._cache and (kept := self._cache.get(call.key)):
                return replace(kept, forget=partial(self._cache.drop, call.key))
            flight = running[call.key] = _Flight(asyncio.ensure_future(self._fetch(call)))
            flight.task.add_done_callback(lambda _: running.pop(call.key, None))
            # Looked at, so that asyncio does not warn when nobody waits to the end.
            flight.task.add_done_callback(lambda done: done.cancelled() or done.exception())
        flight.waiting += 1
        try:
            reply = await asyncio.shield(flight.task)
        except JudgeError as error:
            if not joined:
                raise
            unpaid = copy(error)
            unpaid.usage = Usage(cache_hits=1)
            raise unpaid from None
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                running.pop(call.key, None)
                flight.task.cancel()
        return replace(reply, usage=Usage(cache_hits=1)) if joined else reply

    async def _fetch(self, call: Call) -> ChatReply:
        reply = await self._next.ask(call)
        if not self._cache or reply.finish != "stop":
            return reply
        self._cache.put(call.key, reply)
        return replace(reply, forget=partial(self._cache.drop, call.key))


@dataclass(slots=True)
class _Flight:
    """One running call and how many wait for it."""

    task: asyncio.Future[ChatReply]
    waiting: int = 0


_UNANSWERED = frozenset({"connection", "timeout"})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep trying one call. Waits double from `first_wait` to `longest_wait`, with jitter, in seconds.

    A provider's Retry-After goes over that, unless it lies beyond `seconds`: then the call fails at once.
    """

    attempts: int = 6
    seconds: float = 300.0
    first_wait: float = 0.5
    longest_wait: float = 30.0


def _is_retryable(error: Exception) -> bool:
    return isinstance(error, JudgeError) and error.code in RETRYABLE


async def persist(
    ask: Callable[[], Awaitable[T]], patience: Patience, is_temporary: Callable[[Exception], bool] = _is_retryable
) -> T:
    """Ask until there is an answer or patience ends; the last error is raised.

    `is_temporary` says of an error whether it is worth another try; every other error ends it. The wait is what the
    error's `retry_after` asks for, where it has one.
    """
    import stamina

    begun = time.monotonic()

    def wait(error: Exception) -> bool | float:
        if not is_temporary(error):
            return False
        asked: float | None = getattr(error, "retry_after", None)
        left = patience.seconds - (time.monotonic() - begun)
        return asked is None or (asked <= left and asked)

    # Keep stamina's line per retry off the screen of programs that have not set up logging; others still get it.
    if not (logger := logging.getLogger("stamina")).handlers:
        logger.addHandler(logging.NullHandler())
    async for attempt in stamina.retry_context(
        on=wait,
        attempts=patience.attempts,
        timeout=patience.seconds,
        wait_initial=patience.first_wait,
        wait_max=patience.longest_wait,
        wait_jitter=min(1.0, patience.first_wait),
    ):
        with attempt:
            return await ask()
    raise AssertionError("the last attempt returns or raises")  # pragma: no cover


@dataclass(slots=True)
class Retrying:
    """Retry rate limits, server errors, broken connections and unusable answers; nothing else."""

    following: Link
    patience: Patience
    has_answered: bool = False

    async def ask(self, call: Call) -> ChatReply:
        """Ask until there is an answer or patience ends; the last failure is raised. Usage covers all attempts.

        Raises `UnreachableError` where that failure is one of an address that has never answered.
        """
        spent, begun, number = Usage(), time.monotonic(), 0

        async def ask_once_more() -> ChatReply:
            nonlocal spent, number
            number += 1
            try:
                reply = await self.following.ask(call)
            except JudgeError as error:
                self.has_answered |= error.code not in _UNANSWERED
                error.usage = spent = spent + (error.usage or Usage())
                raise
            self.has_answered = True
            return replace(reply, usage=spent + reply.usage) if number > 1 else reply

        try:
            return await persist(ask_once_more, self.patience)
        except JudgeError as error:
            if self.has_answered or error.code not in _UNANSWERED:
                raise
            told = f"{number} attempts in {time.monotonic() - begun:.0f} s without any answer; is the server running?"
            raise UnreachableError(error.code, f"{error.message} ({told})", usage=error.usage) from None


BURST_SECONDS = 5.0  # how far ahead of an even pace calls may run
ROUNDS = 4  # of good answers before one more call is tried at once
REPLY_TOKENS = 300  # guessed of a reply that is still to come


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits; None means none. `concurrency` is calls in flight."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None


class Limited:
    """Hold calls back until the rates allow them. Tokens are guessed before a call and settled after it."""

    def __init__(self, following: Link, rates: Rates) -> None:
        self._next = following
        self._gates = LoopLocal(lambda: _Gate(rates))

    async def ask(self, call: Call) -> ChatReply:
        """Wait for a turn, then ask."""
        gate = self._gates.get()
        await gate.acquire()
        try:
            guess = await gate.enter(call)
            before = gate.backed_off
            try:
                reply = await self._next.ask(call)
            except JudgeError as error:
                if error.code in {"rate_limited", "overloaded"}:
                    gate.back_off(before)
                raise
            gate.settle(guess, reply)
            return reply
        finally:
            gate.release()


class _Gate:
    """The limiters of one event loop, with a semaphore whose size follows what the provider takes."""

    def __init__(self, rates: Rates) -> None:
        self._most = float(rates.concurrency or 1_000_000)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._allowed = self._most
        self._running = 0
        self.backed_off = 0  # how often
        self._requests = _limiter(rates.requests_per_minute)
        self._tokens = _limiter(rates.tokens_per_minute)
        self._owed = 0.0  # tokens that calls took beyond their guesses; below 0: that they left

    async def acquire(self) -> None:
        if self._running < int(self._allowed) and not self._waiting:
            self._running += 1
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
        self._running -= 1
        while self._waiting and self._running < int(self._allowed):
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def back_off(self, before: int) -> None:
        """Halve, once for all calls that were under way together; `before` is `backed_off` when a call began."""
        if before == self.backed_off:
            self._allowed = max(1.0, min(self._allowed, self._running) / 2)
            self.backed_off += 1

    async def enter(self, call: Call) -> float:
        """Wait until one more call is allowed; return the tokens guessed for it."""
        if self._requests:
            await self._requests.acquire()
        if not self._tokens:
            return 0.0
        guess = call.size / 4 + REPLY_TOKENS
        amount = guess + self._owed
        self._owed = min(0.0, amount)
        # An amount beyond what the bucket holds is drawn in parts, so a large call waits longer and still goes.
        while amount > 0:
            part = min(amount, self._tokens.max_rate)
            await self._tokens.acquire(part)
            amount -= part
        return guess

    def settle(self, guess: float, reply: ChatReply) -> None:
        """Learn from a good answer and what it took; a few rounds of them make room for one more call at once."""
        self._allowed = min(self._most, self._allowed + 1 / (ROUNDS * self._allowed))
        usage = reply.usage
        if not self._tokens or not usage.prompt_tokens:
            return
        self._owed += usage.prompt_tokens + usage.completion_tokens - guess


def _limiter(per_minute: float | None) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    from aiolimiter import AsyncLimiter

    window = max(BURST_SECONDS, 60 / per_minute)  # the bucket must hold at least one
    return AsyncLimiter(per_minute * window / 60, window)
