"""Chat models at OpenAI, Anthropic and every endpoint that speaks like them, with the wrappers around them.

`build_chat_model` puts one together; the pieces are public for whoever wants another order.
"""

from everyclaim.models.batch_settings import BATCH_CONCURRENCY, BatchSettings
from everyclaim.models.batch_state import BatchState
from everyclaim.models.budgeted import Budget, Budgeted
from everyclaim.models.build import Chat, ChatSettings, build_chat_model
from everyclaim.models.cached import Cached, ReplyCache
from everyclaim.models.endpoint import Endpoint
from everyclaim.models.limited import Limited, Rates
from everyclaim.models.metered import Meter, Metered
from everyclaim.models.prices import Price, find_price
from everyclaim.models.replies import parse_object, read_reply
from everyclaim.models.retrying import Patience, Retrying
from everyclaim.models.shared import Shared, call_key

__all__ = [
    "BATCH_CONCURRENCY",
    "BatchSettings",
    "BatchState",
    "Budget",
    "Budgeted",
    "Cached",
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
    "call_key",
    "find_price",
    "parse_object",
    "read_reply",
]
