"""Keys and secret headers are sent, and are nowhere else: not in any file, line, log, page or error."""

import json
import logging
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from everyclaim.testing import (
    JudgeServer,
    Reply,
    body,
    no_sleep,
    play,
    rejected,
    truncated,
)
from everyclaim.testing.script import Fault

KEY = "sk-proj-4f9c1e77aa0b42d8"
TOKEN = "team-token-90210-mellon"
PASSWORD = "swordfish-77"
USER = 'user-"quoted"-5150'  # in a request's body; escaped in JSON
QUERY = "subscription-31337"
SECRETS = (KEY, TOKEN, PASSWORD, USER, json.dumps(USER)[1:-1], quote(USER), QUERY)
ROWS = [{"id": f"a{i}", "response": f"Kettle {i} is red.", "contexts": [f"Kettle {i} is red."]} for i in range(3)]
SAID = f"Incorrect API key provided: {KEY}; header was {TOKEN}; user was {PASSWORD}, {USER}, {quote(USER)}; {QUERY}"

FAULTS = {
    "none": None,
    "401 that quotes the key": rejected(SAID, status=401),
    "400 that quotes the key": rejected(SAID, status=400),
    "301 that quotes the key": rejected(SAID, status=301),
    "an error with 200 that quotes the key": body({"error": {"message": SAID, "code": 400}}),
    "no JSON, quoting the key": Fault(200, raw=SAID.encode(), content_type="text/plain"),
    "a reply that quotes the key": Reply(f"Bearer {KEY}"),
    "a refusal that quotes the key": Reply(f"No, {KEY}", "refusal"),
    "a cut reply that quotes the key": truncated(f"{KEY} is your key"),
    "a verdict that quotes the key": Reply(json.dumps({"sentences": [], "verdicts": [], "key": KEY})),
}
STOPS = ("301", "401")  # the set-up is wrong


def played(request):
    return play(request.messages)


@pytest.fixture
def secretive(everyclaim, monkeypatch, caplog):
    """The command line with every kind of secret there is, and every logger at its most talkative."""
    monkeypatch.delenv("EVERYCLAIM_JUDGE")
    monkeypatch.delenv("EVERYCLAIM_DECOMPOSER")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    caplog.set_level(logging.DEBUG)
    return everyclaim


def command(server, wire, *more):
    root = (server.root if wire == "anthropic" else server.base_url).replace("//", f"//me:{PASSWORD}@")
    planted = urlencode({"body.user": json.dumps(USER), "body.n": "1", "query.key": QUERY})
    options = [
        "--judge",
        f"{wire}:m?{planted}",
        "--base-url",
        root,
        "--header",
        "X-Team=$TEAM_TOKEN",
        "--header",
        f"X-Also={TOKEN}",
    ]
    return ["score", "answers.jsonl", *options, "--out", "results.jsonl", "--report", "report.json", *more]


def everywhere(desk, done, caplog):
    """Everything that was written anywhere, by name."""
    files = {str(path): path.read_bytes() for path in desk.rglob("*") if path.is_file()}
    logs = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    return files | {"stdout": done.out.encode(), "stderr": done.err.encode(), "logs": logs.encode()}


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_secret_is_written_anywhere(secretive, desk, caplog, monkeypatch, fault, wire):
    """Store, cache, results, report, both streams, tracebacks and all loggers; also when the provider repeats it."""
    monkeypatch.setenv("EVERYCLAIM_DEBUG", "1")
    with JudgeServer(FAULTS[fault] or played, api_key=None) as server, no_sleep():
        done = secretive(*command(server, wire))
    assert server.requests[0].headers["x-team"] == server.requests[0].headers["x-also"] == TOKEN
    assert server.requests[0].authorised
    written = everywhere(desk, done, caplog)
    assert any(name.endswith("replies.db") for name in written)
    assert done.code == (0 if fault == "none" else 2 if fault.startswith(STOPS) else 3), done.err
    found = [(name, secret) for name, content in written.items() for secret in SECRETS if secret.encode() in content]
    assert found == []


