"""What is used while something is done, without passing a counter through every call.

    with tallied() as tally:
        await metric.score(sample)
    tally.usage                    # of every judge call made inside, whatever became of it

The tally follows the work into tasks and threads, because a context does. Whoever asks a chat model asks it
`accounted`; the engine reads the tally of each sample.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.events import JudgeCalled, tell
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Usage


class UsageTally:
    """What was used so far inside one `tallied` block."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = threading.Lock()

    def add(self, usage: Usage) -> None:
        """Add what one call used; safe from any thread."""
        with self._lock:
            self.usage += usage


_OPEN: ContextVar[tuple[UsageTally, ...]] = ContextVar("everyclaim_tallies", default=())


@contextmanager
def tallied(tally: UsageTally | None = None) -> Iterator[UsageTally]:
    """Count what is used inside the block, on a new tally or on this one.

    Blocks nest: an outer one counts what its inner ones count, and a tally that is open already counts once.
    """
    tally = tally or UsageTally()
    others = tuple(one for one in _OPEN.get() if one is not tally)
    token = _OPEN.set((*others, tally))
    try:
        yield tally
    finally:
        _OPEN.reset(token)


def account(usage: Usage) -> None:
    """Add to every tally that is open here; without one it is nobody's business."""
    for tally in _OPEN.get():
        tally.add(usage)


@dataclass(frozen=True, slots=True)
class Accounted:
    """A chat model whose calls are added to the open tallies, whoever makes them."""

    chat: ChatModel

    @property
    def spec(self) -> str:
        """The model's own."""
        return self.chat.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer, account for it, also for a call that was paid and failed, and tell observers."""
        model, at, begun = self.chat.spec.partition("?")[0], time.time(), time.perf_counter()
        try:
            reply = await self.chat.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            if error.usage:
                account(error.usage)
            tell(JudgeCalled(model, "", error.usage or Usage(), at, time.perf_counter() - begun, error.code))
            raise
        account(reply.usage)
        tell(JudgeCalled(model, reply.model, reply.usage, at, time.perf_counter() - begun))
        return reply

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = "") -> None:
        """Drop a reply that was of no use from the cache, where there is one."""
        if forget := getattr(self.chat, "forget", None):
            forget(messages, schema=schema, tag=tag)


def accounted(chat: ChatModel) -> Accounted:
    """Return a chat model whose calls are accounted for, once."""
    return chat if isinstance(chat, Accounted) else Accounted(chat)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Calls, tokens and dollars of a run, about; `cost` is None where no price is known. `is_most`: or fewer."""

    answers: int
    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    is_most: bool = False

    def __str__(self) -> str:
        """Tell it in a line."""
        used = f"{self.prompt_tokens:,} prompt and {self.reply_tokens:,} reply tokens"
        cost = "price unknown" if self.cost is None else f"${self.cost:,.2f}"
        kind = "at most about" if self.is_most else "about"
        return f"{self.answers:,} answers: {kind} {self.calls:,} calls, {used}, {cost}"
