"""Commands that talk to language models, through a real provider on loopback: what is sent, paid, kept and said."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import write_jsonl

from batch_provider import BatchServer
from everyclaim.core.types import Outcome
from everyclaim.models.batches import BatchSettings
from everyclaim.testing import Reply, play, request_data, server_error

KEY = "sk-test-0123456789abcdef"
SHELF = ["The kettle is red. It holds 2 litres."]
ROWS = [
    {"id": f"a{i}", "response": f"The kettle is red. It holds {i} litres.", "contexts": SHELF, "model": "gpt-4o"}
    for i in range(1, 6)
]
CLAIMS = [{"id": row["id"], "claim": row["response"], "contexts": SHELF} for row in ROWS]


@pytest.fixture
def server():
    with BatchServer(play, api_key=KEY) as running:
        yield running


@pytest.fixture
def cli(everyclaim, monkeypatch):
    """The command line with keys in the environment and the judge still to be chosen."""
    monkeypatch.delenv("EVERYCLAIM_JUDGE")
    monkeypatch.delenv("EVERYCLAIM_DECOMPOSER")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    write_jsonl("answers.jsonl", ROWS)
    write_jsonl("claims.jsonl", CLAIMS)
    return everyclaim


def judge(server, wire="openai"):
    """The options that name a judge at the server."""
    address = server.base_url if wire == "openai" else server.root
    return ["--judge", f"{wire}:some-model", "--base-url", address]


def summary(done):
    return json.loads(done.out)["summary"]


# ---- both wire formats


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_score_makes_two_calls_per_answer_and_says_what_they_took(cli, server, wire):
    """The page has calls and tokens, and that the price is not known; the key is nowhere."""
    done = cli("score", "answers.jsonl", *judge(server, wire))
    assert done.code == 0, done.err
    assert server.calls == 10
    page = " ".join(done.out.split())
    assert "5 scored of 5" in page
    assert "usage 10 calls · " in page
    assert "price unknown" in page
    assert KEY not in done.out + done.err


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_verify_judges_given_claims(cli, server, desk, wire):
    """One call per row, and every row says which prompt and options made its verdict."""
    done = cli("verify", "claims.jsonl", *judge(server, wire), "--numbers", "exact", "--out", "v.jsonl")
    assert (done.code, server.calls) == (0, 5), done.err
    rows = [json.loads(line) for line in (desk / "v.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == ["UNSUPPORTED", "SUPPORTED", "UNSUPPORTED", "UNSUPPORTED", "UNSUPPORTED"]
    assert "numbers=exact" in rows[0]["provenance"]["parameters"]["judge_prompt"]
    assert rows[0]["usage"]["calls"] == 1
    assert "5 calls" in done.out
    assert KEY not in done.out + done.err + (desk / "v.jsonl").read_text()


# ---- the provider's batches


@pytest.fixture
def quick_batches(monkeypatch, no_waiting):
    """Batches are cut at once and looked at without a wait."""
    monkeypatch.setattr("everyclaim.api.judges.BatchSettings", partial(BatchSettings, linger=0.05))


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_batch_sends_a_run_through_the_providers_batches(cli, server, desk, quick_batches, wire):
    """Five answers at once: one batch of splits, one of verdicts, no single call; noted beside the store."""
    done = cli("score", "answers.jsonl", *judge(server, wire), "--batch", "--store", "kept/runs.db", "--json")
    assert done.code == 0, done.err
    assert [len(batch.requests) for batch in server.batch_desk.batches] == [5, 5]
    assert {batch.api for batch in server.batch_desk.batches} == {"chat" if wire == "openai" else "messages"}
    assert server.calls == 0
    assert summary(done)["usage"]["calls"] == 10
    assert (desk / "kept" / "batches.db").exists()
    parameters = json.loads(done.out)["run"]["provenance"]["parameters"]
    assert parameters["claims_per_call"] == "auto"
    alone = cli("score", "answers.jsonl", *judge(server, wire), "--store", "other/runs.db", "--json")
    assert server.calls == 10
    assert summary(alone)["score"] == summary(done)["score"]
    assert json.loads(alone.out)["run"]["provenance"]["parameters"] == parameters


# ---- limits


def test_a_limit_stops_the_run_keeps_what_is_done_and_the_same_command_goes_on(cli, server):
    """Exit code 3, one line, the answers that are done; every answer is scored in the end, nothing paid twice."""
    command = ["score", "answers.jsonl", *judge(server), "--max-calls", "4", "--concurrency", "1"]
    done = cli(*command)
    assert done.code == 3
    assert server.calls == 4
    assert "stopped: not all samples were scored" in " ".join(done.out.split())
    last = done.said[-1]
    assert last.startswith("stopped at max_calls=4; used: 4 calls, ")
    assert "2 samples are stored in run " in last
    assert last.endswith("repeat the command to continue")
    again = cli(*command)
    assert (again.code, server.calls) == (3, 8)
    assert "2 samples are already scored" in again.err
    last_time = cli(*command, "--json")
    assert (last_time.code, server.calls) == (0, 10)
    assert summary(last_time)["outcomes"]["scored"] == 5
    assert summary(last_time)["usage"]["calls"] == 10


def test_verify_stops_at_a_limit_writes_what_it_has_and_goes_on_from_the_cache(cli, server, desk):
    """The file holds the first verdicts; the same command pays only for the others."""
    command = ["verify", "claims.jsonl", *judge(server), "--max-calls", "3", "--concurrency", "1", "--out", "v.jsonl"]
    done = cli(*command)
    assert (done.code, server.calls) == (3, 3)
    assert len((desk / "v.jsonl").read_text().splitlines()) == 3
    assert "3 claims are judged; repeat the command to continue" in done.err
    done = cli(*command)
    assert (done.code, server.calls) == (0, 5)
    assert len((desk / "v.jsonl").read_text().splitlines()) == 5


# ---- the cache, and failures


def test_the_cache_lies_beside_the_store_and_spares_the_second_run(cli, server, desk):
    """The same scores, no call; --no-cache pays again."""
    first = cli("score", "answers.jsonl", *judge(server), "--json")
    assert (desk / ".everyclaim" / "replies.db").exists()
    second = cli("score", "answers.jsonl", *judge(server), "--json", "--fresh")
    assert server.calls == 10
    assert summary(second)["score"] == summary(first)["score"]
    assert summary(second)["usage"]["cache_hits"] == 10
    assert "10 cache hits · $0.0000" in cli("report").out
    cli("score", "answers.jsonl", *judge(server), "--fresh", "--no-cache")
    assert server.calls == 20


@pytest.mark.parametrize(
    ("trouble", "tries", "reason"),
    [
        ('{"verdicts": []}', 2, "missing_verdict"),  # well-formed, and of no use
        ("I would rather not say.", 2, "malformed"),
        (Reply("", finish="refusal"), 1, "refused"),
        (server_error(500), 6, "server_error"),
    ],
)
def test_only_the_failed_are_scored_again(cli, server, no_waiting, trouble, tries, reason):
    """Two answers fail the first time; resuming asks for these two verdicts and nothing else."""

    def rule(request):
        data = json.dumps(request_data(request.messages).get("claims", ""))
        if "holds 4 litres" in data or "holds 5 litres" in data:
            return trouble
        return play(request)

    server.script(rule)
    first = cli("score", "answers.jsonl", *judge(server), "--json", "--max-failed", "1")
    document = json.loads(first.out)
    assert document["summary"]["outcomes"] == dict.fromkeys(Outcome, 0) | {"scored": 3, "failed": 2}
    assert document["summary"]["failures"] == {reason: 2}
    assert server.calls == 5 + 3 + 2 * tries  # splits, verdicts, and tries of the bad ones
    server.script(play)
    again = cli("score", "answers.jsonl", *judge(server), "--json", "--resume", document["run"]["id"])
    assert summary(again)["outcomes"]["scored"] == 5
    assert server.calls == 5 + 3 + 2 * tries + 2  # the splits come from the cache
    assert summary(again)["usage"]["cache_hits"] == 2


@pytest.fixture
def no_waiting():
    from everyclaim.testing import no_sleep

    with no_sleep():
        yield


# ---- doctor


def test_doctor_tells_at_once_of_a_server_that_is_not_there(cli):
    """Without the retries of a run."""
    done = cli("doctor", "--judge", "openai:some-model", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 1
    assert "cannot connect to http://127.0.0.1:9/v1: Connection refused" in " ".join(done.out.split())


def test_doctor_names_a_missing_key_before_it_tries_to_connect(cli, monkeypatch, desk):
    """The variable to set, not a question after the server."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(desk / "none.toml"))
    done = cli("doctor", "--judge", "openai:some-model", "--json")
    check = json.loads(done.out)["checks"][-1]
    assert (done.code, check["name"]) == (1, "self-check")
    assert check["found"].startswith("no API key for openai: set OPENAI_API_KEY")


