"""Keys and secret headers are sent, and are nowhere else: not in any file, line, log, page or error."""

import json
import logging
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from everyclaim.testing import JudgeServer, Reply, body, no_sleep, play, rejected, truncated
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


def command(server, wire):
    root = (server.root if wire == "anthropic" else server.base_url).replace("//", f"//me:{PASSWORD}@")
    planted = urlencode({"body.user": json.dumps(USER), "body.n": "1", "query.key": QUERY})
    judge = ["--judge", f"{wire}:m?{planted}", "--base-url", root]
    headers = ["--header", "X-Team=$TEAM_TOKEN", "--header", f"X-Also={TOKEN}"]
    return ["score", "answers.jsonl", *judge, *headers, "--out", "results.jsonl", "--report", "report.json"]


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
    with JudgeServer(FAULTS[fault] or play, api_key=None) as server, no_sleep():
        done = secretive(*command(server, wire))
    assert server.requests[0].headers["x-team"] == server.requests[0].headers["x-also"] == TOKEN
    assert server.requests[0].authorised
    written = everywhere(desk, done, caplog)
    assert any(name.endswith("replies.db") for name in written)
    assert done.code == (0 if fault == "none" else 2 if fault.startswith(STOPS) else 3), done.err
    found = [(name, secret) for name, content in written.items() for secret in SECRETS if secret.encode() in content]
    assert found == []


MISPLACED = list(map(json.loads, Path(__file__).with_name("misplaced_secrets.jsonl").read_text("utf-8").splitlines()))
PARTS = ("zanzibar", "quagmire")  # what a secret in there is made of; neither looks like a key


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.slow] * ("options" in row)) for row in MISPLACED],
    ids=[row["place"] for row in MISPLACED],
)
def test_no_error_repeats_a_secret_that_was_put_in_a_wrong_place(secretive, desk, caplog, monkeypatch, row):
    """The option or variable is named, its value is not; in no file, stream, traceback or log, and no part of it."""
    monkeypatch.setenv("EVERYCLAIM_DEBUG", "1")
    options = row.get("options", [])
    if "env" in row:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.2:1/v1")
        monkeypatch.setenv("EVERYCLAIM_JUDGE", "openai:m")
    elif "--base-url" in options and "--judge" not in options:
        options = ["--judge", "openai:m", *options]
    for name, value in row.get("env", {}).items():
        monkeypatch.setenv(name, value)
    with no_sleep():
        done = secretive("score", "answers.jsonl", *options, "--out", "results.jsonl")
    assert done.code in {2, 3}, done
    assert "bug" not in done.err
    written = everywhere(desk, done, caplog)
    assert [name for name, content in written.items() for part in PARTS if part.encode() in content] == []


@pytest.mark.parametrize("said", [["doctor"], ["doctor", "--json"], ["runs"], ["report"]])
def test_what_is_shown_of_the_set_up_holds_no_secret(secretive, desk, caplog, monkeypatch, said):
    """After a run with all of them."""
    with JudgeServer(play) as server, no_sleep():
        given = command(server, "openai")
        assert secretive(*given).code == 0
        monkeypatch.setenv("EVERYCLAIM_JUDGE", given[3])
        monkeypatch.setenv("EVERYCLAIM_BASE_URL", given[5])
        monkeypatch.setenv("EVERYCLAIM_HEADERS", json.dumps({"X-Also": TOKEN}))
        done = secretive(*said)
    assert done.code == 0, done.err
    assert done.out
    assert [secret for secret in SECRETS if secret in done.out + done.err] == []
