"""Search engines, against a real server on loopback that answers in each one's format, with faults."""

import asyncio
import json
import sys
from importlib.util import find_spec
from urllib.parse import parse_qs, urlsplit

import pytest

from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError, MissingExtraError
from everyclaim.core.spec import Spec
from everyclaim.engine.background import wait
from everyclaim.models.chat.links import Patience
from everyclaim.models.files import ReplyCache
from everyclaim.retrieve.web import from_spec
from everyclaim.testing import no_sleep
from loopback_server import Received, Reply, serving

pytestmark = pytest.mark.skipif(find_spec("aiohttp") is None, reason="needs aiohttp")

KEY = "test-key-0123456789"
HITS = [("https://a.example/1", "Rye", "Rye bread is <dark>."), ("https://b.example/2", "Oats", "Oats & water.")]
ANSWERS = {
    "serper": {
        "searchParameters": {"q": "x"},
        "answerBox": {"title": "Box", "answer": "Dark.", "link": "https://box.example"},
        "organic": [{"link": u, "title": t, "snippet": s, "position": 1} for u, t, s in HITS],
    },
    "tavily": {"query": "x", "results": [{"url": u, "title": t, "content": s, "score": 0.9} for u, t, s in HITS]},
    "brave": {
        "type": "search",
        "query": {"original": "x"},
        "web": {
            "results": [
                {"url": u, "title": f"<strong>{t}</strong>", "description": s.replace("&", "&amp;")} for u, t, s in HITS
            ]
        },
    },
    "searxng": {"query": "x", "results": [{"url": u, "title": t, "content": s} for u, t, s in HITS]},
}
ENGINES = sorted(ANSWERS)


class Web:
    """A server: `steps` are answers in order, the last repeated."""

    def __init__(self) -> None:
        self.steps: list[Reply] = []
        self.seen: list[Received] = []
        self.url = ""

    def answer(self, request: Received) -> Reply:
        self.seen.append(request)
        return self.steps[min(len(self.seen), len(self.steps)) - 1]

    def answers(self, *steps: object) -> None:
        """An answer is a body, or a status, a body, and headers."""
        made = [step if isinstance(step, tuple) else (200, step, {}) for step in steps]
        self.steps = [Reply(s, b if isinstance(b, bytes) else json.dumps(b).encode(), h) for s, b, h in made]


@pytest.fixture
def web():
    made = Web()
    with serving(made.answer) as made.url, no_sleep():
        yield made


@pytest.fixture(autouse=True)
def _keys(monkeypatch, tmp_path):
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(tmp_path / "no-keys.toml"))
    for engine in ("SERPER", "TAVILY", "BRAVE"):
        monkeypatch.setenv(f"{engine}_API_KEY", KEY)


def spec(engine: str, web: Web, **options: str) -> Spec:
    more = {"timeout": "5", "per_minute": "60000", **options}
    return Spec(engine, web.url, more) if engine == "searxng" else Spec(engine, "", {"base_url": web.url, **more})


def search(engine, web, query="is rye dark?", k=3, *, cache=None, **options):
    source = from_spec(spec(engine, web, **options), cache=cache, patience=Patience(attempts=3))
    return wait(source.search(query, k))


@pytest.mark.parametrize("engine", ENGINES)
def test_results_become_passages(engine, web):
    """The address is the id, marks around words and escapes are gone, the order and the count are as asked."""
    web.answers(ANSWERS[engine])
    found = search(engine, web)
    expected = [("https://a.example/1", "Rye", "Rye bread is ."), ("https://b.example/2", "Oats", "Oats & water.")]
    if engine == "serper":
        expected.insert(0, ("https://box.example", "Box", "Dark."))
    assert [(p.id, p.title, p.text) for p in found] == expected
    assert len(search(engine, web, k=1)) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_is_asked_its_own_way(engine, web):
    """Method, path, query and key, as its documentation says."""
    web.answers(ANSWERS[engine])
    search(engine, web, 'what & "why"? ü', 2)
    path, headers, body, method = web.seen[0]
    if engine in {"serper", "tavily"}:
        sent = json.loads(body)
        assert (method, path) == ("POST", "/search")
        assert sent.get("q", sent.get("query")) == 'what & "why"? ü'
        assert sent.get("num", sent.get("max_results")) == 2
    else:
        sent = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        assert (method, body, sent["q"]) == ("GET", b"", 'what & "why"? ü')
        assert sent.get("count", "2") == "2"
        assert urlsplit(path).path == ("/search" if engine == "searxng" else "/res/v1/web/search")
    held = {"serper": "x-api-key", "brave": "x-subscription-token", "tavily": "authorization"}.get(engine)
    assert (headers[held].removeprefix("Bearer ") == KEY) if held else KEY not in str(headers)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ((429, b"", {}), "rate_limited"),
        ((502, b"", {}), "server_error"),
        ((200, {"hello": 1}, {}), "bad_response"),
        ((200, {"results": 5, "organic": "x", "web": {"results": [1]}}, {}), "bad_response"),
    ],
)
def test_what_does_not_pass_fails_the_sample(engine, fault, code, web):
    """After the attempts that were allowed, with a code; never as 'nothing found'."""
    web.answers(fault)
    with pytest.raises(JudgeError) as caught:
        search(engine, web)
    assert caught.value.code == code
    assert len(web.seen) == 3


