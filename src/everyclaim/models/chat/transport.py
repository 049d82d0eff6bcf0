"""How a request reaches an endpoint: a POST of JSON, answered by a JSON object.

One way for all formats: aiohttp with nothing in between. That is a quarter of a millisecond of CPU per call, which
keeps 64 calls of 50 ms in flight on one core; the providers' own clients take four to eight times as much. Proxies
come from the environment (HTTPS_PROXY, NO_PROXY).

Replies are read up to a limit. What counts is their size decompressed: a few bytes of gzip can become any number, but
aiohttp decompresses in small pieces, so that what is beyond the limit is never made.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError, EveryclaimError, JudgeError, MissingExtraError
from everyclaim.core.lifetime import LoopLocal, on_close
from everyclaim.core.limits import MB
from everyclaim.core.types import Usage
from everyclaim.models.chat.error_mapping import error_in_body, from_exception, from_status, is_good
from everyclaim.models.chat.keys import Secret, scrub
from everyclaim.models.chat.options import EndpointOptions

if TYPE_CHECKING:
    import aiohttp

JSON = "application/json"
_ENCODER = json.JSONEncoder(ensure_ascii=False)
CONNECT_SECONDS = 10.0
EXCERPT = 100_000  # bytes of an error's body that are read
LARGE_BODY = 2**20  # beyond this aiohttp wants a stream, which it sends in pieces


class Transport:
    """POST by aiohttp: no retries, no redirects, no cookies."""

    def __init__(self, options: EndpointOptions, key: Secret) -> None:
        try:
            import aiohttp
        except ImportError:
            raise MissingExtraError(f"the {options.provider} judge", options.extra) from None
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
        return read_response(status, headers, content, self._options.where, self.secrets)

    async def lines(self, path: str, *, seconds: float) -> AsyncGenerator[bytes, None]:
        """GET a file and yield its lines that are not empty, without holding the file in memory."""
        async with self._request("GET", path, b"", JSON, seconds) as response:
            if not is_good(response.status):
                raise from_status(
                    response.status, response.headers, await self._content(response), self._options.where, self.secrets
                )
            rest = bytearray()
            async for chunk in response.content.iter_any():
                rest += chunk
                if b"\n" in chunk:
                    *whole, last = rest.split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield bytes(line)
                    rest = last
                if len(rest) > self._options.max_reply:
                    raise self._too_large("a line of ")
            if rest.strip():
                yield bytes(rest)

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
        return JudgeError(
            "reply_too_large",
            f"{what}{self._options.where} answered with more than {self._options.max_reply / MB:g} MB, decompressed; "
            "max_reply_mb in the spec raises the limit",
            usage=Usage(calls=1, cost=None),
        )

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, data: bytes, content_type: str, seconds: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        options = self._options
        limit = seconds or options.timeout
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
            ours = error if isinstance(error, EveryclaimError) else from_exception(error, options.where, self.secrets)
            raise (ours or error) from None

    def renew(self) -> None:
        """Use the connections that this event loop has open for no further request."""
        connector: Any = self._sessions.get().connector
        connector.renew()

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if session := self._sessions.pop():
            await session.close()
            await asyncio.sleep(0)  # lets the sockets' close callbacks run before a loop ends

    def _session(self) -> aiohttp.ClientSession:
        on_close(self.aclose)
        http: Any = self._aiohttp
        session: aiohttp.ClientSession = http.ClientSession(
            connector=clean_connector(http), cookie_jar=http.DummyCookieJar()
        )
        return session


def clean_connector(http: Any) -> Any:
    """Return a pool that closes a kept connection on which bytes came that nobody asked for.

    They would be taken for the answer to the next request. After `renew`, all that were open before are closed.
    """

    class CleanConnector(http.TCPConnector):  # type: ignore[misc]
        epoch = 0

        async def connect(self, *request: Any, **options: Any) -> Any:
            while True:
                connection = await super().connect(*request, **options)
                protocol = connection.protocol
                if born.setdefault(protocol, self.epoch) == self.epoch and not protocol.should_close:
                    return connection
                connection.close()

        def renew(self) -> None:
            self.epoch += 1

    born: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    return CleanConnector(limit=0, ttl_dns_cache=300)


def encode(body: Mapping[str, Any]) -> bytes:
    """Write a request's body; text in any script takes no more bytes than it must."""
    return _ENCODER.encode(body).encode("utf-8", "replace")


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address. aiohttp would look it up anew for every call.

    Raises `ConfigError` for one that is no address, without repeating it: it may hold a password.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy:
        user, at, _ = proxy.partition("://")[2].rpartition("@")
        try:
            is_address = urlsplit(proxy).port != 0 and not (at and any(mark in user for mark in "/?#"))
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigError(
                f"the proxy in {parts.scheme.upper()}_PROXY or ALL_PROXY is not an address such as "
                "'http://proxy:3128'; '/', '?' and '#' in a password must be written as %2F, %3F and %23"
            )
    return proxy


def secrets_of_proxies() -> tuple[Secret, ...]:
    """Return the passwords of the environment's proxies, which a library's message may quote."""
    found = []
    for address in getproxies().values():
        user, at, _ = address.partition("://")[2].rpartition("@")
        found += [Secret(user.partition(":")[2]), Secret(unquote(user.partition(":")[2]))] if at else []
    return tuple(found)


def read_response(
    status: int, headers: Mapping[str, str], content: bytes, where: str, secrets: tuple[Secret, ...]
) -> dict[str, Any]:
    """Return the JSON object of a response. Raises our error for any other."""
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
    if error := error_in_body(payload, where, secrets):
        raise error
    return payload


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
