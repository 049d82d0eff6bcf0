"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, with the wrappers around them.

`build_chat_model` puts one together; the pieces are public for whoever wants another order. Parts are imported on first
use: who judges offline needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyclaim.models.batches import BATCH_CONCURRENCY, BatchSettings
    from everyclaim.models.build import Chat, ChatSettings, build_chat_model, wrap_chat_model
    from everyclaim.models.chat.budget import Budget, Meter, Metered, Price, find_price
    from everyclaim.models.chat.endpoint import Endpoint
    from everyclaim.models.chat.links import Cached, Call, Limited, Patience, Rates, Retrying
    from everyclaim.models.chat.providers import Provider
    from everyclaim.models.chat.replies import parse_object, read_reply
    from everyclaim.models.files import BatchState, ReplyCache

__all__ = [
    "BATCH_CONCURRENCY", "BatchSettings", "BatchState", "Budget", "Cached", "Call", "Chat", "ChatSettings",
    "Endpoint", "Limited", "Meter", "Metered", "Patience", "Price", "Provider", "Rates", "ReplyCache", "Retrying",
    "build_chat_model", "find_price", "parse_object", "read_reply", "wrap_chat_model",
]  # fmt: skip
_ON_FIRST_USE = {
    "batches": "BATCH_CONCURRENCY BatchSettings",
    "build": "Chat ChatSettings build_chat_model wrap_chat_model",
    "chat.budget": "Budget Meter Metered Price find_price",
    "chat.endpoint": "Endpoint",
    "chat.links": "Cached Call Limited Patience Rates Retrying",
    "chat.providers": "Provider",
    "chat.replies": "parse_object read_reply",
    "files": "BatchState ReplyCache",
}
_MODULES = {name: module for module, names in _ON_FIRST_USE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
