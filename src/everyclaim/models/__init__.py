"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, with the wrappers around them.

`build_chat_model` puts one together; the pieces are public for whoever wants another order. Parts are imported on first
use: who judges offline needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyclaim.models.batches.settings import BATCH_CONCURRENCY, BatchSettings
    from everyclaim.models.batches.state import BatchState
    from everyclaim.models.build import Chat, ChatSettings, build_chat_model, wrap_chat_model
    from everyclaim.models.chat.cached import Cached, ReplyCache, Shared
    from everyclaim.models.chat.call import Call
    from everyclaim.models.chat.endpoint import Endpoint
    from everyclaim.models.chat.limited import Limited, Rates
    from everyclaim.models.chat.meter import Budget, Meter
    from everyclaim.models.chat.metered import Metered
    from everyclaim.models.chat.prices import Price, find_price
    from everyclaim.models.chat.providers import Provider
    from everyclaim.models.chat.replies import parse_object, read_reply
    from everyclaim.models.chat.retrying import Patience, Retrying

_ON_FIRST_USE = {
    "BATCH_CONCURRENCY": "everyclaim.models.batches.settings",
    "BatchSettings": "everyclaim.models.batches.settings",
    "BatchState": "everyclaim.models.batches.state",
    "Budget": "everyclaim.models.chat.meter",
    "Cached": "everyclaim.models.chat.cached",
    "Call": "everyclaim.models.chat.call",
    "Chat": "everyclaim.models.build",
    "ChatSettings": "everyclaim.models.build",
    "Endpoint": "everyclaim.models.chat.endpoint",
    "Limited": "everyclaim.models.chat.limited",
    "Meter": "everyclaim.models.chat.meter",
    "Metered": "everyclaim.models.chat.metered",
    "Patience": "everyclaim.models.chat.retrying",
    "Price": "everyclaim.models.chat.prices",
    "Provider": "everyclaim.models.chat.providers",
    "Rates": "everyclaim.models.chat.limited",
    "ReplyCache": "everyclaim.models.chat.cached",
    "Retrying": "everyclaim.models.chat.retrying",
    "Shared": "everyclaim.models.chat.cached",
    "build_chat_model": "everyclaim.models.build",
    "find_price": "everyclaim.models.chat.prices",
    "parse_object": "everyclaim.models.chat.replies",
    "read_reply": "everyclaim.models.chat.replies",
    "wrap_chat_model": "everyclaim.models.build",
}

__all__ = [
    "BATCH_CONCURRENCY",
    "BatchSettings",
    "BatchState",
    "Budget",
    "Cached",
    "Call",
    "Chat",
    "ChatSettings",
    "Endpoint",
    "Limited",
    "Meter",
    "Metered",
    "Patience",
    "Price",
    "Provider",
    "Rates",
    "ReplyCache",
    "Retrying",
    "Shared",
    "build_chat_model",
    "find_price",
    "parse_object",
    "read_reply",
    "wrap_chat_model",
]


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ON_FIRST_USE[name]), name)
