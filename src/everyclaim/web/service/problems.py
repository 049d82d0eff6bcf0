"""What is said when a request is not answered: problem details of RFC 9457, with codes that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil

from everyclaim.core.errors import (
    BudgetExceeded,
    EveryclaimError,
    JudgeError,
    OperatorError,
    UserError,
)

MEDIA_TYPE = "application/problem+json"

# code: status, title. A code is part of the API.
PROBLEMS: Mapping[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "no-token": (401, "A token is needed"),
    "not-allowed": (403, "The token is not good for this"),
    "not-found": (404, "There is nothing here"),
    "wrong-method": (405, "The method is another one here"),
    "too-slow": (408, "The request took too long to arrive"),
    "not-yet": (409, "The job is not so far"),
    "too-large": (413, "The request is too large"),
    "wrong-type": (415, "The content is of another type than is read here"),
    "wrong-host": (421, "This server does not go by that name"),
    "bad-input": (422, "The input cannot be used"),
    "key-reused": (422, "The idempotency key belongs to another request"),
    "too-often": (429, "The token asks too often"),
    "overloaded": (429, "There is more to do than can be done"),
    "gone": (499, "The client has gone"),
    "bug": (500, "A fault of the service"),
    "judge-failed": (502, "The judge gave no usable verdict"),
    "unavailable": (503, "The service cannot do this at present"),
    "budget-spent": (503, "A limit on cost, calls or tokens is reached"),
    "timed-out": (504, "It took too long"),
}


class Problem(Exception):  # noqa: N818 - the word of the standard
    """A request that gets no answer. `retry_after` is in seconds."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.status, self.title = PROBLEMS[code]
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(max(1, ceil(retry_after)))

    def body(self, request_id: str = "") -> bytes:
        """Return it as a document. `instance` names the request, as the log does."""
        row = {
            "type": f"urn:everyclaim:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if request_id:
            row["instance"] = f"urn:everyclaim:request:{request_id}"
        return json.dumps(row, ensure_ascii=True).encode()


def problem_of(error: EveryclaimError) -> Problem:
    """Say what an error of the library is to whoever sent the request."""
    if isinstance(error, BudgetExceeded):
        return Problem("budget-spent", str(error))
    if isinstance(error, JudgeError):
        return Problem("judge-failed", str(error), retry_after=error.retry_after)
    if isinstance(error, UserError):
        return Problem("bad-input", str(error))
    if isinstance(error, OperatorError):  # its words are for whoever runs the service, and stand in the log
        return Problem("unavailable", "the service cannot do this at present; its log says why", retry_after=5)
    return Problem("bug", "internal error; see the log of the service")
