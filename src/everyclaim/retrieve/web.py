"""A web search engine as a `KnowledgeSource`: retried, kept to a polite rate, and asked nothing twice.

| engine | asked by | key |
| --- | --- | --- |
| `serper` | POST google.serper.dev/search | `SERPER_API_KEY` |
| `tavily` | POST api.tavily.com/search | `TAVILY_API_KEY` |
| `brave` | GET api.search.brave.com/res/v1/web/search | `BRAVE_API_KEY` |
| `searxng` | GET of an instance's `/search?format=json` | none |

Inside, a search is a call like one to a chat model (a query goes in, results come out as JSON), so that retries, rates
and the cache are the very wrappers that judges have. Keys are found like theirs, and are never shown or stored.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.core.kinds import Range
from everyclaim.core.options import read
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Passage, Usage
from everyclaim.models.chat.links import Cached, Call, Limited, Link, Patience, Rates, Retrying
from everyclaim.models.chat.options import MAX_REPLY_MB, ChatOptions, EndpointOptions, checked_address, without_password
from everyclaim.models.chat.providers import Secret, find_key
from everyclaim.models.chat.transport import RejectedError, Transport, encode
from everyclaim.models.files import ReplyCache
from everyclaim.retrieve.sources import passage_id

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_READER = "search-1"  # changes with how answers are read, and so do the keys of the cache
_Positive = Annotated[float, Range(above=0, most=1_000_000)]
_OUT_OF_CREDIT = re.compile("not enough credits|exceeds your plan|usage limit|pay-as-you-go")


@dataclass(frozen=True, slots=True)
class _WebOptions:
    base_url: str = ""  # another address, such as a proxy
    key_env: str = ""  # environment variable with the key
    per_minute: _Positive | None = None  # requests
    concurrency: Annotated[int, Range(1, 1_000_000)] | None = None
    timeout: _Positive = 20.0  # seconds for one answer
    max_reply_mb: _Positive = MAX_REPLY_MB  # of one answer, decompressed


class WebSearch:
    """Search the web for passages: a result's address is its id, what the engine quotes of the page its text.

    Built by `from_spec`. Queries are sent to the engine, and with them words of the answers under test.
    """

    def __init__(self, spec: str, identity: str, link: Link) -> None:
        self.spec = spec  # the engine and its options, without the key
        self._identity = identity
        self._link = link

    async def search(self, query: str, k: int, *, topic: str | None = None) -> list[Passage]:
        """Return at most `k` results, best first.

        Raises `JudgeError` when the engine gives no usable answer, `ConfigError` for a refused key or a `topic`,
        and `BudgetExceeded` when the account is used up.
        """
        if topic is not None:
            raise ConfigError(f"{self.spec} searches the whole web and cannot search within a topic")
        if not query.strip():
            return []
        reply = await self._link.ask(Call(self._identity, [Message("user", query)], tag=f"k={k}"))
        hits = json.loads(reply.content)
        return [Passage(url or passage_id(text), text or title, title if text else "") for url, title, text in hits]


def from_spec(spec: Spec, *, cache: ReplyCache | None = None, patience: Patience | None = None) -> WebSearch:
    """Build ``serper``, ``tavily``, ``brave`` or ``searxng:URL``.

    Answers are kept in `cache`. Raises `ConfigError` for a wrong option or a missing key, `MissingExtraError` without
    aiohttp.
    """
    engine = ENGINES[spec.name]
    said = read(spec, _WebOptions)
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
        engine, k = self._engine, int(call.tag.removeprefix("k="))
        words = " ".join(call.messages[0].content.split()[: engine.words])[: engine.characters]
        fields = {engine.query: words, **({engine.count: min(k, engine.most)} if engine.count else {}), **engine.fixed}
        try:
            if engine.method == "POST":
                payload = await self._transport.exchange("POST", engine.path, encode(fields))
            else:
                query = urlencode(fields, errors="replace")
                payload = await self._transport.exchange("GET", f"{engine.path}?{query}")
        except RejectedError as error:
            if _OUT_OF_CREDIT.search(error.text):
                told = f"the account at {self._options.where} has no credit left: {error.message}"
                raise BudgetExceeded(told) from None
            raise
        except ConfigError as error:
            if engine.name == "searxng" and "(403)" in str(error):
                raise ConfigError(
                    f"the SearXNG instance {self._options.where} rejects JSON (403): add 'json' to "
                    "search.formats in its settings.yml"
                ) from None
            raise
        found = ((url, _text(title), _text(text)) for url, title, text in _rows(engine, payload))
        hits = [hit for hit in found if hit[1] or hit[2]][:k]
        return ChatReply(json.dumps(hits), "stop", engine.name, Usage())


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
        said=ChatOptions(timeout=said.timeout, max_reply_mb=said.max_reply_mb),
        headers=headers,
    )


def _address(spec: Spec, engine: Engine, said: _WebOptions) -> str:
    given = said.base_url or (spec.argument if not engine.home else "") or engine.home
    if engine.home and spec.argument:
        raise ConfigError(f"{spec.name!r} takes no argument, got {spec.argument!r}; write {spec.name!r}")
    if not given:
        raise ConfigError(f"{spec.name!r} needs the address of an instance, as in '{spec.name}:https://search.example'")
    return checked_address(given)


# ---- engines: how each is asked, and how its answers are read


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of search engine. `per_minute` and `together` are what it is asked at most unless someone says more."""

    name: str
    home: str
    header: str  # that carries the key; "authorization" as a bearer token; empty: no key
    per_minute: float
    together: int
    method: Literal["GET", "POST"]
    path: str
    query: str  # fields of a request
    count: str  # empty: an instance gives a page
    results: str  # fields of an answer: the list, and of each result its address and its text
    url: str
    text: str
    fixed: Mapping[str, str] = field(default_factory=dict)  # other fields of a request
    characters: int = 2000  # of a query, at most
    words: int = 2000
    most: int = 100  # results


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine(
            "serper", "https://google.serper.dev", "x-api-key", 300, 8,
            "POST", "/search", "q", "num", "organic", "link", "snippet",
        ),
        Engine(
            "tavily", "https://api.tavily.com", "authorization", 100, 8,
            "POST", "/search", "query", "max_results", "results", "url", "content", {"search_depth": "basic"}, 400,
        ),
        Engine(
            "brave", "https://api.search.brave.com", "x-subscription-token", 60, 1,
            "GET", "/res/v1/web/search", "q", "count", "results", "url", "description", {}, 400, 50, 20,
        ),
        Engine("searxng", "", "", 60, 2, "GET", "/search", "q", "", "results", "url", "content", {"format": "json"}),
    )
}  # fmt: skip


