"""One model at one endpoint, the last link of a chain, and what it turned out to take.

How an endpoint gives JSON, how the output limit is called and what it rejects, nobody can know beforehand for every
compatible server and every reasoning model. So a rejection is read, the request is put differently, and what worked is
remembered by the endpoint that found it out.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.plaintext import storable
from everyclaim.core.protocols import ChatReply
from everyclaim.core.spec import Spec
from everyclaim.core.types import Usage
from everyclaim.models.chat.links import Call
from everyclaim.models.chat.options import SAMPLING, EndpointOptions, Mode, read_options
from everyclaim.models.chat.providers import find_provider, without_key
from everyclaim.models.chat.transport import RejectedError, Transport
from everyclaim.models.chat.wires import WIRES, Capabilities, ChatRequest

_SOFTER: dict[Mode, Mode] = {"schema": "tool", "tool": "plain"}
_CALLED = {"reasoning_effort": "effort", "thinking_tokens": "thinking", "top_logprobs": "logprobs"}  # in rejections
_THINKING = re.compile(r"(?:o\d|gpt-5)(?:-|$)")  # of OpenAI; none takes a temperature, which would cost a request
_UNKNOWN = re.compile(r"not support|unsupported|unknown|unrecogni|unexpected|extra|not permitted|not allowed|instead")
_STRUCTURED = re.compile(
    r"response_format|json_schema|schema|output_config|output_format|tool|function|guided|grammar|structured|strict"
)


def first_capabilities(options: EndpointOptions) -> Capabilities:
    """Return what is tried first."""
    limit = find_provider(options.provider).output_limit if options.is_home else "max_tokens"
    dropped = {"temperature"} if options.is_home and _THINKING.match(options.model) else set()
    return Capabilities(
        options.said.structured or "schema", limit, frozenset(dropped), confirmed=options.said.structured is not None
    )


def next_capabilities(
    tried: Capabilities, error: RejectedError, sent: Collection[str], *, structured: bool
) -> Capabilities | None:
    """Return another way to put a request that was rejected, None when there is none left.

    `sent` are the fields of the body; `structured` says whether a schema was asked for.
    """
    text = f"{error.param} {error.text}"
    if tried.limit in sent and tried.limit in text and _UNKNOWN.search(text):
        other = "max_tokens" if tried.limit == "max_completion_tokens" else "max_completion_tokens"
        if f"limit:{other}" not in tried.dropped:  # tried both already
            return replace(tried, limit=other, dropped=tried.dropped | {f"limit:{tried.limit}"})
    for name in SAMPLING:
        short = _CALLED.get(name, name)
        if name not in tried.dropped and short in text and (name in sent or short in sent or short == "effort"):
            return replace(tried, dropped=tried.dropped | {name})
    softer = _SOFTER.get(tried.mode)
    if structured and softer and (_STRUCTURED.search(text) or not tried.confirmed):
        return replace(tried, mode=softer, confirmed=False)
    return None


_log = logging.getLogger(__name__)
Post = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]  # path, body → the object that is answered
MAX_ATTEMPTS = 8  # ways to put one request


class Endpoint:
    """A model at an endpoint. It sends, and learns what the endpoint takes; retries and caches are wrappers."""

    def __init__(self, options: EndpointOptions, transport: Transport) -> None:
        self.options = options
        self.spec = options.spec  # without secrets
        self.transport = transport
        self._wire = WIRES[options.api]
        # The Anthropic address may be given with or without the version at its end.
        known = options.api == "messages" and options.base_url.endswith("/v1")
        self.path = self._wire.path.removeprefix("/v1") if known else self._wire.path
        self._capabilities: Capabilities = first_capabilities(options)  # learned
        self.before_another: Callable[[], None] = lambda: None  # asked before a request is put in another way

    async def ask(self, call: Call) -> ChatReply:
        """Ask once, again only where the endpoint did not take the way it was put. `usage.calls` counts requests."""
        return await self.ask_by(self.transport.post, call)

    async def ask_by(self, post: Post, call: Call) -> ChatReply:
        """Ask by a way of posting other than the endpoint's own."""
        tried = self._capabilities
        messages = [replace(one, content=storable(one.content)) for one in call.messages]
        request = ChatRequest(self.options, tried, messages, call.schema)
        spent = Usage()
        first: RejectedError | None = None
        for attempt in range(MAX_ATTEMPTS):
            if attempt:
                self.before_another()
            body = self._wire.write(request._replace(capabilities=tried))
            try:
                reply = self._wire.read(await post(self.path, body))
            except RejectedError as error:
                first = first or error
                spent += Usage(calls=1)
                following = next_capabilities(tried, error, body.keys(), structured=call.schema is not None)
                if following is None:
                    break
                tried = following
            except JudgeError as error:
                error.usage = spent + (error.usage or Usage(calls=1))
                raise
            else:
                self._remember(tried, structured=call.schema is not None)
                content = without_key(reply.content, self.transport.secrets[0])
                forks = reply.forks if content is reply.content else None  # they point into the other text
                return replace(reply, content=content, usage=spent + reply.usage, forks=forks)
        assert first is not None  # the loop ends early only by a rejection
        raise JudgeError("bad_request", first.message, usage=spent) from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.transport.aclose()

    def _remember(self, worked: Capabilities, *, structured: bool) -> None:
        if structured and not worked.confirmed:
            worked = replace(worked, confirmed=True)
        before, self._capabilities = self._capabilities, worked
        for name in sorted(worked.dropped - before.dropped):
            if not name.startswith("limit:"):
                _log.warning("%s does not support %s; it is no longer sent", self.spec, name)
        if worked.mode != before.mode:
            _log.info("%s returns JSON by %s, not by %s", self.spec, worked.mode, before.mode)


def from_spec(spec: Spec | str, *, key: str | None = None) -> Endpoint:
    """Build the endpoint that a spec such as ``openai:…`` names.

    Raises `ConfigError` for an option that is wrong and `MissingExtraError` for a part that is not installed.
    """
    options = read_options(spec)
    return Endpoint(options, Transport(options, options.find_key(key)))
