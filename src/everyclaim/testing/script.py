"""What a test says the server shall do: replies, faults, and the request that a rule gets to see.

A script is a list (its last step is repeated for ever) or a rule: a callable that takes a `Request` and
returns the next step. A step is a `Reply`, a `Fault`, or a text, which is short for ``Reply(text)``.

Replies and errors are written as the providers' public API references have them, without streaming: OpenAI chat
completions, Anthropic messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from everyclaim.core.protocols import Message

Api = Literal["chat", "messages"]  # OpenAI chat completions, Anthropic messages
PATHS: Mapping[str, Api] = {"/chat/completions": "chat", "/messages": "messages"}
TOOL_ID = "call_1"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in; `number` counts from 1. Headers that carry keys are left out."""

    number: int
    api: Api
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Mapping[str, Any]
    authorised: bool  # whether some key came with it

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation, in one form for both wire formats."""
        rows = list(self.body.get("messages") or ())
        if self.api == "messages" and self.body.get("system"):
            rows.insert(0, {"role": "system", "content": self.body["system"]})
        return tuple(_message(row) for row in rows)

    @property
    def text(self) -> str:
        """All that was said to the model, one message after the other."""
        return "\n".join(message.content for message in self.messages)

    @property
    def mode(self) -> Literal["schema", "tool", "plain"]:
        """How structured output was asked for."""
        if self.body.get("tools"):
            return "tool"
        formats = json.dumps([self.body.get("response_format"), self.body.get("output_config")])
        return "schema" if '"json_schema"' in formats else "plain"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says. Token counts default to a quarter of the characters.

    `extra` is merged into the top of the response body, for fields no client knows.
    """

    content: str = ""
    finish: Literal["stop", "length", "refusal", "filtered"] = "stop"
    latency: float | None = None  # seconds, instead of the server's
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """An HTTP response, with something wrong in it or on its way. Make one with the functions below."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, str | None] | None = None  # rendered as the wire format's own error object
    raw: bytes | None = None  # the body as it is
    content_type: str = "application/json"
    reply: Reply = Reply("{}")  # the body where neither `error` nor `raw` is given
    send: float = 1.0  # the share of the body's bytes that is sent before the connection is reset
    drip: float = 0.0  # seconds between single bytes
    hang: bool = False  # never answer
    latency: float = 0.0  # seconds before the first byte


Step = Reply | Fault | str
Rule = Callable[[Request], Step]
Script = Step | Sequence[Step] | Rule


def rate_limited(retry_after: float | str | None = None) -> Fault:
    """Answer 429; `retry_after` is seconds or an HTTP date."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Fault(429, headers, {"type": "rate_limit_error", "message": "too many requests", "code": None})


def server_error(status: int = 500) -> Fault:
    """Answer a 5xx: 500, 502, 503, 529, ..."""
    return Fault(status, error={"type": "server_error", "message": f"failed with {status}", "code": None})


def rejected(message: str, *, status: int = 400, code: str | None = None, param: str | None = None) -> Fault:
    """Answer a 4xx in the words of a provider."""
    return Fault(status, error={"type": "invalid_request_error", "message": message, "code": code, "param": param})


def reset(send: float = 0.5) -> Fault:
    """Send this share of the response, then reset the connection."""
    return Fault(send=send)


def slow_drip(seconds: float = 0.05) -> Fault:
    """Send a right answer byte by byte, this many seconds apart."""
    return Fault(drip=seconds)


def hang() -> Fault:
    """Take the request and never answer."""
    return Fault(hang=True)


def empty_body() -> Fault:
    """Answer 200 with nothing in it."""
    return Fault(raw=b"")


def html(status: int = 200) -> Fault:
    """Answer with the kind of page a proxy shows."""
    return Fault(status, raw=b"<!doctype html><title>Gateway</title><h1>Please log in</h1>", content_type="text/html")


def malformed_json() -> Fault:
    """Answer 200 with a body that stops in the middle of its JSON."""
    return Fault(raw=b'{"id": "x", "choices": [{"message": {"role": "assist')


def body(value: Any) -> Fault:
    """Answer 200 with this JSON value as the whole body, whatever the wire format wants."""
    return Fault(raw=json.dumps(value).encode())


def fenced(content: str, before: str = "Here is the result:", after: str = "Let me know if you need more.") -> Reply:
    """Wrap JSON the way chatty models do: prose, a code fence, prose."""
    return Reply(f"{before}\n\n```json\n{content}\n```\n\n{after}")


def truncated(content: str, share: float = 0.6) -> Reply:
    """Cut a reply at the output limit: part of the text, finish reason `length`."""
    return Reply(content[: int(len(content) * share)], finish="length")


def _message(row: Mapping[str, Any]) -> Message:
    content = row.get("content") or ""
    if isinstance(content, str):
        return Message(row.get("role", "user"), content)
    cached = any("cache_control" in part for part in content)
    return Message(row.get("role", "user"), "".join(part.get("text", "") for part in content), cached)


def render(request: Request, reply: Reply) -> dict[str, Any]:
    """Write a reply in the format of the request's API."""
    sizes = (
        reply.prompt_tokens if reply.prompt_tokens is not None else len(request.text) // 4,
        reply.completion_tokens if reply.completion_tokens is not None else len(reply.content) // 4,
    )
    makers = {"chat": _chat, "messages": _messages}
    return makers[request.api](request, reply, *sizes) | dict(reply.extra)


def render_error(api: Api, error: Mapping[str, str | None]) -> dict[str, Any]:
    """Write an error object in the format of an API."""
    if api == "messages":
        return {"type": "error", "error": {"type": error.get("type"), "message": error.get("message")}}
    return {"error": {"param": None, **error}}


def _chat(request: Request, reply: Reply, prompt: int, completion: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": None}
    finish = {"stop": "stop", "length": "length", "refusal": "stop", "filtered": "content_filter"}[reply.finish]
    if reply.finish == "refusal":
        message |= {"content": None, "refusal": reply.content or "I can't help with that."}
    elif request.mode == "tool":
        name = request.body["tools"][0]["function"]["name"]
        call = {"id": TOOL_ID, "type": "function", "function": {"name": name, "arguments": reply.content}}
        message |= {"content": None, "tool_calls": [call]}
    return {
        "id": f"chatcmpl-{request.number}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": reply.cache_read_tokens},
        },
    }


def _messages(request: Request, reply: Reply, prompt: int, completion: int) -> dict[str, Any]:
    stop = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filtered": "refusal"}[reply.finish]
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.content}]
    if request.mode == "tool" and reply.finish == "stop":
        name = request.body["tools"][0]["name"]
        content = [{"type": "tool_use", "id": TOOL_ID, "name": name, "input": _object(reply.content)}]
        stop = "tool_use"
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(0, prompt - reply.cache_read_tokens - reply.cache_write_tokens),
            "cache_read_input_tokens": reply.cache_read_tokens,
            "cache_creation_input_tokens": reply.cache_write_tokens,
            "output_tokens": completion,
        },
    }


def _object(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return {"text": content}
