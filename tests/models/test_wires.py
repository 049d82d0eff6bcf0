"""What is sent over each wire format, and what is read from it."""

import json

import pytest
from chatting import SCHEMA, WIRES, ask

from everyclaim.core.protocols import Message
from everyclaim.core.types import Usage
from everyclaim.testing import JudgeServer, Reply

TURNS = [
    Message("system", "Judge strictly.", cache=True),
    Message("user", "Passage {0} %s \\ \x00 </s> \u202e شيء", cache=True),
    Message("assistant", "Noted."),
    Message("user", "Is it?"),
]


@pytest.mark.parametrize("endpoint", WIRES)
def test_every_character_arrives(endpoint: str) -> None:
    """Braces, percent signs, NUL and right-to-left marks are data; roles and order stay; surrogates keep their length."""
    with JudgeServer('{"ok": true}') as server:
        ask(server, endpoint, messages=TURNS)
        got = server.requests[0].messages
        ask(server, endpoint, messages=[Message("user", "a\ud800b\udfffc")])
        assert server.requests[1].text == "a\ufffdb\ufffdc"
    assert [(m.role, m.content) for m in got] == [(m.role, m.content) for m in TURNS]


@pytest.mark.parametrize("endpoint", WIRES)
def test_the_schema_is_asked_for_strictly(endpoint: str) -> None:
    """In the place each format has for it."""
    with JudgeServer('{"ok": true}') as server:
        ask(server, endpoint)
        sent = server.requests[0].body
    places = {
        "chat": sent.get("response_format", {}).get("json_schema", {}),
        "messages": sent.get("output_config", {}).get("format", {}),
    }
    asked = places[endpoint]
    assert asked["schema"] == {key: value for key, value in SCHEMA.items() if key != "title"}  # it is the name
    assert asked.get("strict", True) is True


@pytest.mark.parametrize("endpoint", WIRES)
@pytest.mark.parametrize("structured", ["tool", "plain"])
def test_the_other_ways_to_json_give_the_same_content(endpoint: str, structured: str) -> None:
    """A tool's arguments are the content; plain words hold the whole schema."""
    with JudgeServer('{"ok": true}') as server:
        reply = ask(server, endpoint, structured=structured, messages=TURNS)
        request = server.requests[0]
    assert json.loads(reply.content) == {"ok": True}
    assert request.mode == structured
    if structured == "plain":
        assert json.dumps(SCHEMA) in request.messages[0].content
        assert request.messages[0].content.startswith("Judge strictly.")


def test_cache_marks_are_set_where_the_provider_has_them() -> None:
    """On the messages that say so, at most four; the other formats know no marks."""
    many = [Message("user", f"part {n}", cache=True) for n in range(6)]
    with JudgeServer('{"ok": true}') as server:
        ask(server, "messages", messages=[Message("system", "rubric", cache=True), *many])
        marks = [m.cache for m in server.requests[0].messages]
        ask(server, "chat", messages=many)
        assert "cache_control" not in json.dumps(server.requests[1].body)
    assert marks == [False, False, False, True, True, True, True]


@pytest.mark.parametrize("endpoint", WIRES)
def test_usage_counts_what_was_sent_and_what_came_from_the_prefix_cache(endpoint: str) -> None:
    """Prompt tokens are all of them in every format, though Anthropic reports them in three parts."""
    wrote = 50 if endpoint == "messages" else 0
    step = Reply(
        '{"ok": true}', prompt_tokens=1000, completion_tokens=20, cache_read_tokens=600, cache_write_tokens=wrote
    )
    with JudgeServer(step) as server:
        assert ask(server, endpoint).usage == Usage(1, 1000, 20, 0, None, 600, wrote)


@pytest.mark.parametrize("endpoint", WIRES)
def test_other_headers_query_and_body_fields_are_sent(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For gateways and Azure-style endpoints; a value may come from the environment."""
    monkeypatch.setenv("TEAM", "blue")
    options = {"header.X-Team": "$TEAM", "query.api-version": "2026-01", "body.top_k": "5"}
    with JudgeServer('{"ok": true}') as server:
        ask(server, endpoint, **options)
        request = server.requests[0]
    assert (request.headers["x-team"], request.body["top_k"]) == ("blue", 5)
    assert request.path.endswith("?api-version=2026-01")


# What stands between


@pytest.fixture
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("_no_proxies")
@pytest.mark.parametrize("endpoint", ["chat", "messages"])
def test_calls_go_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """It gets the whole address, and its answer is the reply; `NO_PROXY` keeps a server of one's own out of it."""
    with JudgeServer('{"ok": true}') as proxy, JudgeServer('{"ok": false}') as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        assert ask("http://judge.invalid/v1", endpoint).content == '{"ok": true}'  # no name server knows it
        assert proxy.requests[0].path.startswith("http://judge.invalid/v1/")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert ask(server, endpoint).content == '{"ok": false}'
        assert (proxy.calls, server.calls) == (1, 1)
