"""Replies and errors as the three wire formats write them. Non-streaming.

The shapes follow the providers' public API references: OpenAI chat completions, OpenAI responses,
Anthropic messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from everyclaim.testing.script import Api, Reply, Request

PATHS: Mapping[str, Api] = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
TOOL_ID = "call_1"


def render(request: Request, reply: Reply) -> dict[str, Any]:
    """Write a reply in the format of the request's API."""
    sizes = (
        reply.prompt_tokens if reply.prompt_tokens is not None else len(request.text) // 4,
        reply.completion_tokens if reply.completion_tokens is not None else len(reply.content) // 4,
    )
    makers = {"chat": _chat, "responses": _responses, "messages": _messages}
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


def _responses(request: Request, reply: Reply, prompt: int, completion: int) -> dict[str, Any]:
    reason = {"length": "max_output_tokens", "filtered": "content_filter"}.get(reply.finish)
    part: dict[str, Any] = {"type": "output_text", "text": reply.content, "annotations": []}
    if reply.finish == "refusal":
        part = {"type": "refusal", "refusal": reply.content or "I can't help with that."}
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    if request.mode == "tool" and reply.finish != "refusal":
        name = request.body["tools"][0]["name"]
        item = {"type": "function_call", "call_id": TOOL_ID, "name": name, "arguments": reply.content}
    return {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 0,
        "model": request.model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": [{"type": "reasoning", "id": "rs_1", "summary": []}, item],
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": reply.cache_read_tokens},
            "output_tokens": completion,
            "total_tokens": prompt + completion,
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
