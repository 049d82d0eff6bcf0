"""Record real traffic once, replay it for ever: a JSONL file of calls and replies, without keys or headers.

model = Recorder(build_chat_model("openai:…"), "calls.jsonl")   # once, with a key
model = Replayer("calls.jsonl")                                 # from then on, without one
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from everyclaim.core.errors import InputError, JudgeError
from everyclaim.core.hiding import HIDDEN
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call
from everyclaim.models.chat.keys import key_variable
from everyclaim.models.chat.providers import provider_names


class Recorder:
    """Pass calls on and write each, with its reply or failure, as one line. Keys in a text are blotted out."""

    def __init__(self, model: ChatModel, path: Path | str) -> None:
        self._model = model
        self._path = Path(path)

    @property
    def spec(self) -> str:
        """The model's own."""
        return self._model.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Ask, and write down what came of it."""
        try:
            reply = await self._model.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            self._write(messages, schema, tag, {"error": {"code": error.code, "message": error.message}})
            raise
        self._write(messages, schema, tag, {"reply": asdict(reply)})
        return reply

    def _write(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, tag: str, came: dict[str, Any]
    ) -> None:
        row = {
            "key": Call("", messages, schema, tag).key.hex(),
            "spec": self._model.spec,
            "tag": tag,
            "schema": schema,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            **came,
        }
        line = json.dumps(row)
        for variable in map(key_variable, provider_names()):
            if key := os.environ.get(variable):
                line = line.replace(key, HIDDEN)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Replayer:
    """Answer from a recording. The same question asked again gets the next recorded answer, then the last again."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._spec = ""
        for number, line in enumerate(self._path.read_text("utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                self._rows.setdefault(row["key"], []).append(row)
                self._spec = self._spec or row["spec"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{self._path}, line {number}: not a recorded call") from None

    @property
    def spec(self) -> str:
        """The recorded model's."""
        return self._spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer as it was answered then. Raises `InputError` for a question that was never recorded."""
        rows = self._rows.get(Call("", messages, schema, tag).key.hex())
        if not rows:
            asked = messages[-1].content[:80] if messages else ""
            raise InputError(f"{self._path} holds no answer to {asked!r}; record it again")
        row = rows.pop(0) if len(rows) > 1 else rows[0]
        if "error" in row:
            raise JudgeError(row["error"]["code"], row["error"]["message"])
        told = row["reply"]
        return ChatReply(told["content"], told["finish"], told["model"], Usage(**told["usage"]))
