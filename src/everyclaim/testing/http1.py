"""HTTP/1.1 for loopback: keep-alive, bodies of a Content-Length, and every way in which an answer goes wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from everyclaim.testing.script import Fault

MAX_HEAD = 64 * 1024
MAX_BODY = 256 * 1024 * 1024
TIMER_LAG = 0.0005  # the loop rounds timers up to the next millisecond


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One HTTP response and how it goes out. `send` below 1 cuts it there and resets the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0  # seconds before the first byte
    send: float = 1.0
    drip: float = 0.0  # seconds between single bytes
    hang: bool = False
    again: float | None = None  # seconds until it is sent once more, unasked


def respond(status: int, body: Any, latency: float = 0.0) -> HttpResponse:
    """Make a response that holds JSON."""
    return HttpResponse(status, json.dumps(body).encode(), {"content-type": "application/json"}, latency)


def respond_with(fault: Fault, body: Any, latency: float = 0.0) -> HttpResponse:
    """Make a response with something wrong; `body` is what it holds unless the fault has its own."""
    data = fault.raw if fault.raw is not None else json.dumps(body).encode()
    headers = {"content-type": fault.content_type, **fault.headers}
    return HttpResponse(fault.status, data, headers, latency, fault.send, fault.drip, fault.hang)


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Read the next request of a connection; None at its end. Raises `ValueError` for what is not HTTP."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise ValueError from None
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    try:
        body = await reader.readexactly(_checked(int(headers.get("content-length", "0"))))
    except asyncio.IncompleteReadError:
        return None
    return HttpRequest(method, path, headers, body)


async def send(response: HttpResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a response the way it is to go out."""
    if response.hang:
        while await reader.read(MAX_HEAD):  # until the client leaves
            pass
        return
    if response.latency > 0:
        await asyncio.sleep(max(0.0, response.latency - TIMER_LAG))
    data = _head(response) + response.body
    if response.drip:
        for byte in data:
            writer.write(bytes([byte]))
            await asyncio.sleep(response.drip)
    elif response.send < 1:
        writer.write(data[: int(len(data) * response.send)])
        await asyncio.sleep(0.01)
        # Lingering for zero seconds turns the close into a reset, as a crashing peer does.
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    else:
        writer.write(data)
        await writer.drain()
        if response.again is not None:
            asyncio.get_running_loop().call_later(response.again, writer.write, data)


def _checked(size: int) -> int:
    if not 0 <= size <= MAX_BODY:
        raise ValueError
    return size


def _head(response: HttpResponse) -> bytes:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Overloaded"
    lines = [f"HTTP/1.1 {response.status} {phrase}", f"content-length: {len(response.body)}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
