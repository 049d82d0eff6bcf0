"""Try again what may work the next time, for a bounded number of attempts and a bounded time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from everyclaim.core.errors import ConfigError, JudgeError, UnreachableError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.error_mapping import RETRYABLE

if TYPE_CHECKING:
    from stamina import Attempt

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

    def __post_init__(self) -> None:
        if self.attempts < 1 or not self.seconds > 0 or self.first_wait < 0 or self.longest_wait < 0:
            raise ConfigError(f"retries need at least one attempt and positive times, got {self}")


def _is_retryable(error: Exception) -> bool:
    return isinstance(error, JudgeError) and error.code in RETRYABLE


def attempts(patience: Patience, is_temporary: Callable[[Exception], bool] = _is_retryable) -> AsyncIterator[Attempt]:
    """Return the attempts to make: ``async for attempt in …: with attempt: …``; waits lie between them.

    `is_temporary` says of an error whether it is worth another try; every other error ends them. The wait is what the
    error's `retry_after` asks for, where it has one.
    """
    import stamina  # costs more than a call's own bookkeeping, so it is started by the first failure

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
    return stamina.retry_context(
        on=wait,
        attempts=patience.attempts,
        timeout=patience.seconds,
        wait_initial=patience.first_wait,
        wait_max=patience.longest_wait,
        wait_jitter=min(1.0, patience.first_wait),
    )


@dataclass(slots=True)
class _Silence:
    """Whether anybody is at an address that has never answered: one call at a time tries again, for all that wait."""

    trying: asyncio.Lock = field(default_factory=asyncio.Lock)
    attempts: int = 0
    ended: float = 0.0
    message: str = ""


class Retrying:
    """Retry rate limits, server errors, broken connections and unusable answers; nothing else.

    Where an address has never answered, calls at the same time do not multiply the attempts: one of them tries again,
    and what it finds holds for the others.
    """

    def __init__(self, following: Link, patience: Patience) -> None:
        self._next = following
        self._patience = patience
        self._has_answered = False
        self._doubts = LoopLocal(_Silence)

    async def ask(self, call: Call) -> ChatReply:
        """Ask until there is an answer or patience ends; the last failure is raised. Usage covers all attempts.

        Raises `UnreachableError` where that failure is one of an address that has never answered.
        """
        begun = time.monotonic()
        doubt = self._doubts.get()
        first: JudgeError | None = None
        if self._has_answered or not doubt.trying.locked():
            try:
                return await self._attempt(call, doubt)
            except JudgeError as error:
                first = error
        if self._has_answered:
            return await self._again(call, first, doubt)
        async with doubt.trying:
            if doubt.ended > begun:
                raise UnreachableError("connection", doubt.message, usage=first.usage if first else None)
            if found := await self._try_for_all(call, first, doubt, begun):
                return found
        return await self._again(call, first, doubt)

    async def _try_for_all(
        self, call: Call, first: JudgeError | None, doubt: _Silence, begun: float
    ) -> ChatReply | None:
        """Make the attempts that tell whether anybody is there; None where that has become known."""
        if self._has_answered:
            return None
        try:
            return await self._again(call, first, doubt)
        except JudgeError as error:
            if self._has_answered or error.code not in _UNANSWERED:
                raise
            doubt.ended = time.monotonic()
            times = (
                f"{doubt.attempts} attempts in {doubt.ended - begun:.0f} s without any answer; is the server running?"
            )
            doubt.message = f"{error.message} ({times})"
            doubt.attempts = 0
            raise UnreachableError(error.code, doubt.message, usage=error.usage) from None

    async def _attempt(self, call: Call, doubt: _Silence) -> ChatReply:
        doubt.attempts += 1
        try:
            reply = await self._next.ask(call)
        except JudgeError as error:
            self._has_answered = self._has_answered or error.code not in _UNANSWERED
            raise
        self._has_answered = True
        return reply

    async def _again(self, call: Call, first: JudgeError | None, doubt: _Silence) -> ChatReply:
        """Make the attempts behind the `first` one, if that was made."""
        spent = first.usage if first and first.usage else Usage()
        async for attempt in attempts(self._patience):
            with attempt:
                if attempt.num == 1 and first is not None:
                    raise first
                try:
                    reply = await self._attempt(call, doubt)
                except JudgeError as error:
                    error.usage = spent = spent + (error.usage or Usage())
                    raise
                return replace(reply, usage=spent + reply.usage)
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover
