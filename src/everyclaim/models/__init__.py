"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, with the wrappers around them.

`build_chat_model` puts one together; the pieces are public for whoever wants another order. Parts are imported on first
use: who judges offline needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyclaim.models.batches import BATCH_CONCURRENCY
    from everyclaim.models.batches.scheduler import BatchSettings
    from everyclaim.models.batches.state import BatchState
    from everyclaim.models.build import Chat, ChatSettings, build_chat_model, wrap_chat_model
    from everyclaim.models.chat.budget import Budget, Meter, Metered
    from everyclaim.models.chat.cached import Cached, ReplyCache
    from everyclaim.models.chat.call import Call
    from everyclaim.models.chat.endpoint import Endpoint
    from everyclaim.models.chat.limited import Limited, Rates
    from everyclaim.models.chat.prices import Price, find_price
    from everyclaim.models.chat.providers import Provider
    from everyclaim.models.chat.replies import parse_object, read_reply
    from everyclaim.models.chat.retrying import Patience, Retrying

__all__ = [
    "BATCH_CONCURRENCY", "BatchSettings", "BatchState", "Budget", "Cached", "Call", "Chat", "ChatSettings",
    "Endpoint", "Limited", "Meter", "Metered", "Patience", "Price", "Provider", "Rates", "ReplyCache", "Retrying",
    "build_chat_model", "find_price", "parse_object", "read_reply", "wrap_chat_model",
]  # fmt: skip
_ON_FIRST_USE = {
    "batches": ("BATCH_CONCURRENCY",),
    "batches.scheduler": ("BatchSettings",),
    "batches.state": ("BatchState",),
    "build": ("Chat", "ChatSettings", "build_chat_model", "wrap_chat_model"),
    "chat.budget": ("Budget", "Meter", "Metered"),
    "chat.cached": ("Cached", "ReplyCache"),
    "chat.call": ("Call",),
    "chat.endpoint": ("Endpoint",),
    "chat.limited": ("Limited", "Rates"),
    "chat.prices": ("Price", "find_price"),
    "chat.providers": ("Provider",),
    "chat.replies": ("parse_object", "read_reply"),
    "chat.retrying": ("Patience", "Retrying"),
}
_MODULES = {name: module for module, names in _ON_FIRST_USE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
