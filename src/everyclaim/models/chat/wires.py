"""The two wire formats as pure functions: a request's body, and what a response says.

OpenAI chat completions (and everything compatible), and Anthropic messages.
"""

from __future__ import annotations

import json
import math
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply, Fork, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.options import EndpointOptions, Mode

Json = dict[str, Any]
Finish = Literal["stop", "length", "refusal", "filtered"]
ANTHROPIC_MAX_TOKENS = 8192  # the field is required there
MAX_CACHE_MARKS = 4  # Anthropic takes no more
_SURE = 0.9995  # a token with such a chance is no fork
_TOOL = "give_answer"
_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filtered",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One way to put a request. `confirmed`: structured output has worked this way at least once."""

    mode: Mode
    limit: str  # how the output limit is called; chat completions only
    dropped: frozenset[str] = frozenset()
    confirmed: bool = False


class ChatRequest(NamedTuple):
    """What is asked of a model, and in which way its endpoint takes it."""

    options: EndpointOptions
    capabilities: Capabilities
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None

    @property
    def form(self) -> Json:
        """The schema without its title, which goes out as its name; twice would be paid twice."""
        return {key: value for key, value in (self.schema or {}).items() if key != "title"}

    @property
    def name(self) -> str:
        """The schema's title in the letters that endpoints take."""
        title = str((self.schema or {}).get("title", "answer"))
        return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in title)[:64] or "answer"

    @property
    def sampling(self) -> Json:
        """What of the spec is sent as given, without what the endpoint refused."""
        dropped = self.capabilities.dropped
        return {name: value for name, value in self.options.sampling.items() if name not in dropped}

    @property
    def turns(self) -> Sequence[Message]:
        """The messages, with the schema in words where the endpoint has no other way; the first stays a prefix."""
        if not self.asks_by("plain"):
            return self.messages
        words = (
            "Answer with one JSON object and nothing else: no code fence, no words around it. "
            f"It must match this JSON schema: {json.dumps(self.schema, ensure_ascii=False)}"
        )
        if self.messages and self.messages[0].role == "system":
            first = self.messages[0]
            return [Message("system", f"{first.content}\n\n{words}", first.cache), *self.messages[1:]]
        return [Message("system", words), *self.messages]

    @property
    def joined_turns(self) -> list[Json]:
        """The turns, those of one role that follow each other as one: many open models want roles to alternate."""
        turns: list[Json] = []
        for message in self.turns:
            if turns and turns[-1]["role"] == message.role:
                turns[-1]["content"] += f"\n{message.content}"
            else:
                turns.append({"role": message.role, "content": message.content})
        return turns

    def asks_by(self, mode: Mode) -> bool:
        """Whether JSON is asked for, and in this way."""
        return self.schema is not None and self.capabilities.mode == mode


@dataclass(frozen=True, slots=True)
class Wire:
    """One format: where it is posted, how a request is written and how a response is read."""

    path: str
    write: Callable[[ChatRequest], Json]
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


def write_chat(request: ChatRequest) -> Json:
    """Write a request for chat completions."""
    body: Json = {"model": request.options.model, "messages": request.joined_turns}
    if limit := request.options.said.reply_tokens:
        body[request.capabilities.limit] = limit
    body |= request.sampling
    if "top_logprobs" in body:
        body["logprobs"] = True
    if request.asks_by("schema"):
        named = {"name": request.name, "schema": request.form, "strict": is_strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.asks_by("tool"):
        function = {"name": _TOOL, "description": request.name, "parameters": request.form}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": _TOOL}}
    return body | dict(request.options.body)


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


def write_messages(request: ChatRequest) -> Json:
    """Write a request for Anthropic messages, with markers where a cached prefix ends."""
    turns = [message for message in request.turns if message.content]
    marked = {id(message) for message in [m for m in turns if m.cache][-MAX_CACHE_MARKS:]}
    limit = request.options.said.reply_tokens or ANTHROPIC_MAX_TOKENS
    body: Json = {"model": request.options.model, "max_tokens": limit}
    if system := [_block(m, marked) for m in turns if m.role == "system"]:
        body["system"] = system
    body["messages"] = [{"role": m.role, "content": [_block(m, marked)]} for m in turns if m.role != "system"]
    body |= request.sampling
    if thinking := body.pop("thinking_tokens", None):
        body["thinking"] = {"type": "enabled", "budget_tokens": thinking}
        body["max_tokens"] += thinking  # which counts both there
    config: Json = {}
    if effort := body.pop("reasoning_effort", None):
        config["effort"] = effort
    if request.asks_by("schema"):
        config["format"] = {"type": "json_schema", "schema": request.form}
    elif request.asks_by("tool"):
        body["tools"] = [{"name": _TOOL, "description": request.name, "input_schema": request.form}]
        body["tool_choice"] = {"type": "tool", "name": _TOOL}
    if config:
        body["output_config"] = config
    return body | dict(request.options.body)


def read_messages(payload: Json) -> ChatReply:
    """Read a response of Anthropic messages."""
    usage = _usage(payload, "input_tokens", "output_tokens")
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
    "messages": Wire("/v1/messages", write_messages, read_messages),
}