def _rows(engine: Engine, payload: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield address, title and text of every result. Raises `JudgeError` for an answer of another form."""
    if engine.name == "serper":
        for box, link, says in (("answerBox", "link", "answer"), ("answerBox", "link", "snippet"),
                                ("knowledgeGraph", "descriptionLink", "description")):  # fmt: skip
            row = payload.get(box)
            if isinstance(row, Mapping) and row.get(says):
                yield _of(row, link), _of(row, "title"), str(row[says])
    if engine.name == "searxng" and not payload.get("results") and (failed := payload.get("unresponsive_engines")):
        raise JudgeError("overloaded", f"none of the instance's engines answered: {str(failed)[:200]}")
    place = payload.get("web", {"results": []} if "query" in payload else {}) if engine.name == "brave" else payload
    usual: list[Any] | None = [] if engine.name == "serper" and "searchParameters" in payload else None
    rows = place.get(engine.results, usual) if isinstance(place, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise JudgeError("bad_response", f"the answer has no list of results under {engine.results!r}")
    for row in rows:
        more = row.get("extra_snippets")  # of brave
        texts = [_of(row, engine.text), *(str(text) for text in (more if isinstance(more, list) else []))]
        yield _of(row, engine.url), _of(row, "title"), " … ".join(text for text in texts if text)


def _of(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _text(marked: str) -> str:
    """Take out the marks that engines put around words they found."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split())
