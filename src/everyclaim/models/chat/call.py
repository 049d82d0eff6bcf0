"""One call to a chat model, as the wrappers around an endpoint hand it on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from everyclaim.core.protocols import ChatModel, ChatReply, Message

AGAIN = "#2"  # at the end of the tag of what is asked a second time, as the first reply was of no use


@dataclass(slots=True)
class Call:
    """What is asked, and of whom: `identity` names provider, model, address and all parameters. The key is made once.

    `tag` is never sent: it keeps calls apart that send the same.
    """

    identity: str
    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    tag: str = ""
    _key: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def key(self) -> bytes:
        """32 bytes that change with anything that can change a reply, and with nothing else.

        Where a cached prefix ends changes the price, not the reply, and is left out.
        """
        self._key = self._key or self._made()
        return self._key

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return sum(len(message.content.encode("utf-8", "replace")) for message in self.messages)

    def _made(self) -> bytes:
        # The schema in the order given: a provider sees it, and properties are answered in it.
        parts = [self.identity, self.tag, json.dumps(self.schema)]
        for message in self.messages:
            parts += (message.role, message.content)
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # what is hashed says where each part ends
            digest.update(data)
        return digest.digest()


class Link(Protocol):
    """An endpoint, or a wrapper around another link; what a chat model is made of."""

    async def ask(self, call: Call) -> ChatReply:
        """Answer. Raises `JudgeError` when there is no answer."""


class Foreign:
    """The last link, where somebody else's chat model is to have our wrappers."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def ask(self, call: Call) -> ChatReply:
        """Hand the call over."""
        return await self._model.complete(call.messages, schema=call.schema, tag=call.tag)
