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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlencode

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError, MissingExtraError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, read
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Passage, Usage
from everyclaim.models import Cached, Limited, Patience, Rates, ReplyCache, Retrying
from everyclaim.models.chat.links import Call, Link
from everyclaim.models.chat.options import MAX_REPLY_MB, EndpointOptions, checked_address, without_password
from everyclaim.models.chat.providers import Secret, find_key
from everyclaim.models.chat.transport import RejectedError, Transport, encode
from everyclaim.retrieve.sources import passage_id

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_LONGEST_QUERY = 2000  # characters; longer ones are refused or cut by every engine
_BRAVE_CHARACTERS, _BRAVE_WORDS = 400, 50
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


# ---- engines: how each is asked, and how its answers are read


class Hit(NamedTuple):
    """One search result."""

    url: str
    title: str
    text: str


class SearchRequest(NamedTuple):
    """One request: its path with the query string, and the JSON body of a POST."""

    path: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of search engine. `per_minute` and `together` are what it is asked at most unless someone says more."""

    name: str
    home: str
    header: str  # that carries the key; "authorization" as a bearer token; empty: no key
    per_minute: float
    together: int
    ask: Callable[[str, int], SearchRequest]
    read: Callable[[Mapping[str, Any]], Iterator[Hit]]

    @property
    def method(self) -> Literal["GET", "POST"]:
        """How it is asked."""
        return "GET" if self.ask("q", 1).body is None else "POST"


def hits(engine: Engine, payload: Mapping[str, Any], k: int) -> list[Hit]:
    """Return the first `k` results of an answer that hold text. Raises `JudgeError` for an answer of another form."""
    found = (Hit(hit.url, _text(hit.title), _text(hit.text)) for hit in engine.read(payload))
    return [hit for hit in found if hit.text or hit.title][:k]


def _ask_serper(query: str, k: int) -> SearchRequest:
    return SearchRequest("/search", {"q": query[:_LONGEST_QUERY], "num": k})


def _read_serper(payload: Mapping[str, Any]) -> Iterator[Hit]:
    box = payload.get("answerBox")
    if isinstance(box, Mapping) and (said := box.get("answer") or box.get("snippet")):
        yield Hit(_of(box, "link"), _of(box, "title"), str(said))
    graph = payload.get("knowledgeGraph")
    if isinstance(graph, Mapping) and graph.get("description"):
        url = _of(graph, "descriptionLink") or _of(graph, "website")
        yield Hit(url, _of(graph, "title"), _of(graph, "description"))
    for row in _rows(payload, "organic", known=("searchParameters", "answerBox", "knowledgeGraph")):
        yield Hit(_of(row, "link"), _of(row, "title"), _of(row, "snippet"))


def _ask_tavily(query: str, k: int) -> SearchRequest:
    return SearchRequest("/search", {"query": query[:_BRAVE_CHARACTERS], "max_results": k, "search_depth": "basic"})


def _read_tavily(payload: Mapping[str, Any]) -> Iterator[Hit]:
    for row in _rows(payload, "results"):
        yield Hit(_of(row, "url"), _of(row, "title"), _of(row, "content"))


def _ask_brave(query: str, k: int) -> SearchRequest:
    short = " ".join(query.split()[:_BRAVE_WORDS])[:_BRAVE_CHARACTERS]
    return SearchRequest("/res/v1/web/search?" + _encoded({"q": short, "count": str(min(k, 20))}))


def _read_brave(payload: Mapping[str, Any]) -> Iterator[Hit]:
    web = payload.get("web")  # left out where nothing was found
    if web is None and ("query" in payload or "type" in payload):
        return
    for row in _rows(web if isinstance(web, Mapping) else {}, "results"):
        more = row.get("extra_snippets")
        texts = [_of(row, "description"), *(str(text) for text in (more if isinstance(more, list) else []))]
        yield Hit(_of(row, "url"), _of(row, "title"), " … ".join(text for text in texts if text))


def _ask_searxng(query: str, k: int) -> SearchRequest:
    del k  # an instance gives a page
    return SearchRequest("/search?" + _encoded({"q": query[:_LONGEST_QUERY], "format": "json"}))


def _read_searxng(payload: Mapping[str, Any]) -> Iterator[Hit]:
    rows = _rows(payload, "results")
    failed = payload.get("unresponsive_engines")
    if not rows and failed:
        raise JudgeError("overloaded", f"none of the instance's engines answered: {str(failed)[:200]}")
    for row in rows:
        yield Hit(_of(row, "url"), _of(row, "title"), _of(row, "content"))


ENGINES: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("serper", "https://google.serper.dev", "x-api-key", 300, 8, _ask_serper, _read_serper),
        Engine("tavily", "https://api.tavily.com", "authorization", 100, 8, _ask_tavily, _read_tavily),
        Engine("brave", "https://api.search.brave.com", "x-subscription-token", 60, 1, _ask_brave, _read_brave),
        Engine("searxng", "", "", 60, 2, _ask_searxng, _read_searxng),
    )
}


def _encoded(values: Mapping[str, str]) -> str:
    return urlencode(values, errors="replace")


def _rows(payload: Mapping[str, Any], name: str, known: tuple[str, ...] = ()) -> list[Mapping[str, Any]]:
    """Return the list of results; none where the engine leaves it out and something it always sends is there."""
    rows = payload.get(name)
    if rows is None and any(key in payload for key in known):
        return []
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise JudgeError("bad_response", f"the answer has no list of results under {name!r}")
    return rows


def _of(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _text(marked: str) -> str:
    """Take out the marks that engines put around words they found."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split())
