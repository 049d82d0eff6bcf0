"""`everyclaim score`: what it prints, keeps, writes, and how it exits."""

import json
import os
import sys
from pathlib import Path

import pytest
from command_line import ANSWERS, write_jsonl

from everyclaim.api.settings import load_settings
from everyclaim.core.types import Outcome


def test_a_file_becomes_a_page_and_a_kept_run(everyclaim, desk):
    """The score with its interval, every outcome, the worst answer, and a run in the store."""
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 0
    first = [" ".join(line.split()) for line in done.out.splitlines() if "95 % interval" in line or " – " in line][1:4]
    assert first[0].startswith("claims supported 60.0 % ")
    assert first[0].endswith(" 3 of 5")
    assert first[1].startswith("answers scored below 1.0 66.7 % ")
    assert first[1].endswith(" 2 of 3")
    assert first[2].startswith("mean score 0.500 ")
    assert "3 scored of 5 · 1 without claims · 1 abstained · 0 failed" in done.out
    assert "✗ contradicted  It is new" in done.out
    assert "NOT «It is new»" in done.out
    assert done.err == ""
    assert (desk / ".everyclaim" / "runs.db").exists()


def test_json_is_the_only_thing_on_stdout(everyclaim):
    """Machines get one JSON document on one line, people get nothing there."""
    done = everyclaim("score", "answers.jsonl", "--json", "--slice", "topic")
    document = json.loads(done.out)
    assert document["summary"]["score"]["value"] == 0.5
    outcomes = dict.fromkeys(Outcome, 0) | {"scored": 3, "no_claims": 1, "abstained": 1}
    assert document["summary"]["outcomes"] == outcomes
    assert set(document["summary"]["slices"]["topic"]) == {"age", "look"}
    assert [one["result"]["id"] for one in document["worst"]] == ["wrong", "mixed"]


def test_out_to_stdout_leaves_it_clean(everyclaim):
    """Results go to stdout, the page to stderr."""
    done = everyclaim("score", "answers.jsonl", "--out", "-")
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [row["id"] for row in ANSWERS]
    assert [json.loads(line)["score"] for line in done.out.splitlines()] == [1.0, 0.5, 0.0, None, None]
    assert "3 scored of 5" in done.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--fail-under", "0.4"], 0, "threshold gate passed: mean score 0.500"),
        (["--fail-under", "0.9"], 1, "threshold gate failed: mean score 0.500"),
        (["--fail-under", "0.9", "--require-significance"], 1, "threshold gate failed: mean score 0.500"),
        (["--fail-under", "0.6", "--require-significance"], 4, "threshold gate inconclusive: mean score 0.500"),
    ],
)
def test_the_gate_decides_the_exit_code(everyclaim, options, code, said):
    """0 passed, 1 failed, 4 when the interval holds the bar and certainty was asked for."""
    done = everyclaim("score", "answers.jsonl", *options)
    assert done.code == code
    assert done.err.startswith(said)


def test_failures_are_counted_and_too_many_exit_with_3(everyclaim):
    """A judge's failure is no score; the share decides the exit code, before the gate."""
    write_jsonl("bad.jsonl", [*ANSWERS[:1], {"id": "f", "response": "FAIL", "contexts": ["x"]}])
    done = everyclaim("score", "bad.jsonl", "--fail-under", "0.5")
    assert done.code == 3
    assert "1 scored of 2 · 0 without claims · 0 abstained · 1 failed" in done.out
    assert "no reply 1" in done.out
    assert "1 of 2 samples failed (50.0 %), more than the limit of 5.0 %" in done.err
    assert everyclaim("score", "bad.jsonl", "--max-failed", "0.5").code == 0


def test_bad_rows_are_named_and_do_not_stop_the_others(everyclaim, desk):
    """Line numbers and reasons on stderr, the rest scored; they count against the limit of failures."""
    with (desk / "answers.jsonl").open("a") as file:
        file.write('{"id": "n", "response": 7.5, "contexts": ["x"]}\nnot json\n{"id": "l", "response": [1]}\n')
    done = everyclaim("score", "answers.jsonl", "--max-failed", "0.4")
    assert done.code == 0
    assert "3 scored of 5 · 1 without claims · 1 abstained · 0 failed · 3 rows unreadable" in done.out
    assert [line.split(":")[1].strip() for line in done.said] == ["line 6", "line 7", "line 8"]


