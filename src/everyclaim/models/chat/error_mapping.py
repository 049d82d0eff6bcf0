"""The one place where a provider's errors become ours: HTTP statuses and network exceptions.

What would fail for every sample alike stops the run: a wrong key, model or address is a `ConfigError`,
an account without money a `BudgetExceeded`. Everything else is a `JudgeError` and fails one sample.

| code | when | worth another try |
| --- | --- | --- |
| `rate_limited` | 429 | yes |
| `server_error` | 5xx, 409 | yes |
| `overloaded` | 503, 529 | yes |
| `connection` | refused, reset, cut in the middle | yes |
| `timeout` | no whole answer in time, 408, 504 | yes |
| `bad_response` | HTML, broken or unexpected JSON | yes |
| `empty_reply` | an answer without text | yes |
| `bad_request` | another 4xx | no |
| `too_long` | the prompt does not fit, 413 | no |
| `reply_too_large` | more than `max_reply_mb`, decompressed | no |
| `batch_not_submitted`, `batch_unfinished` | see `batch` | no |
| `filtered`, `refused`, `truncated`, `malformed` | see `replies` | no |
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from everyclaim.core.errors import BudgetExceeded, ConfigError, EveryclaimError, JudgeError
from everyclaim.models.chat.keys import Secret, scrub

RETRYABLE = frozenset(
    {"rate_limited", "server_error", "overloaded", "connection", "timeout", "bad_response", "empty_reply"}
)

# Exceptions by module and name, so that the library need not be installed to read this. The
# nearest class in an exception's ancestry decides. A test walks the library and fails on a gap.
EXCEPTIONS: Mapping[str, str] = {
    "aiohttp.ServerTimeoutError": "timeout",
    "aiohttp.ClientConnectionError": "connection",
    "aiohttp.ClientPayloadError": "connection",
    "aiohttp.ClientConnectorCertificateError": "config",
    "aiohttp.ClientHttpProxyError": "config",
    "aiohttp.ClientError": "bad_response",
    "aiohttp.InvalidURL": "config",
    "aiohttp.WSMessageTypeError": "bad_response",
    "aiohttp.http_exceptions.HttpProcessingError": "bad_response",
    "builtins.TimeoutError": "timeout",
    "builtins.OSError": "connection",
    "ssl.SSLCertVerificationError": "config",
}
# In the code or the words of an error.
_OF_MONEY = ("insufficient_quota", "billing", "credit")
_OF_CONTENT = ("content_filter", "content_policy", "responsibleai")
_OF_LENGTH = ("maximum context length", "prompt is too long", "context window", "too many tokens", "context length")
_SAYS = {
    "timeout": "no complete answer in time",
    "connection": "cannot connect",
    "bad_response": "the answer has an unexpected format",
}


class RejectedError(JudgeError):
    """The endpoint does not take the request as it was put; another way to put it may do.

    `text` is what it said, in lower case; `param` is the field it named, where it did.
    """

    def __init__(self, message: str, text: str, param: str) -> None:
        super().__init__("bad_request", message)
        self.text = text.lower()
        self.param = param.lower()


def from_exception(error: BaseException, where: str, secrets: tuple[Secret, ...] = ()) -> EveryclaimError | None:
    """Return our error for one of a library's, None for one that is not known. `where` is the endpoint's address."""
    code = code_of(type(error))
    if code is None:
        return None
    said = scrub(_reason(error), secrets) or type(error).__name__
    if code == "config":
        return ConfigError(f"cannot use the endpoint {where}: {said}")
    return JudgeError(code, f"{_SAYS[code]} ({where}): {said}")


def _reason(error: BaseException) -> str:
    """Return the reason alone: aiohttp's own text repeats the address and its settings."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    if isinstance(cause, ConnectionError) and cause.errno:
        return os.strerror(cause.errno)
    return str(getattr(cause, "strerror", None) or cause)


def code_of(kind: type[BaseException]) -> str | None:
    """Return a judge error's code for a class of exceptions, `config` for faults of set-up, None for others."""
    found = (EXCEPTIONS.get(f"{_package(parent)}.{parent.__qualname__}") for parent in kind.__mro__)
    return next((code for code in found if code), None)


