"""The providers' own clients as a transport: `openai` and `anthropic`, retries switched off.

Only their way of sending is used (address, authentication, proxies, connections); bodies and replies are
ours, so an unknown or missing field of a compatible server is a clean error and not an AttributeError.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from everyclaim.core.errors import JudgeError, MissingExtraError
from everyclaim.core.scope import at_end
from everyclaim.models.chat.bounded import bounded_client
from everyclaim.models.chat.error_mapping import from_status
from everyclaim.models.chat.keys import Secret
from everyclaim.models.chat.loop_local import LoopLocal
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.providers import Format
from everyclaim.models.chat.transport import (
    CONNECT_SECONDS,
    Transport,
    encode,
    find_proxy,
    read_response,
    secrets_of_proxies,
    translated,
)

_CLIENTS: Mapping[Format, tuple[str, str]] = {  # by format: the library, and its client
    "chat": ("openai", "AsyncOpenAI"),
    "responses": ("openai", "AsyncOpenAI"),
    "messages": ("anthropic", "AsyncAnthropic"),
}


class SdkTransport:
    """POST by a provider's client; one client per event loop."""

    def __init__(self, options: EndpointOptions, key: Secret) -> None:
        name, _ = _CLIENTS[options.api]
        try:
            import httpx2

            library = import_module(name)
        except ImportError:
            raise MissingExtraError(f"transport=sdk for {options.provider}", f"{name}-sdk") from None
        find_proxy(options.base_url)  # their own message would quote one that is none
        self._library: Any = library
        self._http = httpx2
        self._options = options
        self._key = key
        self._secrets = (key, *options.secrets, *secrets_of_proxies())
        self._clients: LoopLocal[Any] = LoopLocal(self._client)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the object that is answered."""
        where = self._options.where
        try:
            async with asyncio.timeout(self._options.timeout):  # theirs is for each read, ours for the whole answer
                response = await self._clients.get().post(
                    path,
                    content=encode(body),
                    cast_to=self._http.Response,
                    options={"headers": {"content-type": "application/json"}, "follow_redirects": False},
                )
        except self._library.APIStatusError as error:
            reply = error.response
            raise from_status(reply.status_code, reply.headers, reply.content, where, self._secrets) from None
        except Exception as error:  # noqa: BLE001  (the boundary; what it does not know is raised as it is)
            cause = error.__cause__  # the client wraps what is raised inside it
            raise translated(cause if isinstance(cause, JudgeError) else error, where, self._secrets) from None
        return read_response(response.status_code, response.headers, response.content, where, self._secrets)

    def renew(self) -> None:
        """Do nothing: their connections are theirs."""

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if client := self._clients.pop():
            await client.close()

    def _client(self) -> Any:
        at_end(self.aclose)
        options = self._options
        factory = getattr(self._library, _CLIENTS[options.api][1])
        pool = {"limits": self._http.Limits(max_connections=None, max_keepalive_connections=1000)}
        wrapper = bounded_client(self._library.DefaultAsyncHttpxClient, options.where, options.max_reply)
        return factory(
            api_key=self._key.reveal() or "none",  # a local server needs no key, the client insists on one
            base_url=options.address,
            max_retries=0,
            timeout=self._http.Timeout(options.timeout, connect=CONNECT_SECONDS),
            default_headers=_headers(options),
            default_query={name: value.reveal() for name, value in options.query.items()},
            http_client=wrapper(**pool),
        )


def _headers(options: EndpointOptions) -> dict[str, str]:
    basic = {"Authorization": options.basic.reveal()} if options.basic else {}
    return basic | {name: value.reveal() for name, value in options.headers.items()}


def open_transport(options: EndpointOptions, key: Secret) -> Transport:
    """Return the transport that the options ask for. Raises `MissingExtraError` when it is not installed."""
    from everyclaim.models.chat.transport import DirectTransport

    return SdkTransport(options, key) if options.transport == "sdk" else DirectTransport(options, key)
