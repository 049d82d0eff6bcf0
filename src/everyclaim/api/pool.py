"""The chat models of a session: one per spec, all under the same limits, rates, cache and meter."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from everyclaim.api.talking import DEFAULT_STORE, OFF, Reaching, batches_beside
from everyclaim.core.accounting import accounted
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.engine import BackgroundLoop
from everyclaim.models import (
    BatchSettings,
    BatchState,
    Budget,
    ChatSettings,
    Meter,
    Rates,
    ReplyCache,
    build_chat_model,
    wrap_chat_model,
)
from everyclaim.models.build import Chat


class ChatPool:
    """One chat model per spec, all with the same settings and one meter; what judges of a run share.

    With a `home` all of them live on that event loop, wherever they are called from: connections, rates and calls that
    are under way are then the same for every thread and task.
    """

    def __init__(self, settings: ChatSettings | None = None, home: BackgroundLoop | None = None) -> None:
        self.settings = settings or ChatSettings()
        self.meter = Meter()
        self._home = home
        self._open: dict[str, ChatModel] = {}
        self._lock = threading.Lock()

    def model(self, spec: str | Spec) -> ChatModel:
        """Return the chat model a spec names, the same one every time."""
        key = str(spec)
        with self._lock:
            if key not in self._open:
                self._open[key] = self._placed(build_chat_model(Spec.parse(key), self.settings, meter=self.meter))
            return self._open[key]

    def wrap(self, model: ChatModel) -> ChatModel:
        """Return somebody else's chat model under the limits, rates, cache and meter of the others."""
        return self._placed(wrap_chat_model(model, self.settings, meter=self.meter))

    def _placed(self, chat: Chat) -> ChatModel:
        return accounted(AtHome(chat, self._home) if self._home else chat)

    def close(self) -> None:
        """Close the files of replies and batches; opened again when needed. Connections close with their scope."""
        if self.settings.batch:
            self.settings.batch.state.close()
        if self.settings.cache:
            self.settings.cache.close()


class AtHome:
    """A chat model that is always called on one event loop."""

    def __init__(self, chat: Chat, home: BackgroundLoop) -> None:
        self._chat = chat
        self._home = home

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._chat.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask."""
        return await self._home.join(self._chat.complete(messages, schema=schema, tag=tag))

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = "") -> None:
        """Drop a reply that was of no use from the cache, where there is one."""
        self._chat.forget(messages, schema=schema, tag=tag)


def chat_settings(options: Reaching) -> ChatSettings:
    """Return limits, rates, cache, batches and prices as the options say them.

    Raises `ConfigError` for a wrong number.
    """
    cache, prices, batches = options.get("cache"), options.get("prices"), options.get("provider_batch")
    if batches is True:
        batches = batches_beside(DEFAULT_STORE, DEFAULT_STORE)
    return ChatSettings(
        rates=Rates(options.get("requests_per_minute"), options.get("tokens_per_minute"), concurrency=64),
        budget=Budget(options.get("max_cost"), options.get("max_calls"), options.get("max_tokens")),
        cache=ReplyCache(Path(cache)) if cache and cache != OFF else None,
        prices=Path(prices) if prices else None,
        batch=BatchSettings(BatchState(Path(batches))) if batches else None,
    )