def test_doctor_says_which_judges_have_keys_and_never_shows_them(cli, monkeypatch, desk):
    """From the variable, from the keys file, or not at all with where to put one."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (desk / "keys.toml").write_text('anthropic = "sk-ant-from-the-file-123"\n')
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(desk / "keys.toml"))
    done = cli("doctor", "--json")
    found = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert found["key openai"]["found"] == "from OPENAI_API_KEY"
    assert found["key anthropic"]["found"] == f"from {desk / 'keys.toml'}"
    assert found["extra openai"]["ok"] is True
    assert KEY not in done.out
    assert "sk-ant" not in done.out
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(desk / "none.toml"))
    found = {check["name"]: check for check in json.loads(cli("doctor", "--json").out)["checks"]}
    assert found["key anthropic"]["ok"] is None
    assert "set ANTHROPIC_API_KEY" in found["key anthropic"]["found"]


def test_settings_of_language_models_are_for_whichever_command_has_one(everyclaim, desk):
    """A project's address, limits and rubric do not hinder a run offline; the same on the command line would do nothing."""
    (desk / "everyclaim.toml").write_text(
        'base_url = "http://127.0.0.1:9/v1"\nmax_cost = 1.0\nrepeats = 3\nhedges = "strict"\n'
    )
    (desk / "rows.jsonl").write_text('{"response": "It is red.", "contexts": ["It is red."]}\n')
    (desk / "claims.jsonl").write_text('{"claim": "It is red.", "contexts": ["It is red."]}\n')
    for command in (["score", "rows.jsonl"], ["verify", "claims.jsonl"], ["claims", "It is red."]):
        judge = ["--judge", "lexical"] if command[0] != "claims" else []
        done = everyclaim(*command, *judge)
        assert (done.code, done.err) == (0, ""), done.err
    assert "--repeats needs a language model" in everyclaim("score", "rows.jsonl", "--repeats", "3").err


