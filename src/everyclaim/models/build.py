"""Put a chat model together: a chain of links, each handing a `Call` on to the next. Outermost first:

Cached    identical calls at the same time are one, and what was answered before is not asked again
Retrying  what may work the next time
Limited   rates and calls in flight; held while a call waits for its answer, not while it waits to retry
Metered   the limits of a run, and what was used; every attempt counts
Endpoint  the provider; or `Batched` around it; or `Foreign`, somebody else's chat model

`Chat` is the border: a `ChatModel` outside, the chain inside. This order is the one place where it is decided.

With `ChatSettings.batch` the calls go through the provider's batch API: prices are halved, and there are no limits on
rates and calls in flight, as a batch has its own. Give the engine many samples in flight then (`BATCH_CONCURRENCY`).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from everyclaim.core.errors import ConfigError
from everyclaim.core.lifetime import AsyncClosing
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.models.batches import BATCH_PATIENCE, BATCH_SHARE, Batched, BatchSettings
from everyclaim.models.chat.budget import Budget, Meter, Metered, Price, find_price
from everyclaim.models.chat.endpoint import Endpoint, from_spec
from everyclaim.models.chat.links import Cached, Call, Foreign, Limited, Link, Patience, Rates, Retrying
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.transport import check_libraries
from everyclaim.models.files import ReplyCache


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How calls are made. The same settings, and so one meter, one cache and one budget, serve all judges of a run."""

    patience: Patience = field(default_factory=Patience)
    rates: Rates = field(default_factory=lambda: Rates(concurrency=64))
    budget: Budget = field(default_factory=Budget)
    cache: ReplyCache | None = None
    prices: Path | None = None  # a file that goes over our own table
    batch: BatchSettings | None = None


@dataclass(eq=False, repr=False)
class Chat(AsyncClosing):
    """A chat model with all its wrappers; an asynchronous context manager that closes its connections.

    `join` carries calls out on another event loop, where there is one.
    """

    link: Cached
    spec: str
    identity: str
    meter: Meter
    endpoint: Endpoint | None = None
    batched: Batched | None = None
    join: Callable[[Coroutine[Any, Any, ChatReply]], Awaitable[ChatReply]] | None = None

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer. Raises `JudgeError` for this call, `ConfigError`, `BudgetExceeded` and `StoreError` for the run."""
        asked = self.link.ask(Call(self.identity, messages, schema, tag))
        return await (self.join(asked) if self.join else asked)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; it can be used again after."""
        if self.batched:
            await self.batched.aclose()
        if self.endpoint:
            await self.endpoint.aclose()


def build_chat_model(
    spec: Spec | str, settings: ChatSettings | None = None, *, key: str | None = None, meter: Meter | None = None
) -> Chat:
    """Build what a spec such as ``openai:…`` names, ready to be called many thousand times.

    `key` goes over the environment and the keys file. Models that shall share a budget are given the same
    `meter`. Raises `ConfigError` for a wrong spec, a missing key, or a limit on cost where no price is known.
    """
    settings, meter = settings or ChatSettings(), meter or Meter()
    spec = Spec.parse(spec) if isinstance(spec, str) else spec
    endpoint = from_spec(spec, key=key)
    options = endpoint.options
    price = price_of(options, settings.prices)
    if settings.budget.max_cost is not None and price is None:
        raise ConfigError(
            f"max_cost needs a price, but none is known for {options.model!r} at {options.where}: pass a "
            f'price file (prices, --prices) with a line such as \'"{options.model}" = {{ input = 0.10, '
            f"output = 0.30 }}' under [{options.provider}.models], in dollars per million tokens, "
            "or limit max_calls or max_tokens"
        )
    batched = Batched(endpoint, settings.batch) if settings.batch else None
    metered = Metered(
        batched or endpoint,
        meter,
        price.times(BATCH_SHARE) if price and batched else price,
        settings.budget,
        reply_limit=options.said.reply_tokens,
        together=batched is not None,
    )
    endpoint.before_another = metered.another
    link = _wrapped(metered, settings)
    return Chat(link, endpoint.spec, options.identity, meter, endpoint=endpoint, batched=batched)


def price_of(options: EndpointOptions, file: Path | None) -> Price | None:
    """Return what the model of an endpoint costs, None where nobody says it; `file` goes over our own table."""
    return find_price(options.provider, options.model, is_home=options.is_home, file=file)


def wrap_chat_model(model: ChatModel, settings: ChatSettings | None = None, *, meter: Meter | None = None) -> Chat:
    """Give somebody else's chat model the wrappers that ours have: cache, retries, rates, budget and meter.

    Its `spec` tells it from others in the cache, so it must name everything that can change a reply. What a call costs
    is what its replies say, or what the price file says of ``[name.models]`` for a spec ``name:model``. Errors that
    are no `JudgeError` pass as they are. Raises `ConfigError` for batches, which are a provider's.
    """
    settings, meter = settings or ChatSettings(), meter or Meter()
    if settings.batch:
        raise ConfigError(f"{model.spec!r} is your own chat model and has no batch API")
    check_libraries("openai")
    spec = Spec.parse(model.spec)
    price = find_price(spec.name, spec.argument, is_home=False, file=settings.prices)
    link = _wrapped(Metered(Foreign(model), meter, price, settings.budget), settings)
    return Chat(link, model.spec, json.dumps(["foreign", model.spec]), meter)


def _wrapped(metered: Metered, settings: ChatSettings) -> Cached:
    patience = replace(settings.patience, seconds=BATCH_PATIENCE) if settings.batch else settings.patience
    link: Link = metered if settings.batch else Limited(metered, settings.rates)
    return Cached(Retrying(link, patience), settings.cache)
