"""What stands before every route: who asks, from where, how often; and what is written down of each request.

ASGI around the whole application, so that no route can be without it.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from everyclaim.core.events import Observer, RequestAnswered, observed, tell
from everyclaim.web.security import App, ClosedAnswer, Receive, Scope, Send, headers_of, is_from_elsewhere, name_of
from everyclaim.web.service.problems import MEDIA_TYPE, Problem
from everyclaim.web.serving import is_loopback
from everyclaim.web.tokens import Rates, Token, Tokens, bearer, network

OPEN = frozenset({"/health", "/ready", "/version", "/openapi.json"})
_GUESSES = 30  # wrong tokens a minute from one network
_GONE = 499  # as servers log it: nobody was there to be answered
_JOB = re.compile(r"^/v1/jobs/[^/]+")
_logger = logging.getLogger("everyclaim.web")


@dataclass(slots=True)
class RequestContext:
    """What is known of a request while it is answered; `said` goes into its line of the log."""

    id: str
    token: Token | None = None
    said: dict[str, Any] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """Whose the request is; everybody is one where there are no tokens."""
        return self.token.name if self.token else ""

    @property
    def sees_all(self) -> bool:
        """Whether what belongs to others is shown."""
        return self.token is None or self.token.may("admin")


class Gate:
    """Lets a request through whose token is good for it, as often as its rate; tells of each what became of it."""

    def __init__(
        self, app: App, tokens: Tokens, *, rate: int, workers: int, has_to_ask: bool, observers: Sequence[Observer]
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._has_to_ask = has_to_ask
        self._rate, self._workers = rate, workers  # the rate is for all of them
        self._rates = Rates(rate)
        self._guesses = Rates(_GUESSES)
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        asked = RequestContext(secrets.token_hex(8))
        scope.setdefault("state", {})["asked"] = asked
        answer = ClosedAnswer(send, ((b"x-request-id", asked.id.encode()), (b"x-content-type-options", b"nosniff")))
        try:
            self._admit(scope, asked)
            await self._app(scope, receive, answer)
        except Problem as problem:
            await say(problem, asked)(scope, receive, answer)
        except Exception as error:
            if not answer.is_whole:
                raise  # the connection has to end with it
            _logger.exception("a fault of the service", exc_info=error, extra={"request": asked.id})
        finally:
            self._tell(scope, asked, answer, time.perf_counter() - begun)

    def _admit(self, scope: Scope, asked: RequestContext) -> None:
        """Raise `Problem` for a request that is not let through."""
        headers = headers_of(scope)
        client = network(scope["client"][0]) if scope.get("client") else ""
        path = scope["path"]
        if not self._has_to_ask:
            host = headers.get("host", "")
            if not is_loopback(name_of(host)):  # a page elsewhere may have pointed its name here
                raise Problem(
                    "wrong-host", f"without tokens this service goes by this machine's own names, not {host[:80]!r}"
                )
            if is_from_elsewhere(scope):
                raise Problem("not-allowed", "this came from a page of another server")
            return
        if path in OPEN:
            return
        token = self._tokens.holder(bearer(headers.get("authorization", "")))
        if token is None:
            if wait := self._guesses.take(client):
                raise Problem("too-often", "too many requests without a good token", retry_after=wait)
            detail = "send a token that is good: 'Authorization: Bearer …'"
            raise Problem("no-token", detail, headers={"WWW-Authenticate": 'Bearer realm="everyclaim"'})
        asked.token = token
        rate = token.per_minute or self._rate
        if wait := self._rates.take(token.name, max(1, rate // self._workers)):
            raise Problem("too-often", f"{token.name} may ask {rate} times a minute", retry_after=wait)
        scope_needed = _scope_of(path)
        if not token.may(scope_needed):
            raise Problem("not-allowed", f"this takes a token with the scope {scope_needed!r}")

    def _tell(self, scope: Scope, asked: RequestContext, answer: ClosedAnswer, seconds: float) -> None:
        done = RequestAnswered(_route(scope), _method(scope), answer.status or _GONE, seconds)
        row = {
            "request": asked.id,
            "method": done.method,
            "route": done.route,
            "status": done.status,
            "seconds": round(seconds, 4),
            "token": asked.owner,
            "client": scope["client"][0] if scope.get("client") else "",
            **asked.said,
        }
        _logger.info("request", extra=row)
        with observed(self._observers):
            tell(done)


def say(problem: Problem, asked: RequestContext) -> Response:
    """Answer with a problem."""
    asked.said["problem"] = problem.code
    return Response(problem.body(asked.id), problem.status, problem.headers, media_type=MEDIA_TYPE)


def _scope_of(path: str) -> str:
    if path == "/metrics":
        return "read"
    return "jobs" if path == "/v1/jobs" or path.startswith("/v1/jobs/") else "score"


def _route(scope: Scope) -> str:
    """Name the route by one of few names: an address may hold anything, and metrics keep every name for ever."""
    route = scope.get("route")
    if route is not None:
        return str(getattr(route, "path", "other"))
    path = template(scope["path"])
    return path if path in OPEN or path in _KNOWN else "other"


def template(path: str) -> str:
    """Return an address as the description of the API has it."""
    return _JOB.sub("/v1/jobs/{job}", path)


def _method(scope: Scope) -> str:
    return (
        scope["method"] if scope["method"] in {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} else "other"
    )


_KNOWN = frozenset(
    {
        "/metrics",
        "/v1/score",
        "/v1/verify",
        "/v1/claims",
        "/v1/guard",
        "/v1/jobs",
        "/v1/jobs/{job}",
        "/v1/jobs/{job}/results",
        "/v1/jobs/{job}/cancel",
    }
)
