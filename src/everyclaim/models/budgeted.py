"""Stop at a limit: on cost, on calls, on tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everyclaim.core.errors import BudgetExceeded, ConfigError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.models.metered import Meter


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one run; None means none. `max_cost` is in US dollars, `max_tokens` counts prompt and reply."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_calls", "max_tokens"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"{name} must be at least 0, got {value!r}")


class Budgeted:
    """Let no call start once a limit is reached; calls that are in flight then are paid and kept.

    Calls are counted when they start, so `max_calls` is never exceeded. What a reply costs is known when
    it is there, so cost and tokens may go over by at most the calls in flight.
    """

    def __init__(self, model: ChatModel, budget: Budget, meter: Meter) -> None:
        self._model = model
        self._budget = budget
        self._meter = meter

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, or raise `BudgetExceeded`."""
        if reached := self._reached():
            raise BudgetExceeded(f"stopped at {reached}; used so far: {self._meter.says}", limit=reached)
        self._meter.started += 1
        return await self._model.complete(messages, schema=schema, tag=tag)

    def _reached(self) -> str:
        budget, used = self._budget, self._meter.usage
        calls = max(self._meter.started, used.calls)
        tokens = used.prompt_tokens + used.completion_tokens
        if budget.max_calls is not None and calls >= budget.max_calls:
            return f"max_calls={budget.max_calls}"
        if budget.max_tokens is not None and tokens >= budget.max_tokens:
            return f"max_tokens={budget.max_tokens}"
        if budget.max_cost is None:
            return ""
        if used.cost is None:
            return f"max_cost={budget.max_cost:g} because a price is unknown"
        return f"max_cost={budget.max_cost:g}" if used.cost >= budget.max_cost else ""
