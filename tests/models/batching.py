"""What the tests of batches share: a judge that answers by the question, and a way to ask many at once."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from chatting import KEY, SCHEMA, spec_for

from batch_provider import BatchServer, ServedBatch
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.models.batches import BatchSettings
from everyclaim.models.build import Chat, ChatSettings, build_chat_model
from everyclaim.models.chat.budget import Budget
from everyclaim.models.files import BatchState, ReplyCache
from everyclaim.testing import Request


def echo(request: Request) -> str:
    """Answer with the question, so that a mixed-up reply shows."""
    return json.dumps({"ok": True, "to": request.messages[-1].content})


def settings(
    folder: Path, *, cache: bool = True, budget: Budget | None = None, prices: Path | None = None, **batch: Any
) -> ChatSettings:
    return ChatSettings(
        budget=budget or Budget(),
        cache=ReplyCache(folder / "cache.db") if cache else None,
        prices=prices,
        batch=BatchSettings(BatchState(folder / "batches.db"), **{"linger": 0.03} | batch),
    )


def open_chat(server: BatchServer, wire: str, chosen: ChatSettings, **options: str) -> Chat:
    return build_chat_model(spec_for(wire, server.base_url, **options), chosen, key=KEY)


async def ask_all(chat: Chat, questions: Sequence[str], tag: str = "") -> list[ChatReply | BaseException]:
    """Ask all at once; failures are returned."""
    calls = (chat.complete([Message("user", question)], schema=SCHEMA, tag=tag) for question in questions)
    return await asyncio.gather(*calls, return_exceptions=True)


def ask_batched(
    server: BatchServer, wire: str, chosen: ChatSettings, questions: Sequence[str], **options: str
) -> list[ChatReply | BaseException]:
    """Ask all at once through batches, from the opening of the model to its end."""

    async def work() -> list[ChatReply | BaseException]:
        async with open_chat(server, wire, chosen, **options) as chat:
            return await ask_all(chat, questions)

    return asyncio.run(work())


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that happens in the server's thread."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


def numbered(count: int) -> list[str]:
    return [f"question {number}" for number in range(count)]


def answers(replies: Sequence[ChatReply | BaseException]) -> list[str]:
    """What each reply is an answer to, or the failure's code."""
    return [json.loads(r.content)["to"] if isinstance(r, ChatReply) else getattr(r, "code", repr(r)) for r in replies]


def text_of(batch: ServedBatch, body: Any) -> str:
    return Request(1, batch.api, "", {}, body, authorised=True).messages[-1].content


def taken(server: BatchServer) -> Counter[str]:
    """How often each question was accepted in a batch."""
    return Counter(text_of(batch, body) for batch in server.batch_desk.batches for body in batch.requests.values())
