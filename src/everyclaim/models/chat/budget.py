"""What calls cost, and where to stop: reserve what a call may take, count what it took, end at a limit.

Our prices are in `prices.toml`, dated, and hold only at the providers' own endpoints. A user's file of the same form
(TOML or JSON) goes over them and holds everywhere. An unknown price is None, never zero.

Calls are counted when they start, so `max_calls` is exact. What a reply costs is known when it is there, so a call
reserves what it `may_take`, and starts only if that fits beside what was used and what the calls under way reserved;
else it waits for those. It starts all the same when nothing is under way and the limit is not reached. So cost and
tokens stay within the limit, or go over it by that one call, as long as no reply is longer than reckoned.
Before the first answer of a model its calls go one by one; in a batch, a quarter of what is left is given out.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.links import Call, Link

_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float
    cache_write: float

    def cost(self, usage: Usage) -> float:
        """Return what tokens cost, in US dollars."""
        fresh = usage.prompt_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        dollars = (
            max(0, fresh) * self.input
            + usage.cache_read_tokens * self.cached
            + usage.cache_write_tokens * self.cache_write
            + usage.completion_tokens * self.output
        )
        return dollars / _MILLION

    def at_most(self, prompt: float, reply: float) -> float:
        """Return what so many tokens cost at most, in US dollars: all of the prompt at its dearest."""
        return (prompt * max(self.input, self.cached, self.cache_write) + reply * self.output) / _MILLION

    def times(self, share: float) -> Price:
        """Return the price at a discount: a share of 0.5 is half."""
        return Price(self.input * share, self.output * share, self.cached * share, self.cache_write * share)


def find_price(provider: str, model: str, *, is_home: bool, file: Path | None = None) -> Price | None:
    """Return the price of a model, None when nobody says it.

    A dated name (``gpt-5-mini-2025-08-07``) has the price of the name before the date unless it has its own.
    Raises `ConfigError` when the user's file cannot be read as prices.
    """
    if file:
        try:
            text = file.read_text("utf-8")
            rows = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
        except (OSError, ValueError) as error:
            raise ConfigError(f"the price file {file} cannot be read: {error}") from None
        if not isinstance(rows, dict):
            raise ConfigError(f"the price file {file} must contain one table per provider")
        if price := _look_up(rows, provider, model, str(file)):
            return price
    if not is_home:
        return None
    ours = files("everyclaim.models").joinpath("prices.toml").read_text("utf-8")
    return _look_up(tomllib.loads(ours), provider, model, "prices.toml")


def _look_up(rows: Mapping[str, Any], provider: str, model: str, source: str) -> Price | None:
    wrong = ConfigError(
        f"{source}: the price of {model!r} must be a row of [{provider}.models] with 'input' and 'output', and perhaps "
        "'cached' and 'cache_write', numbers of at least 0"
    )
    try:
        table = rows.get(provider, {})
        row = table.get("models", {}).get(model, table.get("models", {}).get(_DATED.sub("", model)))
        if row is None:
            return None
        price = Price(**{"cached": row["input"], "cache_write": row["input"], **row})
        is_amount = all(math.isfinite(value) and value >= 0 for value in row.values())
    except (AttributeError, KeyError, TypeError):
        raise wrong from None
    if not is_amount:
        raise wrong
    return price


AROUND = 400  # bytes of a prompt beside its texts: marks of turns, the form of the reply
TOKENS_PER_BYTE = 0.5  # of a prompt, at first; English is half of it, scripts with long encodings come near
SHORTEST_REPLY = 1_000  # tokens that a reply of no stated limit is reckoned as at least
FIRST_SHARE = 0.25  # of what is left, given out in batches while no answer has shown what a model's calls take


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one run; None means none. `max_cost` is in US dollars, `max_tokens` counts prompt and reply."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None


class Meter:
    """What was used so far, over all the models that share this meter. Safe from any thread."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.started = 0  # requests that a budget let through
        self.models: list[Metered] = []  # that spend from this purse
        self.lock = threading.RLock()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def under_way(self) -> int:
        """How many calls have begun and not ended."""
        return sum(model.calls for model in self.models)

    def wait(self) -> asyncio.Future[None]:
        """Return what is done as soon as a call under way has ended."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self.lock:
            self._waiting.append(turn)
        return turn

    def settle(self, model: Metered, size: int, used: Usage | None) -> None:
        """Take a call that has ended out of a model's, and wake whoever waits for room, in whatever event loop."""
        with self.lock:
            model.remove(size, used)
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


