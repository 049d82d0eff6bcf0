"""The three wire formats as pure functions: a request's body, and what a response says.

OpenAI chat completions (and everything compatible), OpenAI responses, Anthropic messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply, Fork, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.capabilities import Capabilities
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.replies import read_forks
from everyclaim.models.chat.reply_limits import NOT_LIMITED, reply_limit

Json = dict[str, Any]
Finish = Literal["stop", "length", "refusal", "filtered"]
ANTHROPIC_MAX_TOKENS = 8192  # the field is required there
MAX_CACHE_MARKS = 4  # Anthropic takes no more
_TOOL = "give_answer"
_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filtered",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True)
class Wire:
    """One format: where it is posted, how a request is written and how a response is read."""

    path: str
    write: Callable[[EndpointOptions, Capabilities, Sequence[Message], Mapping[str, Any] | None], Json]
    read: Callable[[Json], ChatReply]


def is_strict(schema: Any) -> bool:
    """Whether a schema has the form strict modes ask for: every object closed, every property required."""
    if type(schema) is str:  # most parts are; asked first, because this is asked for every call
        return True
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(properties)
        return closed and all(map(is_strict, properties.values()))
    return all(map(is_strict, schema.values()))


class _Same:
    """A schema that equals only itself. Prompts make theirs once, so it is looked through once, not at every call."""

    __slots__ = ("schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema


@lru_cache(maxsize=64)
def _is_strict_once(same: _Same) -> bool:
    return is_strict(same.schema)


def write_chat(
    options: EndpointOptions, capabilities: Capabilities, messages: Sequence[Message], schema: Mapping[str, Any] | None
) -> Json:
    """Write a request for chat completions."""
    body: Json = {"model": options.model, "messages": _plain_turns(_instructed(messages, schema, capabilities))}
    if limit := _limit(options, capabilities, messages, schema):
        body[capabilities.limit] = limit
    body |= _sampling(options, capabilities)
    if "top_logprobs" in body:
        body["logprobs"] = True
    if schema is not None and capabilities.mode == "schema":
        named = {"name": _name(schema), "schema": _untitled(schema), "strict": _is_strict_once(_Same(schema))}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif schema is not None and capabilities.mode == "tool":
        function = {"name": _TOOL, "description": _name(schema), "parameters": _untitled(schema)}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": _TOOL}}
    return body | dict(options.body)


def read_chat(payload: Json) -> ChatReply:
    """Read a response of chat completions."""
    usage = _usage(payload, "prompt_tokens", "completion_tokens", "prompt_tokens_details")
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _unexpected("it has no choices[0].message", usage)
    content, finish = _text(message.get("content")), _finish(choice.get("finish_reason"))
    if refusal := _text(message.get("refusal")):
        content, finish = refusal, "refusal"
    elif calls := message.get("tool_calls"):
        content = _arguments(calls[0].get("function") if isinstance(calls, list) and isinstance(calls[0], dict) else {})
    told = choice.get("logprobs")
    forks = read_forks(content, told.get("content")) if isinstance(told, dict) else None
    return _reply(payload, content, finish, usage, forks)


def write_responses(
    options: EndpointOptions, capabilities: Capabilities, messages: Sequence[Message], schema: Mapping[str, Any] | None
) -> Json:
    """Write a request for the responses API. Nothing is kept at the provider (`store` is false)."""
    turns = _plain_turns(_instructed(messages, schema, capabilities))
    body: Json = {"model": options.model, "input": turns, "store": False}
    if limit := _limit(options, capabilities, messages, schema):
        body["max_output_tokens"] = limit
    body |= _sampling(options, capabilities)
    if effort := body.pop("reasoning_effort", None):
        body["reasoning"] = {"effort": effort}
    if "top_logprobs" in body:
        body["include"] = ["message.output_text.logprobs"]
    if schema is not None and capabilities.mode == "schema":
        named = {"name": _name(schema), "schema": _untitled(schema), "strict": _is_strict_once(_Same(schema))}
        body["text"] = {"format": {"type": "json_schema", **named}}
    elif schema is not None and capabilities.mode == "tool":
        function = {"name": _TOOL, "description": _name(schema), "parameters": _untitled(schema)}
        body["tools"] = [{"type": "function", **function, "strict": _is_strict_once(_Same(schema))}]
        body["tool_choice"] = {"type": "function", "name": _TOOL}
    return body | dict(options.body)


def read_responses(payload: Json) -> ChatReply:
    """Read a response of the responses API."""
    usage = _usage(payload, "input_tokens", "output_tokens", "input_tokens_details")
    output = payload.get("output")
    if not isinstance(output, list):
        raise _unexpected("it has no output", usage)
    details = payload.get("incomplete_details")
    finish = _finish(details.get("reason") if isinstance(details, dict) else None)
    items = [item for item in output if isinstance(item, dict)]
    if calls := [item for item in items if item.get("type") == "function_call"]:
        return _reply(payload, _arguments(calls[0]), finish, usage)
    texts: list[str] = []
    told: list[Any] = []
    for item in items:
        for part in item.get("content") or ():
            if isinstance(part, dict) and part.get("type") == "refusal":
                return _reply(payload, _text(part.get("refusal")), "refusal", usage)
            if isinstance(part, dict) and part.get("type") == "output_text":
                texts.append(_text(part.get("text")))
                chances = part.get("logprobs")
                told += chances if isinstance(chances, list) else []
    content = "".join(texts)
    return _reply(payload, content, finish, usage, read_forks(content, told) if told else None)


def write_messages(
    options: EndpointOptions, capabilities: Capabilities, messages: Sequence[Message], schema: Mapping[str, Any] | None
) -> Json:
    """Write a request for Anthropic messages, with markers where a cached prefix ends."""
    turns = _instructed(messages, schema, capabilities)
    marked = {id(message) for message in [m for m in turns if m.cache][-MAX_CACHE_MARKS:]}
    system = [_block(m, marked) for m in turns if m.role == "system" and m.content]
    others = [{"role": m.role, "content": [_block(m, marked)]} for m in turns if m.role != "system" and m.content]
    limit = options.reply_tokens or min(
        _limit(options, capabilities, messages, schema) or ANTHROPIC_MAX_TOKENS, ANTHROPIC_MAX_TOKENS
    )
    body: Json = {"model": options.model, "max_tokens": limit}
    if system:
        body["system"] = system
    body["messages"] = others
    body |= _sampling(options, capabilities)
    if thinking := body.pop("thinking_tokens", None):
        body["thinking"] = {"type": "enabled", "budget_tokens": thinking}
        body["max_tokens"] += thinking  # which counts both there
    config: Json = {}
    if effort := body.pop("reasoning_effort", None):
        config["effort"] = effort
    if schema is not None and capabilities.mode == "schema":
        config["format"] = {"type": "json_schema", "schema": _untitled(schema)}
    elif schema is not None and capabilities.mode == "tool":
        body["tools"] = [{"name": _TOOL, "description": _name(schema), "input_schema": _untitled(schema)}]
        body["tool_choice"] = {"type": "tool", "name": _TOOL}
    if config:
        body["output_config"] = config
    return body | dict(options.body)


def read_messages(payload: Json) -> ChatReply:
    """Read a response of Anthropic messages."""
    told = payload.get("usage")
    counts: Json = told if isinstance(told, dict) else {}
    read, written = _count(counts, "cache_read_input_tokens"), _count(counts, "cache_creation_input_tokens")
    prompt = _count(counts, "input_tokens") + read + written
    usage = Usage(1, cost=None)
    if _both_said(counts, "input_tokens", "output_tokens"):
        usage = Usage(1, prompt, _count(counts, "output_tokens"), 0, None, read, written)
    blocks = payload.get("content")
    if not isinstance(blocks, list):
        raise _unexpected("it has no content", usage)
    finish = _finish(payload.get("stop_reason"))
    parts = [block for block in blocks if isinstance(block, dict)]
    for block in parts:
        if block.get("type") == "tool_use":
            return _reply(payload, json.dumps(block.get("input")), finish, usage)
    content = "".join(_text(block.get("text")) for block in parts if block.get("type") == "text")
    return _reply(payload, content, finish, usage)


WIRES: Mapping[str, Wire] = {
    "chat": Wire("/chat/completions", write_chat, read_chat),
    "responses": Wire("/responses", write_responses, read_responses),
    "messages": Wire("/v1/messages", write_messages, read_messages),
}


def _instructed(
    messages: Sequence[Message], schema: Mapping[str, Any] | None, capabilities: Capabilities
) -> Sequence[Message]:
    """Say the schema in words where the endpoint has no other way to be told; the first turn stays a stable prefix."""
    if schema is None or capabilities.mode != "plain":
        return messages
    words = (
        "Answer with one JSON object and nothing else: no code fence, no words around it. "
        f"It must match this JSON schema: {json.dumps(schema, ensure_ascii=False)}"
    )
    if messages and messages[0].role == "system":
        first = messages[0]
        return [Message("system", f"{first.content}\n\n{words}", first.cache), *messages[1:]]
    return [Message("system", words), *messages]


def _plain_turns(messages: Sequence[Message]) -> list[Json]:
    """Join turns of one role that follow each other: templates of many open models want roles to alternate."""
    turns: list[Json] = []
    for message in messages:
        if turns and turns[-1]["role"] == message.role:
            turns[-1]["content"] += f"\n{message.content}"
        else:
            turns.append({"role": message.role, "content": message.content})
    return turns


def _block(message: Message, marked: set[int]) -> Json:
    block: Json = {"type": "text", "text": message.content}
    return block | {"cache_control": {"type": "ephemeral"}} if id(message) in marked else block


def _limit(
    options: EndpointOptions, capabilities: Capabilities, messages: Sequence[Message], schema: Mapping[str, Any] | None
) -> int | None:
    """Return the most tokens of a reply: as the spec says, else ours where the endpoint is to have one."""
    if options.reply_tokens or NOT_LIMITED in capabilities.dropped:
        return options.reply_tokens
    return reply_limit(messages, schema)


def _sampling(options: EndpointOptions, capabilities: Capabilities) -> Json:
    return {name: value for name, value in options.sampling.items() if name not in capabilities.dropped}


def _name(schema: Mapping[str, Any]) -> str:
    """Return a schema's title in the letters that endpoints take."""
    title = str(schema.get("title", "answer"))
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in title)[:64] or "answer"


