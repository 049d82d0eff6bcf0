"""A small HTTP/1.1 server half for loopback: keep-alive, Content-Length and chunked bodies, nothing else.

Written on `asyncio.Protocol` so that a request costs a fraction of a millisecond and a benchmark
measures its client.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

MAX_HEAD = 64 * 1024
TIMER_LAG = 0.0005  # the loop rounds timers up to the next millisecond
MAX_BODY = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RawRequest:
    """One HTTP request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class RawResponse:
    """One HTTP response and how it goes out. `send` below 1 cuts it there and resets the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0  # seconds before the first byte
    send: float = 1.0
    drip: float = 0.0  # seconds between single bytes
    hang: bool = False
    again: float | None = None  # seconds until it is sent once more, unasked


Handler = Callable[[RawRequest], RawResponse]


class Connection(asyncio.Protocol):
    """One client's connection. `on_idle` is called when a response is out or will never be."""

    def __init__(self, handler: Handler, on_idle: Callable[[], None], connections: set[Connection]) -> None:
        self._handler = handler
        self._on_idle = on_idle
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport and turn Nagle's delay off."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (the signature is given)
        """Forget the transport; what was in flight is over."""
        self._transport = None
        self._connections.discard(self)
        self._finish()

    def data_received(self, data: bytes) -> None:
        """Collect bytes; answer when a request is whole and the one before it is answered."""
        self._received += data
        if not self._busy:
            self._next()

    def close(self) -> None:
        """Drop the connection at once."""
        if self._transport:
            self._transport.abort()

    def _next(self) -> None:
        try:
            request = _take_request(self._received)
        except ValueError:
            self._write(RawResponse(400, b"bad request"))
            return self.close()
        if request is None:
            return None
        self._busy = True
        response = self._handler(request)
        if response.hang:
            return None
        loop = asyncio.get_running_loop()
        if response.latency > 0:
            loop.call_later(max(0.0, response.latency - TIMER_LAG), self._write, response)
        else:
            self._write(response)
        return None

    def _write(self, response: RawResponse) -> None:
        if self._transport is None:
            return
        data = _head(response) + response.body
        if response.drip:
            self._drip(data, response.drip)
            return
        if response.send < 1:
            self._transport.write(data[: int(len(data) * response.send)])
            asyncio.get_running_loop().call_later(0.01, self._reset)
            return
        self._transport.write(data)
        if response.again is not None:
            asyncio.get_running_loop().call_later(response.again, self._transport.write, data)
        self._finish()
        if self._received:
            self._next()

    def _drip(self, data: bytes, seconds: float) -> None:
        if self._transport is None:
            return
        self._transport.write(data[:1])
        if len(data) > 1:
            asyncio.get_running_loop().call_later(seconds, self._drip, data[1:], seconds)
        else:
            self._finish()

    def _reset(self) -> None:
        if self._transport is None:
            return
        # Lingering for zero seconds turns the close into a reset, as a crashing peer does.
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _finish(self) -> None:
        if self._busy:
            self._busy = False
            self._on_idle()


def _take_request(received: bytearray) -> RawRequest | None:
    """Cut one whole request off the front, or return None when more must come."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        if len(received) > MAX_HEAD:
            raise ValueError
        return None
    first, *lines = bytes(received[:end]).decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        found = _take_chunks(received, end + 4)
        if found is None:
            return None
        body, stop = found
    else:
        size = int(headers.get("content-length", "0"))
        stop = end + 4 + size
        if not 0 <= size <= MAX_BODY:
            raise ValueError
        if len(received) < stop:
            return None
        body = bytes(received[end + 4 : stop])
    del received[:stop]
    return RawRequest(method, path, headers, body)


def _take_chunks(received: bytearray, start: int) -> tuple[bytes, int] | None:
    body = bytearray()
    while True:
        line = received.find(b"\r\n", start)
        if line < 0:
            return None
        size = int(bytes(received[start:line]).split(b";")[0], 16)
        stop = line + 2 + size + 2
        if len(received) < stop or len(body) + size > MAX_BODY:
            return None
        if size == 0:
            return bytes(body), stop
        body += received[line + 2 : stop - 2]
        start = stop


def _head(response: RawResponse) -> bytes:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Overloaded"
    lines = [f"HTTP/1.1 {response.status} {phrase}", f"content-length: {len(response.body)}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
