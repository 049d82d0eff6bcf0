"""A budget where a whole round of calls is under way before the first one's cost is known.

Sent one by one, calls can simply stop when the limit is reached. A batch would be over it many times by
then, so every call is guessed beforehand and the guesses of calls under way count. A call that would go
over waits for those: their true cost may leave room. Only when nothing is under way any more and there is
still no room is the budget spent, and by then every answer that was paid for has arrived.

Guesses are corrected by what calls turned out to use. Before the first answer there is nothing to correct
them by, so only a quarter of the budget is given out then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from everyclaim.core.errors import BudgetExceeded
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.budgeted import Budget
from everyclaim.models.limited import REPLY_TOKENS
from everyclaim.models.metered import Meter
from everyclaim.models.perloop import PerLoop
from everyclaim.models.prices import Price

FIRST_SHARE = 0.25  # of the budget, while no answer has shown how good the guesses are


class BatchBudgeted:
    """Let a call start when what was used, what is under way and its own guess fit into the budget."""

    def __init__(self, model: ChatModel, budget: Budget, meter: Meter, price: Price | None) -> None:
        self._model = model
        self._budget = budget
        self._meter = meter
        self._price = price
        self._pending = PerLoop(_Pending)
        self._guessed = self._actual = 1.0  # tokens of all calls that have ended

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, perhaps after the calls under way, or raise `BudgetExceeded`."""
        pending = self._pending.get()
        prompt = sum(len(message.content.encode("utf-8", "replace")) for message in messages) / 4 + 1
        while reached := self._reached(pending, prompt + REPLY_TOKENS, self._cost(prompt)):
            if not pending.calls:
                raise BudgetExceeded(f"stopped at {reached}; used so far: {self._meter.says}", limit=reached)
            await pending.drained()
        tokens, cost = (prompt + REPLY_TOKENS) * self._share, self._cost(prompt)
        self._meter.started += 1
        pending.add(tokens, cost)
        try:
            reply = await self._model.complete(messages, schema=schema, tag=tag)
            used = reply.usage.prompt_tokens + reply.usage.completion_tokens
            if used:
                self._guessed += prompt + REPLY_TOKENS
                self._actual += used
            return reply
        finally:
            pending.remove(tokens, cost)

    @property
    def _share(self) -> float:
        return self._actual / self._guessed

    def _cost(self, prompt: float) -> float:
        if self._price is None:
            return 0.0
        share = self._share
        return self._price.cost(Usage(1, round(prompt * share), round(REPLY_TOKENS * share)))

    def _reached(self, pending: _Pending, tokens: float, cost: float) -> str:
        budget, used = self._budget, self._meter.usage
        if budget.max_calls is not None and max(self._meter.started, used.calls) >= budget.max_calls:
            return f"max_calls={budget.max_calls}"
        spent = used.prompt_tokens + used.completion_tokens
        # With nothing under way a call may start as long as the limit itself is not reached, as without batches.
        caution = 1.0 if self._actual > 1 else 1 / FIRST_SHARE
        margin = (pending.tokens + tokens * self._share) * caution if pending.calls else 0.0
        if budget.max_tokens is not None and spent + margin >= budget.max_tokens:
            return f"max_tokens={budget.max_tokens}"
        if budget.max_cost is None:
            return ""
        if used.cost is None:
            return f"max_cost={budget.max_cost:g} because a price is unknown"
        margin = (pending.cost + cost) * caution if pending.calls else 0.0
        return f"max_cost={budget.max_cost:g}" if used.cost + margin >= budget.max_cost else ""


class _Pending:
    """The calls under way in one event loop, as guessed."""

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0.0
        self.cost = 0.0
        self._empty = asyncio.Event()

    def add(self, tokens: float, cost: float) -> None:
        self.calls += 1
        self.tokens += tokens
        self.cost += cost

    def remove(self, tokens: float, cost: float) -> None:
        self.calls -= 1
        self.tokens -= tokens
        self.cost -= cost
        if not self.calls:
            self.tokens = self.cost = 0.0  # no rounding is carried along
            self._empty.set()
            self._empty = asyncio.Event()

    async def drained(self) -> None:
        """Wait until no call is under way."""
        await self._empty.wait()
