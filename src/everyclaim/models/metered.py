"""Count what is used: tokens, calls, cost, and failures by code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.prices import Price


class Meter:
    """What was used so far, over all the models that share this meter."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.started = 0  # calls that a budget let through
        self.failures: Counter[str] = Counter()  # by code

    def add(self, usage: Usage) -> None:
        """Add what one call used."""
        self.usage += usage

    @property
    def says(self) -> str:
        """One line for people. An unknown price is said."""
        used = self.usage
        cost = "cost unknown: no price for this model" if used.cost is None else f"${used.cost:.4f}"
        tokens = f"{used.prompt_tokens:,} prompt and {used.completion_tokens:,} reply tokens"
        return f"{used.calls:,} calls, {tokens}, {cost}"


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
            # No tokens on a failure: nothing was made, so nothing is billed.
            error.usage = self._priced(spent) if spent.completion_tokens else replace(spent, cost=0.0)
            self._meter.add(error.usage)
            self._meter.failures[error.code] += 1
            raise
        usage = self._priced(reply.usage)
        self._meter.add(usage)
        return reply if usage is reply.usage else replace(reply, usage=usage)

    def _priced(self, usage: Usage) -> Usage:
        told = usage.prompt_tokens or usage.completion_tokens
        cost = self._price.cost(usage) if self._price and told else None
        return usage if usage.cost == cost else replace(usage, cost=cost)
