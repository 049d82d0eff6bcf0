"""What stands before every route: who asks, from where, how often; what is logged of each; the problems it may have.

ASGI around the whole application, so that no route can be without it. Problems are problem details of RFC 9457, with
codes that stay.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response

from everyclaim.core.events import Observer, RequestAnswered, observed, tell
from everyclaim.core.plaintext import is_loopback
from everyclaim.web.security import App, ClosedAnswer, Receive, Scope, Send, is_from_elsewhere, name_of
from everyclaim.web.settings import AccessToken, AccessTokens, RateLimiter, bearer

MEDIA_TYPE = "application/problem+json"

# code: status, title. A code is part of the API.
PROBLEMS: Mapping[str, tuple[int, str]] = {
    "malformed": (400, "Invalid request"),
    "no-token": (401, "Token required"),
    "not-allowed": (403, "Token not permitted"),
    "not-found": (404, "Not found"),
    "wrong-method": (405, "Method not allowed"),
    "too-slow": (408, "Request timeout"),
    "not-yet": (409, "Job not ready"),
    "too-large": (413, "Request too large"),
    "wrong-type": (415, "Unsupported content type"),
    "wrong-host": (421, "Unknown host name"),
    "bad-input": (422, "Invalid input"),
    "key-reused": (422, "Idempotency key already used"),
    "too-often": (429, "Rate limit exceeded"),
    "overloaded": (429, "Service overloaded"),
    "gone": (499, "Client disconnected"),
    "bug": (500, "Internal error"),
    "judge-failed": (502, "The judge gave no usable verdict"),
    "unavailable": (503, "Service unavailable"),
    "budget-spent": (503, "Cost, call or token limit reached"),
    "timed-out": (504, "Time limit exceeded"),
}


class Problem(Exception):  # noqa: N818 - the word of the standard
    """A request that gets no answer. `retry_after` is in seconds."""

    def __init__(
        self, code: str, detail: str, *, retry_after: float | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.status, self.title = PROBLEMS[code]
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(max(1, ceil(retry_after)))

    def body(self, request_id: str) -> bytes:
        """Return it as a document. `instance` names the request, as the log does."""
        row = {"type": f"urn:everyclaim:problem:{self.code}", "title": self.title, "status": self.status}
        row |= {"detail": self.detail, "code": self.code, "instance": f"urn:everyclaim:request:{request_id}"}
        return json.dumps(row, ensure_ascii=True).encode()


# ---- the gate

_OPEN = frozenset({"/health", "/ready", "/version", "/openapi.json"})
_JOBS = ("/v1/jobs", "/v1/jobs/{job}", "/v1/jobs/{job}/results", "/v1/jobs/{job}/cancel")
_KNOWN = _OPEN | {"/metrics", "/v1/score", "/v1/verify", "/v1/claims", "/v1/guard", *_JOBS}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
_GONE = 499  # as servers log it: nobody was there to be answered
_JOB = re.compile(r"^/v1/jobs/[^/]+")
_logger = logging.getLogger("everyclaim.web")


@dataclass(slots=True)
class RequestContext:
    """What is known of a request while it is answered; `logged` goes into its line of the log."""

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    token: AccessToken | None = None
    logged: dict[str, Any] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """Whose the request is; everybody is one where there are no tokens."""
        return self.token.name if self.token else ""

    @property
    def sees_all(self) -> bool:
        """Whether what belongs to others is shown."""
        return self.token is None or self.token.may("admin")


@dataclass(slots=True)
class RequestGate:
    """Lets a request through whose token is good for it, as often as its rate; tells of each what became of it."""

    app: App
    tokens: AccessTokens
    rate: int  # for all workers
    workers: int
    has_to_ask: bool
    observers: Sequence[Observer]
    rates: RateLimiter = field(default_factory=RateLimiter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, context = time.perf_counter(), RequestContext()
        scope.setdefault("state", {})["context"] = context
        answer = ClosedAnswer(send, ((b"x-request-id", context.id.encode()), (b"x-content-type-options", b"nosniff")))
        try:
            self._admit(scope, context)
            await self.app(scope, receive, answer)
        except Problem as problem:
            await response_to(problem, context)(scope, receive, answer)
        except Exception as error:
            if not answer.is_whole:
                raise  # the connection has to end with it
            _logger.exception("internal error of the service", exc_info=error, extra={"request": context.id})
        finally:
            self._tell(scope, context, answer.status or _GONE, time.perf_counter() - begun)

    def _admit(self, scope: Scope, context: RequestContext) -> None:
        """Raise `Problem` for a request that is not let through."""
        headers, path = Headers(scope=scope), scope["path"]
        if not self.has_to_ask:
            host = headers.get("host", "")
            if not is_loopback(name_of(host)):  # a page elsewhere may have pointed its name here
                told = f"without tokens this service accepts only local host names, not {host[:80]!r}"
                raise Problem("wrong-host", told)
            if is_from_elsewhere(scope):
                raise Problem("not-allowed", "rejected: the request came from a page of another site")
            return
        if path in _OPEN:
            return
        token = self.tokens.holder(bearer(headers.get("authorization", "")))
        if token is None:
            detail = "send a valid token: 'Authorization: Bearer …'"
            raise Problem("no-token", detail, headers={"WWW-Authenticate": 'Bearer realm="everyclaim"'})
        context.token = token
        rate = token.per_minute or self.rate
        if wait := self.rates.take(token.name, max(1, rate // self.workers)):
            raise Problem("too-often", f"{token.name} is limited to {rate} requests per minute", retry_after=wait)
        needed = "read" if path == "/metrics" else "jobs" if f"{path}/".startswith("/v1/jobs/") else "score"
        if not token.may(needed):
            raise Problem("not-allowed", f"this needs a token with the scope {needed!r}")

    def _tell(self, scope: Scope, context: RequestContext, status: int, seconds: float) -> None:
        """Log a request and count it, by one of few names: it may hold anything, and metrics keep every name."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        known = path_template(scope["path"])
        route = getattr(scope.get("route"), "path", known if known in _KNOWN else "other")
        client = scope["client"][0] if scope.get("client") else ""
        row = {"request": context.id, "method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
        _logger.info("request", extra={**row, "token": context.owner, "client": client, **context.logged})
        with observed(self.observers):
            tell(RequestAnswered(route, method, status, seconds))


def response_to(problem: Problem, context: RequestContext) -> Response:
    """Answer with a problem."""
    context.logged["problem"] = problem.code
    return Response(problem.body(context.id), problem.status, problem.headers, media_type=MEDIA_TYPE)


def path_template(path: str) -> str:
    """Return an address as the description of the API has it."""
    return _JOB.sub("/v1/jobs/{job}", path)
