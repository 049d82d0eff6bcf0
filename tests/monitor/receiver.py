"""A receiver of webhooks on loopback that answers as it is told, and keeps what came."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from loopback import Received, Reply, serving


@dataclass
class Receiver:
    """`replies` are the statuses of the first requests, then 200; with `headers` beside, `stall` seconds late."""

    url: str = ""
    replies: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    stall: float = 0.0
    requests: list[Received] = field(default_factory=list)

    def answer(self, request: Received) -> Reply:
        self.requests.append(request)
        time.sleep(self.stall)
        return Reply(self.replies.pop(0) if self.replies else 200, b"ok", self.headers)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    with serving(receiver.answer) as receiver.url:
        yield receiver