def test_limit_name_and_release_end_up_in_the_run(everyclaim):
    """The first rows only; the run has its name; answers get the release that they do not name."""
    done = everyclaim(
        "score", "answers.jsonl", "--limit", "2", "--name", "nightly", "--release", "v2", "--slice", "release", "--json"
    )
    document = json.loads(done.out)
    assert document["run"]["name"] == "nightly"
    assert document["summary"]["total"] == 2
    assert document["summary"]["slices"]["release"]["v2"]["total"] == 2


def test_several_files_are_several_runs_and_the_gravest_code_counts(everyclaim):
    """One line of JSON per file; a failure in any of them is the exit code."""
    write_jsonl("bad.jsonl", [{"id": "f", "response": "FAIL", "contexts": ["x"]}])
    done = everyclaim("score", "answers.jsonl", "bad.jsonl", "--json")
    assert done.code == 3
    assert [json.loads(line)["summary"]["outcomes"]["failed"] for line in done.out.splitlines()] == [0, 1]


def test_settings_come_from_the_file_the_variables_and_the_options(everyclaim, desk, monkeypatch):
    """everyclaim.toml, found upward; a variable goes over it, an option over both."""
    (desk / "everyclaim.toml").write_text('fail_under = 0.9\nslices = ["topic"]\n')
    below = desk / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert everyclaim("score", "../answers.jsonl").code == 0  # above the project's root
    (desk / ".git").mkdir()
    done = everyclaim("score", "../answers.jsonl")
    assert done.code == 1
    assert "topic   scored" in done.out
    monkeypatch.setenv("EVERYCLAIM_FAIL_UNDER", "0.45")
    assert everyclaim("score", "../answers.jsonl").code == 0
    assert everyclaim("score", "../answers.jsonl", "--fail-under", "0.55").code == 1


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
@pytest.mark.parametrize("whose", ["of another user", "of everybody"])
def test_settings_of_somebody_else_are_not_read(everyclaim, desk, caplog, whose):
    """They say where answers and keys go; whoever trusts them names them."""
    file = desk / "everyclaim.toml"
    file.write_text("fail_under = 0.9\n")
    if whose == "of everybody":
        file.chmod(0o666)
    elif os.getuid():
        pytest.skip("only root gives files away")
    else:
        os.chown(file, 12345, 12345)
    assert everyclaim("score", "answers.jsonl").code == 0
    assert "everyclaim.toml is ignored, because " in caplog.text
    assert everyclaim("score", "answers.jsonl", "--config", "everyclaim.toml").code == 1


@pytest.mark.parametrize(
    "line", ['base_url = "https://elsewhere.test/v1"', 'judge = "openai:m?base_url=https://elsewhere.test/v1"']
)
def test_the_host_that_a_settings_file_sends_keys_to_is_named(desk, caplog, line):
    """Nobody named it on the command line."""
    (desk / "everyclaim.toml").write_text(f"{line}\n")
    load_settings()
    assert "requests and their API key go to elsewhere.test, as " in caplog.text
    caplog.clear()
    load_settings(Path("everyclaim.toml"))
    assert not caplog.text


# ---- input that is not what it should be


def test_a_metric_beside_the_file_is_found(everyclaim, desk, monkeypatch):
    """A module of the current folder, which the installed program does not search by itself."""
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    (desk / "my_metric.py").write_text("def worst_case(sample):\n    return 0.25\n")
    done = everyclaim("score", "answers.jsonl", "--metric", "python:my_metric:worst_case", "--worst", "0")
    assert done.code == 0, done.err
    assert "worst_case" in done.out
    assert "0.250" in done.out


def test_a_projects_mapping_for_answers_does_not_stop_claims(everyclaim):
    """Settings that a command cannot use are ignored there; given with the command, they are errors."""
    Path("everyclaim.toml").write_text('[map]\nbot_said = "response"\n')
    write_jsonl("claims.jsonl", [{"claim": "It is red.", "contexts": ["It is red."]}])
    assert everyclaim("verify", "claims.jsonl").code == 0
    assert everyclaim("verify", "claims.jsonl", "--map", "bot_said=response").code == 2