@pytest.mark.parametrize("engine", ["serper", "tavily", "brave"])
def test_a_refused_key_stops_the_run_and_is_not_shown(engine, web):
    """Not one sample after the other; and no message repeats the key."""
    web.answers((401, {"message": f"bad key {KEY}"}, {}))
    with pytest.raises(ConfigError, match="rejects the key") as caught:
        search(engine, web)
    assert KEY not in str(caught.value)
    source = from_spec(spec(engine, web))
    assert KEY not in f"{source.spec} {vars(source)!r}"
    assert len(web.seen) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_found_is_kept_by_engine_address_query_and_count(engine, web, tmp_path):
    """The same search is made once; failures are not kept."""
    cache = ReplyCache(tmp_path / "replies.db")
    web.answers((500, b"", {}), (500, b"", {}), (500, b"", {}), ANSWERS[engine])
    with pytest.raises(JudgeError):
        search(engine, web, cache=cache)
    first = search(engine, web, cache=cache)
    assert search(engine, web, cache=cache) == first
    assert len(web.seen) == 4
    search(engine, web, "another", cache=cache)
    search(engine, web, k=2, cache=cache)
    assert len(web.seen) == 6
    cache.close()
    assert KEY.encode() not in (tmp_path / "replies.db").read_bytes()


def test_wrong_specs_are_refused(monkeypatch, web):
    """Each with what to write instead."""
    for bad, says in [
        ("serper:x", "takes no argument"),
        ("searxng", "needs the address of an instance"),
        ("searxng:nowhere", "is not an address"),
        ("serper?speed=1", "unknown option 'speed'"),
        (
            "brave?per_minute=fast",
            "per_minute of 'brave' must be a number above 0 and of at most 1,000,000, got 'fast'",
        ),
        ("brave?concurrency=0.5", "concurrency of 'brave' must be a whole number from 1 to 1,000,000, got"),
        ("serper?key_env=MY_KEY", "MY_KEY, which is not set"),
    ]:
        with pytest.raises(ConfigError, match=says):
            from_spec(Spec.parse(bad))
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(ConfigError, match="no API key for serper: set SERPER_API_KEY"):
        from_spec(Spec.parse("serper"))
    with pytest.raises(ConfigError, match="cannot search within a topic"):
        asyncio.run(from_spec(spec("searxng", web)).search("x", 1, topic="y"))
    assert from_spec(Spec.parse("searxng:http://me:secret@h.example")).spec.count("secret") == 0
    monkeypatch.setitem(sys.modules, "aiolimiter", None)
    with pytest.raises(MissingExtraError, match=r"everyclaim\[search\]"):
        from_spec(Spec.parse("brave"))


NOTHING = {
    "serper": {"searchParameters": {"q": "x"}, "organic": []},
    "tavily": {"query": "x", "results": []},
    "brave": {"type": "search", "query": {"original": "x"}},
    "searxng": {"query": "x", "results": [], "unresponsive_engines": []},
}


@pytest.mark.parametrize("engine", ENGINES)
def test_no_results_are_no_fault(engine, web):
    """An empty list, however the engine says it."""
    web.answers(NOTHING[engine])
    assert search(engine, web) == []
    assert search(engine, web, "  ") == []
    assert len(web.seen) == 1  # a blank query is not sent


def test_an_account_without_credit_stops_the_run(web):
    """In the words of each engine."""
    web.answers((400, {"message": "Not enough credits"}, {}))
    with pytest.raises(BudgetExceeded, match="no credit left"):
        search("serper", web)
    web.answers((432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}, {}))
    with pytest.raises(BudgetExceeded, match="no credit left"):
        search("tavily", web)
