"""How long a reply may be where the spec does not say: a runaway ends, and a reply of use is never cut.

A reply in a form of ours tells of each thing asked about, so its size goes with that of what is asked: the last turn
of the request. The limit is several times what such replies take. A model that thinks before it answers counts its
thoughts among the tokens of the reply: where one is known to, nothing is limited. A reply that is cut all the same is
asked for once more without a limit, and an endpoint whose replies need more is not limited again: see `Endpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from everyclaim.core.protocols import Message
from everyclaim.models.chat.options import EndpointOptions

LEAST = 1_000  # tokens of the shortest limit
TIMES = 6  # the tokens of what is asked about, on top
NOT_LIMITED = "reply_limit"  # among what an endpoint does without
_THINKS = re.compile(
    r"(?:^|[/:._-])(?:o\d|gpt-5|gpt-oss|gemini-(?:2\.5|3)|grok-[4-9]|r1|qwq|qwen3|magistral)(?:[-_.:]|$)|think|reason"
)
_OF_THOUGHTS = ("reasoning", "thinking", "enable_thinking", "chat_template_kwargs")  # fields of a body


def thinks(options: EndpointOptions) -> bool:
    """Whether a model is known to think before it answers, by its name or by what is asked of it."""
    asked = {*options.sampling} & {"reasoning_effort", "thinking_tokens"} or {*options.body} & {*_OF_THOUGHTS}
    return bool(asked) or _THINKS.search(options.model.lower()) is not None


def reply_limit(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> int | None:
    """Return the most tokens of the reply to a request, None where its form is not ours."""
    if schema is None or not messages:
        return None
    return LEAST + TIMES * (len(messages[-1].content.encode("utf-8", "replace")) // 4)


def said(options: EndpointOptions) -> str:
    """Say the limit for a result's provenance."""
    if options.reply_tokens:
        return str(options.reply_tokens)
    return "none" if thinks(options) else f"{LEAST}+{TIMES}x"
