"""Reserve what a call may take, count what it took, and stop at a limit: on cost, on calls, on tokens.

Calls are counted when they start, so `max_calls` is exact. What a reply costs is known when it is there, so a call
reserves what it may take, and starts only if that fits beside what was used and what the calls under way reserved.
A call that does not fit waits for those: their true cost may leave room. It starts all the same when nothing is under
way and the limit is not reached. So cost and tokens stay within the limit, or go over it by that one call.

That holds as long as no reply is longer than reckoned: as the spec's `reply_tokens` where it says one; else as twice
the longest so far, and 1,000 tokens at least. A prompt is reckoned as a token for two bytes, or more where calls
turned out to take more. Before the first answer of a model its calls go one by one; in a batch, where that would be a
batch of one, a quarter of what is left is given out.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.meter import Budget, Meter, Reserve
from everyclaim.models.chat.prices import Price

FIRST_SHARE = 0.25  # of what is left, given out in batches while no answer has shown what a model's calls take


class Metered:
    """Let a call start when it fits into the budget; put a price on every reply, and add it to a meter.

    Models with one meter spend from one purse. `price` None means unknown, and so is the cost, unless the reply says
    it. `reply_limit` is the most tokens of a reply, where the endpoint was told one. `together`: calls are made in
    batches, whose answers come late and all at once.
    """

    def __init__(
        self,
        following: Link,
        meter: Meter,
        price: Price | None = None,
        budget: Budget | None = None,
        *,
        reply_limit: int | None = None,
        together: bool = False,
    ) -> None:
        self._next = following
        self._meter = meter
        self._price = price
        self._budget = budget or Budget()
        self._together = together
        self._reserve = Reserve(price, reply_limit)
        meter.reserves.append(self._reserve)

    async def ask(self, call: Call) -> ChatReply:
        """Ask, perhaps after calls under way, and count what it took, whether it succeeded or not.

        Raises `BudgetExceeded` where the call does not fit.
        """
        is_limited = self._budget.is_limited
        size = call.size if is_limited else 0
        while is_limited and (turn := self._enter(size)):
            await turn
        used: Usage | None = None
        try:
            reply = await self._next.ask(call)
        except JudgeError as error:
            spent = error.usage or Usage(calls=1)
            # Where a model has answered, of whatever use that is, its cost is still to be put (None).
            used = error.usage = self._priced(spent) if spent.cost is None else spent
            self._count(used, error.code)
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
                self._meter.settle(self._reserve, size, used)

    def another(self) -> None:
        """Count one more request of a call that is under way: an endpoint may want it put differently."""
        with self._meter.lock:
            if reached := self._calls_reached():
                raise self._exceeded(reached)
            self._meter.started += 1

    def _priced(self, usage: Usage) -> Usage:
        told = usage.prompt_tokens or usage.completion_tokens
        own = usage.cost or None  # said with the reply, by a model that knows its prices
        cost = own if self._price is None else self._price.cost(usage) if told else None
        return usage if usage.cost == cost else replace(usage, cost=cost)

    def _count(self, usage: Usage, failure: str = "") -> None:
        with self._meter.lock:
            self._meter.usage += usage
            if failure:
                self._meter.failures[failure] += 1

    def _enter(self, size: int) -> asyncio.Future[None] | None:
        """Start a call (None), or return what to wait for. Raises `BudgetExceeded`."""
        with self._meter.lock:
            if reached := self._reached():
                raise self._exceeded(reached)
            if self._meter.under_way and not self._fits(size):
                return self._meter.wait()
            self._meter.started += 1
            self._reserve.add(size)
            return None

    def _reached(self) -> str:
        """Say which limit is reached by what is used already; empty when none is."""
        budget, used = self._budget, self._meter.usage
        if reached := self._calls_reached():
            return reached
        if budget.max_tokens is not None and used.prompt_tokens + used.completion_tokens >= budget.max_tokens:
            return f"max_tokens={budget.max_tokens}"
        if budget.max_cost is None:
            return ""
        if used.cost is None:
            return f"max_cost={budget.max_cost:g}, because a reply came without token counts and its cost is unknown"
        return f"max_cost={budget.max_cost:g}" if used.cost >= budget.max_cost else ""

    def _calls_reached(self) -> str:
        most = self._budget.max_calls
        calls = max(self._meter.started, self._meter.usage.calls)
        return f"max_calls={most}" if most is not None and calls >= most else ""

    def _fits(self, size: int) -> bool:
        """Whether one more call fits beside those under way."""
        own, budget, meter = self._reserve, self._budget, self._meter
        if not own.is_tried and own.calls and not self._together:
            return False
        share = FIRST_SHARE if self._together and not own.is_tried else 1.0
        tokens = own.tokens(1, size) + sum(one.tokens(one.calls, one.size) for one in meter.reserves)
        cost = own.cost(1, size) + sum(one.cost(one.calls, one.size) for one in meter.reserves)
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
        return BudgetExceeded(f"stopped at {reached}; used so far: {self._meter.says}", limit=reached)
