"""Put a chat model together: an endpoint inside its wrappers, outermost first.

Shared    identical calls at the same time are one
Cached    what was answered before
Retrying  what may work the next time
Limited   rates and calls in flight; held while a call waits for its answer, not while it waits to retry
Budgeted  the limits of a run; every attempt counts
Metered   what it cost
Endpoint  the provider

With `ChatSettings.batch` the calls go through the provider's batch API. `Batched` stands around the endpoint, prices
are halved, and there are no limits on rates and calls in flight: a batch has its own. Give the engine many samples in
flight then (`BATCH_CONCURRENCY`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.models.batches.batched import Batched
from everyclaim.models.batches.settings import BATCH_PATIENCE, BATCH_SHARE, BatchSettings
from everyclaim.models.chat.budgeted import Budget, Budgeted
from everyclaim.models.chat.cached import Cached, ReplyCache
from everyclaim.models.chat.endpoint import Endpoint, from_spec
from everyclaim.models.chat.limited import Limited, Rates
from everyclaim.models.chat.metered import Meter, Metered
from everyclaim.models.chat.prices import find_price
from everyclaim.models.chat.retrying import Patience, Retrying
from everyclaim.models.chat.single_flight import Shared


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How calls are made. The same settings, and so one meter, one cache and one budget, serve all judges of a run."""

    patience: Patience = field(default_factory=Patience)
    rates: Rates = field(default_factory=lambda: Rates(concurrency=64))
    budget: Budget = field(default_factory=Budget)
    cache: ReplyCache | None = None
    prices: Path | None = None  # a file that goes over our own table
    batch: BatchSettings | None = None


class Chat:
    """A chat model with all its wrappers; an asynchronous context manager that closes its connections."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: ChatModel,
        meter: Meter,
        *,
        cached: Cached | None = None,
        batched: Batched | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.meter = meter
        self._batched = batched
        self._model = model
        self._cached = cached

    @property
    def spec(self) -> str:
        """Provider, model and options, without secrets."""
        return self.endpoint.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer. Raises `JudgeError` for this call, `ConfigError`, `BudgetExceeded` and `StoreError` for the run."""
        return await self._model.complete(messages, schema=schema, tag=tag)

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = "") -> None:
        """Drop a reply that was of no use from the cache, where there is one."""
        if self._cached:
            self._cached.forget(messages, schema=schema, tag=tag)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; it can be used again after."""
        if self._batched:
            await self._batched.aclose()
        await self.endpoint.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Chat({self.spec})"


def build_chat_model(
    spec: Spec | str, settings: ChatSettings | None = None, *, key: str | None = None, meter: Meter | None = None
) -> Chat:
    """Build what ``openai:…`` or ``anthropic:…`` names, ready to be called many thousand times.

    `key` goes over the environment and the keys file. Models that shall share a budget are given the same
    `meter`. Raises `ConfigError` for a wrong spec, a missing key, or a limit on cost where no price is known.
    """
    settings = settings or ChatSettings()
    meter = meter or Meter()
    endpoint = from_spec(spec, key=key)
    options = endpoint.options
    for library in ("aiolimiter", "stamina"):  # imported when first needed, which must not be mid-run to fail
        if not _is_installed(library):
            raise MissingExtraError(f"a judge at {options.provider}", options.provider)
    price = find_price(options.provider, options.model, is_home=options.is_home, file=settings.prices)
    if settings.budget.max_cost is not None and price is None:
        raise ConfigError(
            f"max_cost needs a price, and none is known for {options.model!r} at {options.where}: give a price file "
            f"(prices, --prices) with a line such as '\"{options.model}\" = {{ input = 0.10, output = 0.30 }}' under "
            f"[{options.provider}.models], in dollars per million tokens, or limit max_calls or max_tokens"
        )
    patience, batched, model = settings.patience, None, cast("ChatModel", endpoint)
    if settings.batch:
        model = batched = Batched(endpoint, settings.batch, options.identity)
        price = price.times(BATCH_SHARE) if price else None
        patience = replace(patience, seconds=BATCH_PATIENCE)
    model = budgeted = Budgeted(
        Metered(model, price, meter),
        settings.budget,
        meter,
        price,
        reply_limit=options.max_tokens,
        together=batched is not None,
    )
    endpoint.before_another = budgeted.another
    if not settings.batch:
        model = Limited(model, settings.rates)
    model = Retrying(model, patience)
    cached = Cached(model, settings.cache, options.identity) if settings.cache else None
    return Chat(endpoint, Shared(cached or model, options.identity), meter, cached=cached, batched=batched)


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ValueError:  # blocked by a None in sys.modules
        return False
