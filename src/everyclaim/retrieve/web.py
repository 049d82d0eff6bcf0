"""A web search engine as a `KnowledgeSource`: retried, kept to a polite rate, and asked nothing twice.

Inside, a search is a call like one to a chat model (a query goes in, results come out as JSON), so that retries, rates
and the cache are the very wrappers that judges have. Keys are found like theirs, and are never shown or stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated

from everyclaim.core.errors import BudgetExceeded, ConfigError, MissingExtraError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, read
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Passage, Usage
from everyclaim.models import Cached, Limited, Patience, Rates, ReplyCache, Retrying
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.error_mapping import RejectedError
from everyclaim.models.chat.keys import Secret, find_key
from everyclaim.models.chat.options import MAX_REPLY_MB, EndpointOptions, checked_address, without_password
from everyclaim.models.chat.transport import Transport, encode
from everyclaim.retrieve.engines import ENGINES, Engine, Hit, hits
from everyclaim.retrieve.functions import passage_id

_READER = "search-1"  # changes with how answers are read, and so do the keys of the cache
_Positive = Annotated[float, Range(above=0, most=1_000_000)]
_OUT_OF_CREDIT = {"serper": ("not enough credits",), "tavily": ("exceeds your plan", "usage limit", "pay-as-you-go")}


@dataclass(frozen=True, slots=True)
class _WebOptions:
    base_url: Annotated[str, Opt("another address, such as a proxy")] = ""
    key_env: Annotated[str, Opt("environment variable with the key")] = ""
    per_minute: Annotated[_Positive | None, Opt("maximum number of requests")] = None
    concurrency: Annotated[Annotated[int, Range(1, 1_000_000)] | None, Opt("maximum number of parallel requests")] = (
        None
    )
    timeout: Annotated[_Positive, Opt("time limit for one answer in seconds")] = 20.0
    max_reply_mb: Annotated[_Positive, Opt("maximum size of one answer in MB, decompressed")] = MAX_REPLY_MB


class WebSearch:
    """Search the web for passages: a result's address is its id, what the engine quotes of the page its text.

    Built by `from_spec`. Queries are sent to the engine, and with them words of the answers under test.
    """

    def __init__(self, spec: str, identity: str, link: Link) -> None:
        self._spec = spec
        self._identity = identity
        self._link = link

    @property
    def spec(self) -> str:
        """The engine and its options, without the key."""
        return self._spec

    async def search(self, query: str, k: int, *, topic: str | None = None) -> list[Passage]:
        """Return at most `k` results, best first.

        Raises `JudgeError` when the engine gives no usable answer, `ConfigError` for a refused key or a `topic`,
        and `BudgetExceeded` when the account is used up.
        """
        if topic is not None:
            raise ConfigError(f"{self._spec} searches the whole web and cannot search within a topic")
        if not query.strip():
            return []
        reply = await self._link.ask(Call(self._identity, [Message("user", query)], tag=f"k={k}"))
        return _passages([Hit(*row) for row in json.loads(reply.content)])


def from_spec(spec: Spec, *, cache: ReplyCache | None = None, patience: Patience | None = None) -> WebSearch:
    """Build ``serper``, ``tavily``, ``brave`` or ``searxng:URL``.

    Answers are kept in `cache`. Raises `ConfigError` for a wrong option or a missing key, `MissingExtraError` without
    aiohttp.
    """
    engine = ENGINES[spec.name]
    said = read(spec, _WebOptions)
    for library in ("aiohttp", "aiolimiter", "stamina"):
        if find_spec(library) is None:
            raise MissingExtraError(f"searching by {spec.name}", "search")
    address = _address(spec, engine, said)
    moved = {"base_url": without_password(address)} if "base_url" in spec.options else {}
    shown = Spec(spec.name, without_password(spec.argument), moved)
    identity = f"{_READER} {engine.name} {address}"
    endpoint = _SearchEndpoint(engine, _options(said, engine, address))
    rates = Rates(
        requests_per_minute=said.per_minute or engine.per_minute, concurrency=said.concurrency or engine.together
    )
    link = Retrying(Limited(endpoint, rates), patience or Patience(attempts=4, seconds=120.0))
    return WebSearch(str(shown), identity, Cached(link, cache))


class _SearchEndpoint:
    """One engine at one address."""

    def __init__(self, engine: Engine, options: EndpointOptions) -> None:
        self._engine = engine
        self._options = options
        self._transport = Transport(options, Secret(""))

    async def ask(self, call: Call) -> ChatReply:
        """Search for the one message, for as many results as the tag says (``k=3``)."""
        k = int(call.tag.removeprefix("k="))
        path, body = self._engine.ask(call.messages[0].content, k)
        try:
            payload = await self._transport.exchange(self._engine.method, path, encode(body) if body else b"")
        except RejectedError as error:
            if any(words in error.text for words in _OUT_OF_CREDIT.get(self._engine.name, ())):
                raise BudgetExceeded(
                    f"the account at {self._options.where} has no credit left: {error.message}"
                ) from None
            raise
        except ConfigError as error:
            if self._engine.name == "searxng" and "(403)" in str(error):
                raise ConfigError(
                    f"the SearXNG instance {self._options.where} rejects JSON (403): add 'json' to "
                    "search.formats in its settings.yml"
                ) from None
            raise
        found = hits(self._engine, payload, k)
        return ChatReply(json.dumps(found), "stop", self._engine.name, Usage())


def _options(said: _WebOptions, engine: Engine, address: str) -> EndpointOptions:
    headers: dict[str, Secret] = {}
    if engine.header:
        key = find_key(engine.name, variable=said.key_env)
        bearer = engine.header == "authorization"
        headers[engine.header] = Secret(f"Bearer {key.reveal()}") if bearer else key
    return EndpointOptions(
        provider=engine.name,
        model="",
        base_url=address,
        api="chat",
        spec=engine.name,
        identity=engine.name,
        extra="search",
        timeout=said.timeout,
        max_reply_mb=said.max_reply_mb,
        headers=headers,
    )


def _address(spec: Spec, engine: Engine, said: _WebOptions) -> str:
    given = said.base_url or (spec.argument if not engine.home else "") or engine.home
    if engine.home and spec.argument:
        raise ConfigError(f"{spec.name!r} takes no argument, got {spec.argument!r}; write {spec.name!r}")
    if not given:
        raise ConfigError(f"{spec.name!r} needs the address of an instance, as in '{spec.name}:https://search.example'")
    return checked_address(given)


def _passages(found: Sequence[Hit]) -> list[Passage]:
    seen: Counter[str] = Counter()
    passages = []
    for hit in found:
        name = hit.url or passage_id(hit.text)
        seen[name] += 1
        unique = name if seen[name] == 1 else f"{name}#{seen[name]}"
        passages.append(Passage(unique, hit.text or hit.title, hit.title if hit.text else ""))
    return passages
