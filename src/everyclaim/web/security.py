"""What stands before every page: who may ask, by which name, from where; and what a browser may do with the answer.

`Shield` is ASGI around whatever it protects, so that no route can be without it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HOST = re.compile(r"\[([^]]+)\](?::[0-9]+)?|([^:\[]*)(?::[0-9]+)?")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY = 20 * 2**20  # bytes; an answer and its sources, pasted

# No inline script or style, no frame around it, nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'; img-src 'self' data: blob:"  # a chart on its way to a PNG is a blob
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # without it a form of ours would name no origin
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
)


class Shield:
    """Refuses what comes by a foreign name, from a foreign page or too large, and closes every answer.

    A page elsewhere can make its own name point here (DNS rebinding), and would then read what it likes: so the `Host`
    must be an address, `localhost` or one of `names`.
    """

    def __init__(self, app: App, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower() for name in names)}
        self._too_large = PlainTextResponse(f"a request can have at most {MAX_BODY // 2**20} MB\n", 413)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        closed = ClosedAnswer(send, HEADERS)
        if refusal := self._refusal(scope):
            await refusal(scope, receive, closed)
            return
        left = MAX_BODY

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:  # whatever its header says
                raise _BodyTooLargeError
            return message

        try:
            await self._app(scope, bounded, closed)
        except _BodyTooLargeError:
            if closed.status:
                raise
            await self._too_large(scope, receive, closed)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = name_of(hosts[0]) if len(hosts) == 1 else ""
        if not host or not self._is_known(host):
            return PlainTextResponse(f"this server is not {host[:100]!a}; add names with --allow-host\n", 421)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > MAX_BODY:
            return self._too_large
        if is_from_elsewhere(scope):
            return PlainTextResponse("rejected: the request came from a page of another site\n", 403)
        return None

    def _is_known(self, host: str) -> bool:
        with suppress(ValueError):
            return host in self._names or bool(ipaddress.ip_address(host))
        return False


def name_of(host: str) -> str:
    """Return the name in a `Host` header, without its port; empty where it is none."""
    found = _HOST.fullmatch(host.strip().lower())
    return (found[1] or found[2]) if found else ""


def is_from_elsewhere(scope: Scope) -> bool:
    """Whether a page of another server is behind a request that it must not make.

    Browsers say where a request comes from and let no page write that (`Sec-Fetch-Site`, else `Origin`). A link may
    lead here from anywhere; everything else is for our own pages. What is no browser says nothing of it.
    """
    found = Headers(scope=scope)
    site, origin = found.get("sec-fetch-site", ""), found.get("origin", "")
    if site:
        follows_link = scope["method"] in {"GET", "HEAD"} and found.get("sec-fetch-mode") == "navigate"
        return site not in {"same-origin", "none"} and not (follows_link and found.get("sec-fetch-dest") == "document")
    if origin and scope["method"] not in SAFE_METHODS:
        return origin.partition("://")[2].lower() != found.get("host", "").lower()
    return False


class _BodyTooLargeError(Exception):
    """More was sent than a request may hold."""


class ClosedAnswer:
    """Sends an answer with headers of ours, kept nowhere unless it says so, and knows how far it is."""

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self.status = 0
        self.is_whole = False

    async def __call__(self, message: Message) -> None:
        """Send a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            ours = {name for name, _ in self._headers}
            given = [pair for pair in message.get("headers", ()) if pair[0].lower() not in ours]
            if not any(name.lower() == b"cache-control" for name, _ in given):
                given.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*given, *self._headers]}
        await self._send(message)
        self.is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