def _block(message: Message, marked: set[int]) -> Json:
    block: Json = {"type": "text", "text": message.content}
    return block | {"cache_control": {"type": "ephemeral"}} if id(message) in marked else block


def _finish(reason: Any) -> Finish:
    return _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"


def _text(value: Any) -> str:
    if isinstance(value, list):  # some gateways answer in parts
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _arguments(function: Any) -> str:
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)


def _usage(payload: Json, prompt: str, completion: str, details: str = "") -> Usage:
    """Read what was used. OpenAI's `details` are a part of the prompt, Anthropic's cached tokens come on top of it."""
    counts = payload.get("usage")
    # Half of what was used has no price, and would look like all of it.
    if not isinstance(counts, dict) or not all(type(counts.get(name)) is int for name in (prompt, completion)):
        return Usage(1, cost=None)
    sent, replied = _count(counts, prompt), _count(counts, completion)
    if details:
        return Usage(1, sent, replied, 0, None, _count(counts.get(details), "cached_tokens"))
    read, written = _count(counts, "cache_read_input_tokens"), _count(counts, "cache_creation_input_tokens")
    return Usage(1, sent + read + written, replied, 0, None, read, written)


def _count(counts: Any, name: str) -> int:
    value = counts.get(name) if isinstance(counts, dict) else 0
    return value if isinstance(value, int) and value > 0 else 0


def _reply(
    payload: Json, content: str, finish: Finish, usage: Usage, forks: tuple[Fork, ...] | None = None
) -> ChatReply:
    if not content.strip() and finish == "stop":
        raise JudgeError("empty_reply", "the model returned an empty reply", usage=usage)
    model = payload.get("model")
    return ChatReply(content, finish, model if isinstance(model, str) else "", usage, forks)


def _unexpected(why: str, usage: Usage) -> JudgeError:
    if not (usage.prompt_tokens or usage.completion_tokens):
        usage = Usage(calls=1)  # nothing says that a model has answered
    return JudgeError("bad_response", f"the answer has an unexpected format: {why}", usage=usage)


def read_forks(content: str, told: Any) -> tuple[Fork, ...] | None:
    """Return the forks of a reply; None where what is told is not about this text, byte for byte."""
    if not isinstance(told, list) or not all(isinstance(token, dict) for token in told):
        return None
    parts = [_bytes(token) for token in told]
    if b"".join(parts) != content.encode("utf-8", "surrogatepass"):
        return None
    forks: list[Fork] = []
    reader = getincrementaldecoder("utf-8")("surrogatepass")  # a token may be a part of a character
    start = 0
    for token, part in zip(told, parts, strict=True):
        words = reader.decode(part)
        others = token.get("top_logprobs")
        if words.encode("utf-8", "surrogatepass") == part and isinstance(others, list) and 0 < _chance(token) < _SURE:
            chances = {_bytes(one).decode("utf-8", "ignore"): _chance(one) for one in others if isinstance(one, dict)}
            forks.append(Fork(start, start + len(words), tuple(({words: _chance(token)} | chances).items())))
        start += len(words)
    return tuple(forks)


def _bytes(token: dict[str, Any]) -> bytes:
    given = token.get("bytes")
    if isinstance(given, list) and all(isinstance(one, int) and 0 <= one < 256 for one in given):
        return bytes(given)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _chance(token: dict[str, Any]) -> float:
    value = token.get("logprob")
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        return 0.0
    return math.exp(min(float(value), 0.0))