def _untitled(schema: Mapping[str, Any]) -> Json:
    """Return a schema without its title, which goes out as its name; twice would be paid twice."""
    return {key: value for key, value in schema.items() if key != "title"}


def _finish(reason: Any) -> Finish:
    return _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"


def _text(value: Any) -> str:
    if isinstance(value, list):  # some gateways answer in parts
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _arguments(function: Any) -> str:
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)


def _usage(payload: Json, prompt: str, completion: str, details: str) -> Usage:
    told = payload.get("usage")
    counts: Json = told if isinstance(told, dict) else {}
    if not _both_said(counts, prompt, completion):
        return Usage(1, cost=None)
    inner = counts.get(details)
    cached = _count(inner, "cached_tokens") if isinstance(inner, dict) else 0
    return Usage(1, _count(counts, prompt), _count(counts, completion), 0, None, cached)


def _both_said(counts: Json, prompt: str, completion: str) -> bool:
    """Whether both counts are there: half of what was used has no price, and would look like all of it."""
    return all(type(counts.get(name)) is int for name in (prompt, completion))


def _count(counts: Json, name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _reply(
    payload: Json, content: str, finish: Finish, usage: Usage, forks: tuple[Fork, ...] | None = None
) -> ChatReply:
    if not content.strip() and finish == "stop":
        raise JudgeError("empty_reply", "the model answered with nothing", usage=usage)
    model = payload.get("model")
    return ChatReply(content, finish, model if isinstance(model, str) else "", usage, forks)


def _unexpected(why: str, usage: Usage) -> JudgeError:
    if not (usage.prompt_tokens or usage.completion_tokens):
        usage = Usage(calls=1)  # nothing says that a model has answered
    return JudgeError("bad_response", f"the answer is not what this kind of endpoint sends: {why}", usage=usage)