# ---- what a run will take


PRICES = "[openai.models]\nsome-model = {{ input = {:g}, output = 2.0 }}\n"


@pytest.mark.parametrize("more", [[], ["--one-call"], ["--decomposer", "embedded"], ["--strategy", "each"]])
def test_a_dry_run_estimates_calls_tokens_and_cost_and_asks_nobody(cli, server, more):
    """The calls are those that the run then makes, the tokens about as many."""
    Path("prices.toml").write_text(PRICES.format(1))
    command = ["score", "answers.jsonl", *judge(server), "--prices", "prices.toml", *more, "--json"]
    done = cli(*command, "--dry-run")
    assert done.code == 0, done.err
    assert server.calls == 0
    found = json.loads(done.out)["answers.jsonl"]
    used = summary(cli(*command))["usage"]
    assert (found["answers"], found["calls"]) == (5, used["calls"])
    assert 0.9 < found["prompt_tokens"] / used["prompt_tokens"] < 1.8  # this server bills no schemas
    assert 0.5 < found["reply_tokens"] / used["completion_tokens"] < 5
    assert found["cost"] == pytest.approx((found["prompt_tokens"] + 2 * found["reply_tokens"]) / 1e6)


def test_a_dry_run_says_what_is_not_known(cli, server):
    """A price, what a cascade's first judge leaves, and calls that depend on answers; offline there is nothing to say."""
    done = cli("score", "answers.jsonl", *judge(server), "--dry-run", "--limit", "2")
    assert "answers.jsonl 2 answers: about 4 calls" in " ".join(done.out.split())
    assert "price unknown" in " ".join(done.out.split())
    cascade = ["--judge", "cascade:embedded>openai:some-model", "--base-url", server.base_url]
    assert "at most" in cli("score", "answers.jsonl", *cascade, "--dry-run").out
    metric = [*judge(server), "--metric", "qa"]
    assert "no estimate" in " ".join(cli("score", "answers.jsonl", *metric, "--dry-run").out.split())
    assert "5 answers: no calls" in cli("score", "answers.jsonl", "--judge", "embedded", "--dry-run").out
    assert server.calls == 0


@pytest.mark.parametrize("spec", ["openai:gpt-5-mini", "cascade:embedded>anthropic:claude-sonnet-5"])
def test_a_dry_run_needs_neither_a_key_nor_the_extra(cli, monkeypatch, spec):
    """It tells what a provider would be asked before anybody has an account there."""
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = cli("score", "answers.jsonl", "--judge", spec, "--dry-run")
    assert done.code == 0, done.err
    assert "calls" in done.out
    assert "$0.0" in done.out
    assert cli("score", "answers.jsonl", "--judge", spec).code == 2
