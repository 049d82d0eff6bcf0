"""What may be used, what is used (tokens, calls, cost, failures by code), and what calls under way may still use."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from dataclasses import dataclass

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Usage
from everyclaim.models.chat.prices import Price

AROUND = 400  # bytes of a prompt beside its texts: marks of turns, the form of the reply
TOKENS_PER_BYTE = 0.5  # of a prompt, at first; English is half of it, scripts with long encodings come near
SHORTEST_REPLY = 1_000  # tokens that a reply of no stated limit is reckoned as at least


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one run; None means none. `max_cost` is in US dollars, `max_tokens` counts prompt and reply."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_calls", "max_tokens"):
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and value >= 0):
                raise ConfigError(f"{name} must be a number of at least 0, got {value!r}")

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit at all."""
        return self != Budget()


class Meter:
    """What was used so far, over all the models that share this meter. Safe from any thread."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.started = 0  # requests that a budget let through
        self.failures: Counter[str] = Counter()  # by code
        self.reserves: list[Reserve] = []  # one of each model with a budget
        self.lock = threading.RLock()
        self._waiting: list[asyncio.Future[None]] = []

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


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
