"""What an endpoint turned out to take: how it gives JSON, how the output limit is called, what it rejects.

Nobody can know this beforehand for every compatible server and every reasoning model, so a rejection is
read, the request is put differently, and what worked is remembered by the endpoint that found it out.

A reply in a form of ours tells of each thing asked about, so its size goes with that of what is asked: the last turn
of the request. Where the spec does not limit it, it may have several times what such replies take: a runaway ends, and
a reply of use is never cut. A model that thinks before it answers counts its thoughts among the tokens of the reply:
where one is known to, nothing is limited. A reply that is cut all the same is asked for once more without a limit, and
an endpoint whose replies need more is not limited again: see `Endpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everyclaim.core.protocols import Message
from everyclaim.models.chat.error_mapping import RejectedError
from everyclaim.models.chat.options import SAMPLING, EndpointOptions, Mode
from everyclaim.models.chat.providers import find_provider

LEAST = 1_000  # tokens of the shortest limit
TIMES = 6  # the tokens of what is asked about, on top
NOT_LIMITED = "reply_limit"  # among what an endpoint does without
_THINKS = re.compile(
    r"(?:^|[/:._-])(?:o\d|gpt-5|gpt-oss|gemini-(?:2\.5|3)|grok-[4-9]|r1|qwq|qwen3|magistral)(?:[-_.:]|$)|think|reason"
)
_OF_THOUGHTS = ("reasoning", "thinking", "enable_thinking", "chat_template_kwargs")  # fields of a body
_SOFTER: dict[Mode, Mode] = {"schema": "tool", "tool": "plain"}
_CALLED = {"reasoning_effort": "effort", "thinking_tokens": "thinking", "top_logprobs": "logprobs"}  # in rejections
_THINKING = re.compile(r"(?:o\d|gpt-5)(?:-|$)")  # of OpenAI; none takes a temperature, which would cost a request
_UNKNOWN = re.compile(r"not support|unsupported|unknown|unrecogni|unexpected|extra|not permitted|not allowed|instead")
_OF_LIMIT = re.compile(r"max_(?:output_|completion_)?tokens|maxoutputtokens|in the completion")
_STRUCTURED = re.compile(
    r"response_format|json_schema|schema|output_config|output_format|text\.format|tool|function|guided|grammar|structured|strict"
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One way to put a request. `confirmed`: structured output has worked this way at least once."""

    mode: Mode
    limit: str  # how the output limit is called; chat completions only
    dropped: frozenset[str] = frozenset()
    confirmed: bool = False


def first_capabilities(options: EndpointOptions) -> Capabilities:
    """Return what is tried first."""
    limit = find_provider(options.provider).output_limit if options.is_home else "max_tokens"
    dropped = {"temperature"} if options.is_home and _THINKING.match(options.model) else set()
    if options.reply_tokens or thinks(options):
        dropped.add(NOT_LIMITED)
    return Capabilities(
        options.structured or "schema", limit, frozenset(dropped), confirmed=options.structured is not None
    )


def unlimited(tried: Capabilities) -> Capabilities:
    """Return the same way to put a request, without a limit of ours on the reply."""
    return replace(tried, dropped=tried.dropped | {NOT_LIMITED})


def is_about_our_limit(tried: Capabilities, said: str) -> bool:
    """Whether an endpoint refuses a request for the limit that we put on the reply."""
    return NOT_LIMITED not in tried.dropped and _OF_LIMIT.search(said.lower()) is not None


def next_capabilities(
    tried: Capabilities, error: RejectedError, sent: Collection[str], *, structured: bool
) -> Capabilities | None:
    """Return another way to put a request that was rejected, None when there is none left.

    `sent` are the fields of the body; `structured` says whether a schema was asked for.
    """
    text = f"{error.param} {error.text}"
    if tried.limit in sent and tried.limit in text and _UNKNOWN.search(text):
        other = "max_tokens" if tried.limit == "max_completion_tokens" else "max_completion_tokens"
        if f"limit:{other}" not in tried.dropped:  # tried both already
            return replace(tried, limit=other, dropped=tried.dropped | {f"limit:{tried.limit}"})
    if is_about_our_limit(tried, text):
        return unlimited(tried)
    for name in SAMPLING:
        short = _CALLED.get(name, name)
        if name not in tried.dropped and short in text and (name in sent or short in sent or short == "effort"):
            return replace(tried, dropped=tried.dropped | {name})
    softer = _SOFTER.get(tried.mode)
    if structured and softer and (_STRUCTURED.search(text) or not tried.confirmed):
        return replace(tried, mode=softer, confirmed=False)
    return None


def thinks(options: EndpointOptions) -> bool:
    """Whether a model is known to think before it answers, by its name or by what is asked of it."""
    asked = {*options.sampling} & {"reasoning_effort", "thinking_tokens"} or {*options.body} & {*_OF_THOUGHTS}
    return bool(asked) or _THINKS.search(options.model.lower()) is not None


def reply_limit(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> int | None:
    """Return the most tokens of the reply to a request, None where its form is not ours."""
    if schema is None or not messages:
        return None
    return LEAST + TIMES * (len(messages[-1].content.encode("utf-8", "replace")) // 4)


def describe_reply_limit(options: EndpointOptions) -> str:
    """Say the limit for a result's provenance."""
    if options.reply_tokens:
        return str(options.reply_tokens)
    return "none" if thinks(options) else f"{LEAST}+{TIMES}x"
