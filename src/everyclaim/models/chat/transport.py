"""How a request reaches an endpoint, and what becomes of a provider's errors: HTTP statuses and network exceptions.

One way for all formats: a POST of JSON by aiohttp, with nothing in between. That is a quarter of a millisecond of CPU
per call, which keeps 64 calls of 50 ms in flight on one core; the providers' own clients take four to eight times as
much. Proxies come from the environment (HTTPS_PROXY, NO_PROXY). Replies are read up to a limit on their decompressed
size: aiohttp decompresses in small pieces, so that what is beyond the limit is never made.

What would fail for every sample alike stops the run: a wrong key, model or address is a `ConfigError`, an account
without money a `BudgetExceeded`. Everything else is a `JudgeError` and fails one sample. Worth another try are the
codes `rate_limited` (429), `server_error` (5xx, 409), `overloaded` (503, 529), `connection`, `timeout` (also 408, 504),
`bad_response` (HTML, broken or unexpected JSON) and `empty_reply`; not `bad_request` (another 4xx), `filtered`,
`too_long` (also 413) and `reply_too_large`, nor the codes of `replies` and `batches`.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from everyclaim._version import __version__
from everyclaim.core.errors import BudgetExceeded, ConfigError, EveryclaimError, JudgeError, MissingExtraError
from everyclaim.core.lifetime import LoopLocal, on_close
from everyclaim.core.types import Usage
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.providers import Secret, scrub

if TYPE_CHECKING:
    import aiohttp

RETRYABLE = frozenset(
    {"rate_limited", "server_error", "overloaded", "connection", "timeout", "bad_response", "empty_reply"}
)

_BY_STATUS = {
    **dict.fromkeys((408, 504), "timeout"),
    **dict.fromkeys((409, 425, 499), "server_error"),
    **dict.fromkeys((503, 529), "overloaded"),
    429: "rate_limited",
}
# In the code or the words of an error.
_OF_MONEY = ("insufficient_quota", "billing", "credit")
_OF_CONTENT = ("content_filter", "content_policy", "responsibleai")
_OF_LENGTH = ("maximum context length", "prompt is too long", "context window", "too many tokens", "context length")


class RejectedError(JudgeError):
    """The endpoint does not take the request as it was put; another way to put it may do.

    `text` is what it said, in lower case; `param` is the field it named, where it did.
    """

    def __init__(self, message: str, text: str, param: str) -> None:
        super().__init__("bad_request", message)
        self.text = text.lower()
        self.param = param.lower()


def _reason(error: BaseException) -> str:
    """Return the reason alone: aiohttp's own text repeats the address and its settings."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", error)
    if isinstance(cause, ConnectionError) and cause.errno:
        return os.strerror(cause.errno)
    return str(getattr(cause, "strerror", None) or cause)


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
        return ConfigError(f"the endpoint {where} has moved ({status}): use its new address")
    if status in {404, 405} or status < 400:
        return ConfigError(f"the endpoint {where} does not know the model or the address ({status}): {shown}")
    if status == 402 or (status == 429 and any(word in said.code for word in _OF_MONEY)):
        return BudgetExceeded(f"the account at {where} has no credit left ({status}): {shown}")
    code = _code(status, said)
    message = f"{where} answered {status}: {shown}"
    if code == "bad_request":
        return RejectedError(message, said.message + " " + said.code, said.param)
    return JudgeError(code, message, retry_after=retry_after(headers))


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds a provider asks to wait, from `retry-after-ms` or `retry-after` (seconds or HTTP date)."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    milliseconds = lower.get("retry-after-ms")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(lower.get("retry-after") or "nan")
    except ValueError:
        try:
            seconds = parsedate_to_datetime(lower["retry-after"]).timestamp() - (time.time() if now is None else now)
        except (KeyError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < 1e9 else None  # NaN is not less either


class _ErrorText(NamedTuple):
    message: str
    code: str = ""
    param: str = ""

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
        message = str(error.get("message") or error.get("detail") or error)
        return cls(message, code.lower(), str(error.get("param") or ""))


def _code(status: int, said: _ErrorText) -> str:
    if code := _BY_STATUS.get(status, "server_error" if status >= 500 and status != 501 else ""):
        return code
    text = said.message.lower()
    if status == 413 or "context_length" in said.code or any(words in text for words in _OF_LENGTH):
        return "too_long"
    return "filtered" if any(word in said.code for word in _OF_CONTENT) else "bad_request"


JSON = "application/json"
_ENCODER = json.JSONEncoder(ensure_ascii=False)
CONNECT_SECONDS = 10.0
EXCERPT = 100_000  # bytes of an error's body that are read
LARGE_BODY = 2**20  # beyond this aiohttp wants a stream, which it sends in pieces


class Transport:
    """POST by aiohttp: no retries, no redirects, no cookies."""

    def __init__(self, options: EndpointOptions, key: Secret) -> None:
        check_libraries(options.extra)
        import aiohttp

        self._aiohttp: Any = aiohttp
        self._options = options
        self._address = options.address
        self._proxy = find_proxy(options.base_url)
        self.secrets = (key, *options.secrets, *secrets_of_proxies())
        self._headers = _headers(options, key)
        self._sessions = LoopLocal(self._session)

    def connect(self) -> None:
        """Open this event loop's connections now: at a scope's end they outlast what is opened after them."""
        self._sessions.get()

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the object that is answered."""
        return await self.exchange("POST", path, encode(body))

    async def exchange(
        self, method: str, path: str, data: bytes = b"", *, content_type: str = JSON, seconds: float | None = None
    ) -> dict[str, Any]:
        """Send any request and return the object that is answered; `seconds` goes over the endpoint's time-out."""
        async with self._request(method, path, data, content_type, seconds) as response:
            content = await self._content(response)
            status, headers = response.status, response.headers
        where, secrets = self._options.where, self.secrets
        if not is_good(status):
            raise from_status(status, headers, content, where, secrets)
        try:
            payload = json.loads(content)
        except (ValueError, RecursionError):
            shown = scrub(content[:80].decode("utf-8", "replace"), secrets)
            raise JudgeError(
                "bad_response", f"{where} answered {status} with something other than JSON: {shown!r}"
            ) from None
        if not isinstance(payload, dict):
            raise JudgeError("bad_response", f"{where} answered with {type(payload).__name__} instead of an object")
        if error := payload.get("error"):  # as some gateways send it, with 200
            code = error.get("code") if isinstance(error, dict) else None
            told = code if isinstance(code, int) and 400 <= code < 600 else 502
            raise from_status(told, {}, content, where, secrets)
        return payload

    async def lines(self, path: str, *, seconds: float) -> AsyncGenerator[bytes, None]:
        """GET a file and yield its lines that are not empty, without holding the file in memory."""
        async with self._request("GET", path, b"", JSON, seconds) as response:
            if not is_good(response.status):
                raise from_status(
                    response.status, response.headers, await self._content(response), self._options.where, self.secrets
                )
            rest = b""
            async for chunk in response.content.iter_any():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield line
                if len(rest) > self._options.max_reply:
                    raise self._too_large("a line of ")
            if rest.strip():
                yield rest

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        """Read a response; of an error's body, the beginning. Raises `JudgeError` beyond the limit."""
        content = bytearray()
        async for piece in response.content.iter_any():
            content += piece
            if not is_good(response.status) and len(content) >= EXCERPT:
                break
            if len(content) > self._options.max_reply:
                raise self._too_large()
        return bytes(content)

    def _too_large(self, what: str = "") -> JudgeError:
        """Return the error for a reply beyond the limit. It was made and is to be paid; how much, it did not say."""
        most = self._options.said.max_reply_mb
        told = f"{what}{self._options.where} answered with more than {most:g} MB, decompressed; "
        told += "max_reply_mb in the spec raises the limit"
        return JudgeError("reply_too_large", told, usage=Usage(calls=1, cost=None))

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, data: bytes, content_type: str, seconds: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        options = self._options
        limit = seconds or options.said.timeout
        try:
            async with self._sessions.get().request(
                method,
                self._address + path,
                proxy=self._proxy,
                data=data if len(data) < LARGE_BODY else io.BytesIO(data),
                headers=self._headers if content_type is JSON else {**self._headers, "content-type": content_type},
                params={name: value.reveal() for name, value in options.query.items()} or None,
                allow_redirects=False,
                timeout=self._aiohttp.ClientTimeout(total=limit, sock_connect=CONNECT_SECONDS),
            ) as response:
                yield response
        except Exception as error:  # noqa: BLE001  (the boundary; what it does not know is raised as it is)
            if isinstance(error, TimeoutError) and not str(error):
                late = f"no complete answer within {limit:g} s ({options.where}); timeout in the spec raises the limit"
                raise JudgeError("timeout", late) from None
            raise self._translated(error) from None

    def _translated(self, error: Exception) -> Exception:
        """Return our error for one of aiohttp or of the network; any other as it is."""
        http = self._aiohttp
        where, said = self._options.where, scrub(_reason(error), self.secrets) or type(error).__name__
        if isinstance(error, EveryclaimError):
            return error
        if isinstance(error, TimeoutError):
            return JudgeError("timeout", f"no complete answer in time ({where}): {said}")
        if isinstance(error, (http.ClientConnectorCertificateError, http.ClientHttpProxyError, http.InvalidURL)):
            return ConfigError(f"cannot use the endpoint {where}: {said}")
        if isinstance(error, (OSError, http.ClientConnectionError, http.ClientPayloadError)):
            return JudgeError("connection", f"cannot connect ({where}): {said}")
        if isinstance(error, http.ClientError):
            return JudgeError("bad_response", f"the answer has an unexpected format ({where}): {said}")
        return error

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if session := self._sessions.pop():
            await session.close()
            await asyncio.sleep(0)  # lets the sockets' close callbacks run before a loop ends

    def _session(self) -> aiohttp.ClientSession:
        on_close(self.aclose)
        http: Any = self._aiohttp
        session: aiohttp.ClientSession = http.ClientSession(
            connector=http.TCPConnector(limit=0, ttl_dns_cache=300), cookie_jar=http.DummyCookieJar()
        )
        return session


def check_libraries(extra: str) -> None:
    """Raise `MissingExtraError` for what is imported when first needed, which must not be mid-run to fail."""
    try:
        import aiohttp  # noqa: F401
        import aiolimiter  # noqa: F401
        import stamina  # noqa: F401
    except ImportError:
        raise MissingExtraError("searching the web" if extra == "search" else f"the {extra} judge", extra) from None


def encode(body: Mapping[str, Any]) -> bytes:
    """Write a request's body; text in any script takes no more bytes than it must."""
    return _ENCODER.encode(body).encode("utf-8", "replace")


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address. aiohttp would look it up anew for every call."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    try:
        urlsplit(proxy or "").port  # noqa: B018 - raises for what is none
    except ValueError:
        raise ConfigError("the proxy of the environment is not an address such as 'http://proxy:3128'") from None
    return proxy


def secrets_of_proxies() -> tuple[Secret, ...]:
    """Return the passwords of the environment's proxies, which a library's message may quote."""
    found = []
    for address in getproxies().values():
        user, at, _ = address.partition("://")[2].rpartition("@")
        found += [Secret(user.partition(":")[2]), Secret(unquote(user.partition(":")[2]))] if at else []
    return tuple(found)


def _headers(options: EndpointOptions, key: Secret) -> dict[str, str]:
    headers = {"content-type": JSON, "accept": JSON}
    headers["user-agent"] = f"everyclaim/{__version__}"
    if options.api == "messages":
        headers |= {"anthropic-version": "2026-10-21", "x-api-key": key.reveal()}
    elif key:
        headers["authorization"] = f"Bearer {key.reveal()}"
    if options.basic:
        headers["authorization"] = options.basic.reveal()
    return headers | {name.lower(): value.reveal() for name, value in options.headers.items()}