def is_good(status: int) -> bool:
    """Whether a status says that the body is an answer: some gateways answer with another 2xx than 200."""
    return 200 <= status < 300


def from_status(
    status: int, headers: Mapping[str, str], body: bytes, where: str, secrets: tuple[Secret, ...] = ()
) -> EveryclaimError:
    """Return our error for an HTTP status that is not one of success."""
    said = _ErrorText.read(body)
    shown = scrub(said.message, secrets) or "no reason given"
    if status in {401, 403, 407}:
        return ConfigError(f"the endpoint {where} rejects the key ({status}): {shown}")
    if 300 <= status < 400:
        return ConfigError(
            f"the endpoint {where} has moved{_moved_to(headers, secrets)} ({status}): use its new address"
        )
    if status in {404, 405} or status < 400:
        return ConfigError(f"the endpoint {where} does not know the model or the address ({status}): {shown}")
    if status == 402 or (status == 429 and any(word in said.code for word in _OF_MONEY)):
        return BudgetExceeded(f"the account at {where} has no credit left ({status}): {shown}")
    code = _code(status, said)
    message = f"{where} answered {status}: {shown}"
    if code == "bad_request":
        return RejectedError(message, said.message + " " + said.code, said.param)
    return JudgeError(code, message, retry_after=retry_after(headers))


def _moved_to(headers: Mapping[str, str], secrets: tuple[Secret, ...]) -> str:
    """Say where a redirect leads, without what may be secret in the address."""
    given = next((value for name, value in headers.items() if name.lower() == "location"), "")
    try:
        address = urlsplit(scrub(given, secrets))
    except ValueError:  # no address
        return ""
    host = address.netloc.rpartition("@")[2]
    return f" to {address.scheme or 'https'}://{host}{address.path}" if host else ""


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds a provider asks to wait, from `retry-after-ms` or `retry-after` (seconds or HTTP date)."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    try:
        if milliseconds := lower.get("retry-after-ms"):
            return _waiting(float(milliseconds) / 1000)
        value = lower.get("retry-after", "")
        return _waiting(float(value)) if value else None
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(lower["retry-after"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None
    return _waiting(then - (time.time() if now is None else now))


class _ErrorText:
    """What an error body says, whatever its shape."""

    def __init__(self, message: str, code: str = "", param: str = "") -> None:
        self.message, self.code, self.param = message, code.lower(), param

    @classmethod
    def read(cls, body: bytes) -> _ErrorText:
        text = body[:100_000].decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return cls("" if "<" in text[:50] else text)
        error = value.get("error", value) if isinstance(value, dict) else value
        if not isinstance(error, dict):
            return cls(str(error))
        inner = error.get("innererror")
        code = f"{error.get('code') or ''} {error.get('type') or ''} {inner if isinstance(inner, dict) else ''}"
        return cls(str(error.get("message") or error.get("detail") or error), code, str(error.get("param") or ""))


def _code(status: int, said: _ErrorText) -> str:
    if status == 429:
        return "rate_limited"
    if status in {408, 504}:
        return "timeout"
    if status in {503, 529}:
        return "overloaded"
    if status in {409, 425, 499} or (status >= 500 and status != 501):
        return "server_error"
    text = said.message.lower()
    if status == 413 or "context_length" in said.code or any(words in text for words in _OF_LENGTH):
        return "too_long"
    return "filtered" if any(word in said.code for word in _OF_CONTENT) else "bad_request"


def _package(kind: type) -> str:
    """Return the public package of a class; the SDKs keep their exceptions in private modules."""
    module = kind.__module__
    if module.startswith("aiohttp.http_exceptions"):
        return module
    return module.partition(".")[0]


def _waiting(seconds: float) -> float | None:
    return max(0.0, seconds) if seconds == seconds and seconds < 1e9 else None  # noqa: PLR0124  (NaN differs from itself)


def error_in_body(payload: Mapping[str, Any], where: str, secrets: tuple[Secret, ...]) -> EveryclaimError | None:
    """Return our error for a 200 whose body is an error object, as some gateways send it."""
    error = payload.get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return from_status(status, {}, json.dumps(payload).encode(), where, secrets)