@dataclass(eq=False)
class Metered:
    """Let a call start when it fits into the budget; put a price on every reply, and add it to a meter.

    Models with one meter spend from one purse. `price` None means unknown, and so is the cost, unless the reply says
    it. `reply_limit` is the most tokens of a reply, where the endpoint was told one. `together`: calls are made in
    batches, whose answers come late and all at once. What calls may take is learned from what they took.
    """

    following: Link
    meter: Meter
    price: Price | None = None
    budget: Budget = Budget()
    reply_limit: int | None = None
    together: bool = False
    calls: int = 0  # under way
    size: int = 0  # bytes of their prompts
    is_tried: bool = False  # whether any call has ended
    per_byte: float = TOKENS_PER_BYTE
    longest: int = 0  # tokens of a reply

    def __post_init__(self) -> None:
        self.meter.models.append(self)

    def may_take(self, calls: int, size: int) -> tuple[float, float]:
        """Reckon tokens and US dollars (0 without a price) of calls whose prompts have so many bytes together."""
        prompt = (size + calls * AROUND) * self.per_byte
        reply = calls * (self.reply_limit or max(2 * self.longest, SHORTEST_REPLY))
        return prompt + reply, self.price.at_most(prompt, reply) if self.price else 0.0

    def remove(self, size: int, used: Usage | None) -> None:
        """Note that a call has ended, and what it used if that is known."""
        self.calls -= 1
        self.size -= size
        self.is_tried = True
        if used:
            self.per_byte = max(self.per_byte, used.prompt_tokens / (size + AROUND))
            self.longest = max(self.longest, used.completion_tokens)

    async def ask(self, call: Call) -> ChatReply:
        """Ask, perhaps after calls under way, and count what it took, whether it succeeded or not.

        Raises `BudgetExceeded` where the call does not fit.
        """
        is_limited = self.budget != Budget()
        size = call.size if is_limited else 0
        while is_limited and (turn := self._enter(size)):
            await turn
        used: Usage | None = None
        try:
            reply = await self.following.ask(call)
        except JudgeError as error:
            spent = error.usage or Usage(calls=1)
            # Where a model has answered, of whatever use that is, its cost is still to be put (None).
            used = error.usage = self._priced(spent) if spent.cost is None else spent
            self._count(used)
            raise
        except (BudgetExceeded, ConfigError):
            self._count(Usage(calls=1))
            raise
        else:
            used = self._priced(reply.usage)
            self._count(used)
            return reply if used is reply.usage else replace(reply, usage=used)
        finally:
            if is_limited:
                self.meter.settle(self, size, used)

    def another(self) -> None:
        """Count one more request of a call that is under way: an endpoint may want it put differently."""
        with self.meter.lock:
            if reached := self._calls_reached():
                raise self._exceeded(reached)
            self.meter.started += 1

    def _priced(self, usage: Usage) -> Usage:
        told = usage.prompt_tokens or usage.completion_tokens
        own = usage.cost or None  # said with the reply, by a model that knows its prices
        cost = own if self.price is None else self.price.cost(usage) if told else None
        return usage if usage.cost == cost else replace(usage, cost=cost)

    def _count(self, usage: Usage) -> None:
        with self.meter.lock:
            self.meter.usage += usage

    def _enter(self, size: int) -> asyncio.Future[None] | None:
        """Start a call (None), or return what to wait for. Raises `BudgetExceeded`."""
        with self.meter.lock:
            if reached := self._reached():
                raise self._exceeded(reached)
            if self.meter.under_way and not self._fits(size):
                return self.meter.wait()
            self.meter.started += 1
            self.calls += 1
            self.size += size
            return None

    def _reached(self) -> str:
        """Say which limit is reached by what is used already; empty when none is."""
        budget, used = self.budget, self.meter.usage
        if reached := self._calls_reached():
            return reached
        if budget.max_tokens is not None and used.prompt_tokens + used.completion_tokens >= budget.max_tokens:
            return f"max_tokens={budget.max_tokens}"
        if budget.max_cost is None:
            return ""
        if used.cost is None:
            return f"max_cost={budget.max_cost:g}, because a reply had no token counts and its cost is unknown"
        return f"max_cost={budget.max_cost:g}" if used.cost >= budget.max_cost else ""

    def _calls_reached(self) -> str:
        most = self.budget.max_calls
        calls = max(self.meter.started, self.meter.usage.calls)
        return f"max_calls={most}" if most is not None and calls >= most else ""

    def _fits(self, size: int) -> bool:
        budget, meter = self.budget, self.meter
        if not self.is_tried and self.calls and not self.together:
            return False
        share = FIRST_SHARE if self.together and not self.is_tried else 1.0
        parts = [self.may_take(1, size), *(model.may_take(model.calls, model.size) for model in meter.models)]
        tokens, cost = (sum(part) for part in zip(*parts, strict=True))
        calls = 1 + meter.under_way
        return all(
            limit is None or reserved <= (limit - used) * share
            for limit, used, reserved in (
                (budget.max_tokens, meter.usage.prompt_tokens + meter.usage.completion_tokens, tokens),
                (budget.max_cost, meter.usage.cost or 0.0, cost),
                (budget.max_calls, meter.started + 1 - calls, calls),
            )
        )

    def _exceeded(self, reached: str) -> BudgetExceeded:
        return BudgetExceeded(f"stopped at {reached}; used so far: {self.meter.says}", limit=reached)


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
