"""Let identical calls that run at the same time share one answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.loop_local import LoopLocal


def call_key(identity: str, messages: Sequence[Message], schema: Mapping[str, Any] | None, tag: str) -> bytes:
    """Return 32 bytes that change with anything that can change a reply, and with nothing else.

    `identity` names provider, model, address and all parameters. Where a cached prefix ends changes the
    price, not the reply, and is left out.
    """
    # The schema in the order given: a provider sees it, and properties are answered in it.
    parts = [identity, tag, json.dumps(schema)]
    for message in messages:
        parts += (message.role, message.content)
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))  # what is hashed says where each part ends
        digest.update(data)
    return digest.digest()


class Shared:
    """One call for all who ask the same at the same time. Whoever joins pays nothing and counts as a cache hit."""

    def __init__(self, model: ChatModel, identity: str) -> None:
        self._model = model
        self._identity = identity
        self._running: LoopLocal[dict[bytes, _Call]] = LoopLocal(dict)

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, or wait for the same question's answer. A call ends early only when nobody waits for it any more."""
        key = call_key(self._identity, messages, schema, tag)
        running = self._running.get()
        call = running.get(key)
        joined = call is not None
        if call is None:
            task = asyncio.ensure_future(self._model.complete(messages, schema=schema, tag=tag))
            call = running[key] = _Call(task)
            task.add_done_callback(lambda done: _forget(running, key, done))
        call.waiting += 1
        try:
            reply = await asyncio.shield(call.task)
        except JudgeError as error:
            if not joined:
                raise
            unpaid = copy(error)
            unpaid.usage = Usage(cache_hits=1)
            raise unpaid from None
        finally:
            call.waiting -= 1
            if not call.waiting and not call.task.done():
                running.pop(key, None)
                call.task.cancel()
        return replace(reply, usage=Usage(cache_hits=1)) if joined else reply


def _forget(running: dict[bytes, _Call], key: bytes, done: asyncio.Future[ChatReply]) -> None:
    running.pop(key, None)
    if not done.cancelled():
        done.exception()  # looked at, so that asyncio does not warn when nobody waited to the end


class _Call:
    """One running call and how many wait for it."""

    def __init__(self, task: asyncio.Future[ChatReply]) -> None:
        self.task = task
        self.waiting = 0