WORD, REST = "zanzibar", "quagmire"  # what a secret is made of; neither looks like a key
WRONG = {
    "a slash in a password": ["--base-url", f"http://me:{WORD}/{REST}@127.0.0.1:9/v1"],
    "a space in a password": ["--base-url", f"http://me:{WORD} {REST}@127.0.0.1:1/v1"],
    "a line break in a password": ["--base-url", f"http://me:{WORD}\n{REST}@127.0.0.1:1/v1"],
    "an @ in a password": ["--base-url", f"http://me:{WORD}@{REST}@127.0.0.1:1/v1"],
    "a token as the user": ["--base-url", f"http://{WORD}{REST}@127.0.0.1:1/v1"],
    "a header in another script": ["--judge", "openai:m", "--header", f"X={WORD}\u2603{REST}"],
    "a password without a scheme": ["--base-url", f"me:{WORD}{REST}@127.0.0.1:9/v1"],
    "a key in the address": ["--base-url", f"http://127.0.0.1:9/v1?key={WORD}{REST}"],
    "an address that nobody serves": ["--base-url", f"http://me:{WORD}{REST}@127.0.0.1:1/v1"],
    "an address that is said twice": [
        *("--judge", f"openai:m?base_url=http://me:{WORD}@127.0.0.1:9/v1"),
        *("--base-url", f"http://me:{REST}@127.0.0.1:9/v1"),
    ],
    "an api_key option": ["--judge", f"openai:m?api_key={WORD}{REST}"],
    "an & in a password": ["--judge", f"openai:m?base_url=http://me:{WORD}&{REST}@127.0.0.1:9/v1"],
    "a body that is no JSON": ["--judge", f"openai:m?body.user={WORD}{REST}"],
    "a header that is said twice": ["--judge", f"openai:m?header.X={WORD}", "--header", f"X={REST}"],
    "a header from no variable": ["--judge", "openai:m", "--header", f"X=${WORD}{REST}"],
    "the key as its variable": ["--judge", f"openai:m?key_env={WORD}-{REST}"],
    "a decomposer": ["--decomposer", f"openai:m?api_key={WORD}{REST}"],
    "a judge of a cascade": ["--judge", f"cascade:lexical>openai:m?2.header.X={WORD}{REST}&2.nothing=1"],
    "a panel of two providers": [
        *("--judge", f"panel:openai:a|anthropic:b?1.header.X={WORD}{REST}"),
        *("--base-url", "http://127.0.0.1:9/v1"),
    ],
    "an option of the embedded judge": ["--judge", f"embedded?api_key={WORD}{REST}"],
    "a search engine that is away": ["--metric", f"safe?search=searxng:http://me:{WORD}{REST}@127.0.0.1:1"],
    "a store's password": ["--store", f"postgresql://me:{WORD}{REST}@127.0.0.1:1/db"],
}


@pytest.mark.slow
@pytest.mark.parametrize("place", WRONG)
def test_no_error_repeats_a_secret_that_was_put_in_a_wrong_place(secretive, desk, caplog, monkeypatch, place):
    """The option is named, its value is not; in no file, stream, traceback or log, and no part of it."""
    monkeypatch.setenv("EVERYCLAIM_DEBUG", "1")
    options = WRONG[place]
    if "--base-url" in options and "--judge" not in options:
        options = ["--judge", "openai:m", *options]
    with no_sleep():
        done = secretive("score", "answers.jsonl", *options, "--out", "results.jsonl")
    assert done.code in {2, 3}, done
    assert "bug" not in done.err
    assert holders(desk, done, caplog) == []


@pytest.mark.parametrize("said", [["doctor"], ["doctor", "--json"], ["runs"], ["report"]])
def test_what_is_shown_of_the_set_up_holds_no_secret(secretive, desk, caplog, monkeypatch, said):
    """After a run with all of them."""
    with JudgeServer(played) as server, no_sleep():
        given = command(server, "openai")
        assert secretive(*given).code == 0
        monkeypatch.setenv("EVERYCLAIM_JUDGE", given[3])
        monkeypatch.setenv("EVERYCLAIM_BASE_URL", given[5])
        monkeypatch.setenv("EVERYCLAIM_HEADERS", json.dumps({"X-Also": TOKEN}))
        done = secretive(*said)
    assert done.code == 0, done.err
    assert done.out
    assert [secret for secret in SECRETS if secret in done.out + done.err] == []


def holders(desk, done, caplog):
    """Where the secret is, or a part of it."""
    written = everywhere(desk, done, caplog)
    return [name for name, content in written.items() for part in (WORD, REST) if part.encode() in content]


SET_WRONG = {
    "a key that was copied badly": {"OPENAI_API_KEY": f"{WORD} {REST}"},
    "headers that are no JSON": {"EVERYCLAIM_HEADERS": f"X={WORD}{REST}"},
    "headers that are no table": {"EVERYCLAIM_HEADERS": f'"{WORD}{REST}"'},
    "headers with a list": {"EVERYCLAIM_HEADERS": f'{{"X": ["{WORD}{REST}"]}}'},
    "a provider's address": {"OPENAI_BASE_URL": f"http://me:{WORD}/{REST}@127.0.0.1:9/v1"},
    "an address in a setting": {"EVERYCLAIM_BASE_URL": f"http://me:{WORD}#{REST}@127.0.0.1:9/v1"},
    "a judge in a setting": {"EVERYCLAIM_JUDGE": f"openai:m?api_key={WORD}{REST}"},
    "a proxy that is none": {"HTTP_PROXY": f"http://me:{WORD}/{REST}@127.0.0.1:9"},
    "a proxy that is away": {"HTTP_PROXY": f"http://me:{WORD}{REST}@127.0.0.1:1"},
}


@pytest.mark.parametrize("place", SET_WRONG)
def test_no_error_repeats_a_secret_of_the_environment(secretive, desk, caplog, monkeypatch, place):
    """The variable is named."""
    monkeypatch.setenv("EVERYCLAIM_DEBUG", "1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.2:1/v1")
    monkeypatch.setenv("EVERYCLAIM_JUDGE", "openai:m")
    for name, value in SET_WRONG[place].items():
        monkeypatch.setenv(name, value)
    with no_sleep():
        done = secretive("score", "answers.jsonl", "--out", "results.jsonl")
    assert done.code in {2, 3}, done
    assert "bug" not in done.err
    assert holders(desk, done, caplog) == []
