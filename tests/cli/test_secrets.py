"""Keys and secret headers are sent, and are nowhere else: not in any file, line, log, page or error."""

import json
import logging
from functools import partial
from pathlib import Path

import pytest

from everyclaim.models import BatchSettings
from everyclaim.testing import JudgeServer, html, no_sleep, play, rejected, reset, server_error

KEY = "sk-proj-4f9c1e77aa0b42d8"
TOKEN = "team-token-90210-mellon"
PASSWORD = "swordfish-77"
SECRETS = (KEY, TOKEN, PASSWORD)
ROWS = [{"id": f"a{i}", "response": f"Kettle {i} is red.", "contexts": [f"Kettle {i} is red."]} for i in range(3)]
SAID = f"Incorrect API key provided: {KEY}; header was {TOKEN}; user was {PASSWORD}"

FAULTS = {
    "none": None,
    "401 that quotes the key": rejected(SAID, status=401),
    "400 that quotes the key": rejected(SAID, status=400),
    "500 that quotes the key": server_error(500),
    "a page instead of JSON": html(502),
    "reset": reset(0.5),
}


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
    options = [
        "--judge",
        f"{wire}:m",
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
    assert done.code == (0 if fault == "none" else 2 if fault.startswith("401") else 3), done.err
    found = [(name, secret) for name, content in written.items() for secret in SECRETS if secret.encode() in content]
    assert found == []


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_no_secret_is_in_what_is_noted_of_batches(secretive, desk, caplog, monkeypatch, wire):
    """The file beside the store knows ids, not keys."""
    monkeypatch.setattr("everyclaim.api.judges.BatchSettings", partial(BatchSettings, linger=0.05))
    with JudgeServer(played) as server, no_sleep():
        done = secretive(*command(server, wire, "--batch"))
    assert done.code == 0, done.err
    written = everywhere(desk, done, caplog)
    assert any(name.endswith("batches.db") for name in written)
    assert [name for name, content in written.items() for secret in SECRETS if secret.encode() in content] == []
