"""Try again what may work the next time, for a bounded number of attempts and a bounded time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.error_mapping import RETRYABLE


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


class Retrying:
    """Retry rate limits, server errors, broken connections and unusable answers; nothing else."""

    def __init__(self, following: Link, patience: Patience) -> None:
        self._next = following
        self._patience = patience

    async def ask(self, call: Call) -> ChatReply:
        """Ask until there is an answer or patience ends; the last failure is raised. Usage covers all attempts."""
        begun = time.monotonic()
        try:
            return await self._next.ask(call)
        except JudgeError as error:
            first = error
        spent = first.usage or Usage()
        # The retry machinery costs more than a call's own bookkeeping, so it starts with the first failure.
        import stamina

        quieten()
        patience = self._patience
        attempts = stamina.retry_context(
            on=lambda error: self._wait(error, begun),
            attempts=patience.attempts,
            timeout=patience.seconds,
            wait_initial=patience.first_wait,
            wait_max=patience.longest_wait,
            wait_jitter=min(1.0, patience.first_wait),
        )
        async for attempt in attempts:
            with attempt:
                if attempt.num == 1:
                    raise first
                try:
                    reply = await self._next.ask(call)
                except JudgeError as error:
                    error.usage = spent = spent + (error.usage or Usage())
                    raise
                return replace(reply, usage=spent + reply.usage)
        raise first  # pragma: no cover  (the last attempt returns or raises)

    def _wait(self, error: Exception, begun: float) -> bool | float:
        """Return whether to try again, or the seconds that the provider asks to wait."""
        if not isinstance(error, JudgeError) or error.code not in RETRYABLE:
            return False
        if error.retry_after is None:
            return True
        left = self._patience.seconds - (time.monotonic() - begun)
        return error.retry_after if error.retry_after <= left else False


def quieten() -> None:
    """Keep stamina's line per retry off the screen of programs that have not set up logging; others still get it."""
    logger = logging.getLogger("stamina")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
