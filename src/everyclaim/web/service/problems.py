"""What is said when a request is not answered: problem details of RFC 9457, with codes that stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil

from everyclaim.core.errors import BudgetExceeded, EveryclaimError, JudgeError, OperatorError, UserError

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
        return Problem("unavailable", "the service is unavailable; see its log", retry_after=5)
    return Problem("bug", "internal error; see the log of the service")
