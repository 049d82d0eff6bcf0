"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, with the wrappers around them.

`build_chat_model` puts one together; the pieces are public for whoever wants another order.
"""

from everyclaim.models.batches.settings import BATCH_CONCURRENCY, BatchSettings
from everyclaim.models.batches.state import BatchState
from everyclaim.models.chat.build import Chat, ChatSettings, build_chat_model, wrap_chat_model
from everyclaim.models.chat.cached import Cached, ReplyCache
from everyclaim.models.chat.call import Call
from everyclaim.models.chat.endpoint import Endpoint
from everyclaim.models.chat.limited import Limited, Rates
from everyclaim.models.chat.meter import Budget, Meter
from everyclaim.models.chat.metered import Metered
from everyclaim.models.chat.prices import Price, find_price
from everyclaim.models.chat.replies import parse_object, read_reply
from everyclaim.models.chat.retrying import Patience, Retrying
from everyclaim.models.chat.single_flight import Shared

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
