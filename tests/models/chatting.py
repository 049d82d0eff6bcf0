"""What the tests of chat models share: one endpoint spec per wire format, and a way to ask."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from everyclaim.core.protocols import ChatReply, Message
from everyclaim.models.build import ChatSettings, build_chat_model
from everyclaim.models.chat.links import Patience
from everyclaim.testing import JudgeServer

KEY = "sk-test-0123456789abcdef"
SCHEMA = {
    "title": "verdicts",
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
WIRES = ("chat", "messages")
ENDPOINTS = ("chat", *(pytest.param(wire, marks=pytest.mark.slow) for wire in WIRES[1:]))  # alike in most


def spec_for(wire: str, base_url: str, **options: str) -> str:
    """The spec of a model `judge-1` behind one wire format; `base_url` is with `/v1`."""
    provider = "anthropic" if wire == "messages" else "openai"
    address = base_url.removesuffix("/v1") if wire == "messages" else base_url
    chosen = {"base_url": address, **options}
    return f"{provider}:judge-1?" + "&".join(f"{name}={value}" for name, value in chosen.items())


def ask(
    server: JudgeServer | str,
    endpoint: str = "chat",
    *,
    settings: ChatSettings | None = None,
    schema: dict[str, Any] | None = SCHEMA,
    messages: list[Message] | None = None,
    **options: str,
) -> ChatReply:
    """Ask once, through all the wrappers, with five attempts and no waits."""
    base_url = server if isinstance(server, str) else server.base_url

    async def run() -> ChatReply:
        chosen = settings or ChatSettings(patience=Patience(attempts=5))
        async with build_chat_model(spec_for(endpoint, base_url, **options), chosen, key=KEY) as chat:
            return await chat.complete(messages or [Message("user", "Is it?")], schema=schema)

    return asyncio.run(run())


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run an asynchronous test to its end."""
    return asyncio.run(work())
