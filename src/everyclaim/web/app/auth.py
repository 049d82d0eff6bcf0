"""Who asks: a token that was shown at the login, a name that a proxy vouches for, or anybody on this machine.

Every visitor has a cookie of random bits. What a form brings along to change something is derived from them, so that a
page elsewhere cannot know it; a login gets a new cookie, is kept here in memory, and ends with the server.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from everyclaim.core.plaintext import digest
from everyclaim.web.security import SAFE_METHODS, App, Message, Receive, Scope, Send
from everyclaim.web.settings import AccessToken, AccessTokens, bearer

_IDLE, _LONGEST = 12 * 3600, 7 * 86_400  # seconds; of a log-in that is not used, and of any
_MOST = 10_000  # log-ins at once
_OPEN = ("/login", "/static/")  # to be seen by anybody
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Access:
    """How people come in. With neither tokens nor a proxy's header, whoever can reach the server."""

    tokens: AccessTokens | None = None
    proxy_header: str = ""  # holds the name of whoever a proxy let in
    names: tuple[str, ...] = ()  # by which the server may be asked, beside addresses and localhost


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever asks. `csrf` is what their forms bring along; empty for a program with a token of its own."""

    name: str = ""
    scopes: frozenset[str] | None = None  # None: everything
    csrf: str = ""
    has_session: bool = False

    def may(self, scope: str) -> bool:
        """Whether they may do this."""
        return self.scopes is None or scope in self.scopes or "admin" in self.scopes


class Sessions:
    """The log-ins of this server, by digests: what reads its memory by chance finds no cookie that is good."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[AccessToken, float, float]] = OrderedDict()  # whose, since when, last used

    def begin(self, token: AccessToken) -> str:
        """Keep a log-in and return its cookie."""
        cookie, now = secrets.token_urlsafe(32), time.monotonic()
        self._kept[digest(cookie)] = (token, now, now)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return cookie

    def holder(self, cookie: str) -> AccessToken | None:
        """Return whose log-in a cookie is; None when it is none, or is over."""
        key, now = digest(cookie), time.monotonic()
        token, begun, used = self._kept.pop(key, (None, 0.0, 0.0))
        if token is None or now - used > _IDLE or now - begun > _LONGEST:
            return None
        self._kept[key] = (token, begun, now)
        return token

    def end(self, cookie: str) -> None:
        """Forget a log-in."""
        self._kept.pop(digest(cookie), None)


@dataclass(slots=True)
class Authenticator:
    """Lets in whoever may come in, and leaves with the request who that is."""

    app: App
    access: Access
    sessions: Sessions
    secret: bytes = field(default_factory=partial(secrets.token_bytes, 32), repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        name = cookie_name(scope)
        cookie = cookie_parser(headers.get("cookie", "")).get(name, "")[:100]
        new = "" if cookie else secrets.token_urlsafe(32)
        visitor = self._visitor(headers, cookie or new)
        if visitor is None:
            if not scope["path"].startswith(_OPEN):
                await self._turned_away(scope, headers)(scope, receive, send)
                return
            visitor = Visitor(scopes=frozenset(), csrf=self._csrf(cookie or new))
        scope.setdefault("state", {})["visitor"] = visitor

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(raw=message.setdefault("headers", []))
                if f"{name}=" not in found.get("set-cookie", ""):
                    found.append("set-cookie", cookie_line(scope, new))
            await send(message)

        await self.app(scope, receive, with_cookie if new and visitor.csrf else send)

    def _visitor(self, headers: Headers, cookie: str) -> Visitor | None:
        """Return who asks, None for whoever has not shown that they may."""
        access, tokens, csrf = self.access, self.access.tokens, self._csrf(cookie)
        if tokens is not None and (presented := bearer(headers.get("authorization", ""))):
            token = tokens.holder(presented)
            return Visitor(token.name, token.scopes) if token and token.may("ui") else None
        if tokens is not None and (token := self.sessions.holder(cookie)):
            return Visitor(token.name, token.scopes, csrf, has_session=True) if tokens.has(token) else None
        if access.proxy_header and (named := headers.get(access.proxy_header, "").strip()):
            return Visitor(named[:_LONGEST_NAME], None, csrf)
        is_open = access.tokens is None and not access.proxy_header  # none left in the file is none that is good
        return Visitor(csrf=csrf) if is_open else None

    def _csrf(self, cookie: str) -> str:
        return hmac.new(self.secret, cookie.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _turned_away(self, scope: Scope, headers: Headers) -> Response:
        if self.access.tokens is None:
            return PlainTextResponse("the proxy in front of this server sent no user name\n", 401)
        if headers.get("hx-request"):
            return PlainTextResponse("log in again\n", 401, {"HX-Redirect": "/login"})
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            query = scope.get("query_string", b"").decode("latin-1")
            wanted = scope["path"] + (f"?{query}" if query else "")
            return RedirectResponse(f"/login?next={quote(wanted, safe='')}", 303)
        return PlainTextResponse("log in at /login, or send a token: Authorization: Bearer …\n", 401)


def visitor_of(request: Request) -> Visitor:
    """Return who asks."""
    found: Visitor = request.state.visitor
    return found


async def check_form(request: Request) -> None:
    """Refuse what would change something and does not come from a page of ours. Holds for every route of the app."""
    expected = visitor_of(request).csrf
    if request.method in SAFE_METHODS or not expected:
        return
    given = request.headers.get("x-csrf-token") or str((await request.form()).get("csrf", ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
        raise HTTPException(403, "this form is outdated: reload the page")


def cookie_name(scope: Scope) -> str:
    """Return the name of the visitor's cookie; cookies are shared by all servers of a machine, so it has the port."""
    return f"everyclaim_{(scope.get('server') or ('', 0))[1]}"


def cookie_line(scope: Scope, value: str, *, over: bool = False) -> str:
    """Return the `Set-Cookie` header; `over`: for a log-in that ended."""
    is_https = "https" in {scope.get("scheme"), Headers(scope=scope).get("x-forwarded-proto", "")}
    more = ("; Secure" if is_https else "") + ("; Max-Age=0" if over else "")
    return f"{cookie_name(scope)}={value}; Path=/; HttpOnly; SameSite=Lax{more}"


def local_path(wanted: str) -> str:
    """Return where a log-in leads on to: a path of this server, else its first page."""
    is_path = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_path and wanted.isprintable() and not wanted.startswith("/login") else "/"
