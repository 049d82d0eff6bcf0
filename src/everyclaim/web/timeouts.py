"""How long the server waits for its clients. Imports uvicorn, so that only who serves imports this."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol


class TimeoutConfig(Config):
    """uvicorn's settings, and how many seconds a client has for a request's head, and may take nothing of an answer."""

    def __init__(self, app: Any, *, head_seconds: float, write_seconds: float, **settings: Any) -> None:
        super().__init__(app, http=TimeoutProtocol, **settings)
        self.head_seconds = head_seconds
        self.write_seconds = write_seconds


class TimeoutProtocol(H11Protocol):
    """Cuts off who sends no whole head in time, and who takes nothing of an answer for long."""

    _head: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    @property
    def _patience(self) -> TimeoutConfig:
        return cast("TimeoutConfig", self.config)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the head is there; of a next request on the connection begin anew."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _end(self._head)
            self._head = None
        elif self._head is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Wait for the rest of a head that came on the heels of the last request."""
        super().on_response_complete()
        if self.conn.trailing_data[0] and self.cycle.response_complete and self._head is None:
            self._await_head()

    def pause_writing(self) -> None:
        """Begin to watch a client that takes less than it is sent."""
        super().pause_writing()
        if self._stuck is None:
            self._watch()

    def resume_writing(self) -> None:
        """Stop watching."""
        super().resume_writing()
        _end(self._stuck)
        self._stuck = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timers."""
        _end(self._head)
        _end(self._stuck)
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self._patience.head_seconds, self.transport.abort)

    def _watch(self) -> None:
        left = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < left:
                self._watch()
            else:
                self.transport.abort()

        self._stuck = self.loop.call_later(self._patience.write_seconds, look)


def _end(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
