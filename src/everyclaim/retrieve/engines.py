"""Web search engines: how each is asked, and how its answers are read. Pure; `web` does the talking.

| engine | asked by | key |
| --- | --- | --- |
| `serper` | POST google.serper.dev/search | `SERPER_API_KEY` |
| `tavily` | POST api.tavily.com/search | `TAVILY_API_KEY` |
| `brave` | GET api.search.brave.com/res/v1/web/search | `BRAVE_API_KEY` |
| `searxng` | GET of an instance's `/search?format=json` | none |
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from everyclaim.core.errors import JudgeError

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_LONGEST_QUERY = 2000  # characters; longer ones are refused or cut by every engine
_BRAVE_CHARACTERS, _BRAVE_WORDS = 400, 50


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
