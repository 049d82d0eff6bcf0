"""The other commands, and what holds for every command line."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from command_line import ANSWERS, clean_env, write_jsonl

CLAIMS = [
    {"id": "a", "claim": "It is red", "contexts": ["It is red"]},
    {"id": "b", "claim": "It is new", "contexts": ["NOT It is new"]},
    {"id": "c", "claim": "It is odd", "contexts": ["It is red"]},
    {"id": "d", "claim": "It is bare", "contexts": []},
]


# ---- verify


def test_verify_writes_one_verdict_per_claim_in_input_order(everyclaim, desk):
    """Ids, labels, evidence; a claim without passages is unsupported."""
    write_jsonl("claims.jsonl", CLAIMS)
    done = everyclaim("verify", "claims.jsonl", "--out", "verdicts.jsonl", "--concurrency", "3")
    rows = [json.loads(line) for line in (desk / "verdicts.jsonl").read_text().splitlines()]
    labels = {"a": "SUPPORTED", "b": "CONTRADICTED", "c": "UNSUPPORTED", "d": "UNSUPPORTED"}
    assert [(row["id"], row["label"]) for row in rows] == [*labels.items()]
    assert rows[0]["evidence"] == [{"passage_id": "p1", "start": 0, "end": 9, "quote": "It is red"}]
    assert rows[3]["flags"] == ["no_passages"]
    assert not any("error" in row for row in rows)
    assert done.code == 0
    assert "4 judged of 4 · 0 failed" in done.out


def test_a_failed_claim_has_an_error_and_no_label(everyclaim, desk):
    """The failure stands on its row, is counted, and exits with 3; the others are judged."""
    write_jsonl("claims.jsonl", [*CLAIMS, {"id": "f", "claim": "FAIL", "contexts": ["x"]}])
    done = everyclaim("verify", "claims.jsonl", "--out", "verdicts.jsonl")
    last = json.loads((desk / "verdicts.jsonl").read_text().splitlines()[-1])
    assert (last["id"], last["label"], last["error"]) == ("f", None, "no_reply: the script says so")
    assert done.code == 3
    assert "4 judged of 5 · 1 failed" in done.out
    assert everyclaim("verify", "claims.jsonl", "--max-failed", "0.2").code == 0


def test_verify_shows_the_failing_claims(everyclaim):
    """Contradicted ones first, with question, evidence and probability; so many as are asked for."""
    write_jsonl("claims.jsonl", [*CLAIMS, {"id": "e", "claim": "Is it?", "contexts": ["no"], "question": "Which?"}])
    page = everyclaim("verify", "claims.jsonl").out
    assert (
        "1. b\n   ✗ contradicted  It is new\n     negation · P(contradicted) 1.00\n     p1 [4:13] NOT «It is new»"
        in page
    )
    assert "question Which?" in page
    assert "It is red" not in page.partition("Worst claims")[2].partition("2. c")[0]
    assert everyclaim("verify", "claims.jsonl", "--worst", "2").out.count("unsupported  It is") == 1
    assert "Worst" not in everyclaim("verify", "claims.jsonl", "--worst", "0").out


# ---- claims


def test_claims_shows_the_decomposition(everyclaim):
    """Each claim with its offsets."""
    done = everyclaim("claims", "It is red | It is big")
    assert done.code == 0
    assert "c2   12:21" in done.out
    assert "2 claims" in done.out


# ---- runs and report


def test_report_shows_a_kept_run_as_it_was(everyclaim):
    """The page from the store is the page of the scoring, by id, by name, and as the newest."""
    first = everyclaim("score", "answers.jsonl", "--slice", "topic", "--name", "nightly").out
    run = json.loads(everyclaim("runs", "--json").out)[0]["id"]
    assert everyclaim("report", run).out == first
    assert everyclaim("report", "nightly").out == first
    assert everyclaim("report").out == first


# ---- doctor


def test_doctor_finds_a_working_installation(everyclaim):
    """Versions, components, store, and one answer scored."""
    done = everyclaim("doctor")
    assert done.code == 0
    assert "scripted" in done.out
    assert "scored one answer with scripted" in done.out
    assert done.out.rstrip().endswith("no problems found")


@pytest.mark.parametrize(
    ("arguments", "check"), [(["--store", "answers.jsonl/runs.db"], "store"), (["--config", "gone.toml"], "settings")]
)
def test_doctor_says_what_is_broken_and_exits_with_1(everyclaim, arguments, check):
    """Each fault is one line of the list."""
    done = everyclaim("doctor", *arguments, "--json")
    found = json.loads(done.out)
    assert done.code == 1
    assert found["ok"] is False
    assert [one["name"] for one in found["checks"] if one["ok"] is False] == [check]


# ---- every command line


def test_version(everyclaim):
    """One line."""
    import everyclaim as package

    assert everyclaim("--version").out == f"everyclaim {package.__version__}\n"


def test_a_bug_is_one_line_unless_it_is_hunted(everyclaim, monkeypatch):
    """An unexpected error is no traceback for people who use the tool, and one for those who mend it."""
    monkeypatch.setenv("EVERYCLAIM_JUDGE", "scripted:broken")
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 70
    assert len(done.said) == 1
    assert "the factory is broken" in done.err
    assert "EVERYCLAIM_DEBUG=1" in done.err
    monkeypatch.setenv("EVERYCLAIM_DEBUG", "1")
    assert "Traceback" in everyclaim("score", "answers.jsonl").err


def test_errors_cannot_be_forged_by_names(everyclaim):
    """A file name with escapes and line breaks stays on its line."""
    done = everyclaim("score", "a\nerror: all is lost\x1b[2J\u202e.jsonl")
    assert done.code == 2
    assert len(done.said) == 1
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(desk, process):
    """`everyclaim … | head` ends silently."""
    write_jsonl("many.jsonl", [ANSWERS[0] | {"id": str(i), "question": "why " * 300} for i in range(300)])
    process("score", "many.jsonl", "--quiet")
    for options in ("report --out - --quiet", "report --json --worst 0"):
        command = ["bash", "-c", f"{sys.executable} -m everyclaim {options} | head -c 10"]
        assert subprocess.run(command, cwd=desk, env=clean_env(), capture_output=True, check=False).stderr == b""


def everything(terminal):
    """Read what is written to a terminal until it is closed, which Linux reports as an error."""
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


@pytest.mark.slow
def test_progress_is_shown_only_on_a_terminal_and_never_on_stdout(desk, process):
    """On a terminal stderr shows how many; stdout stays one JSON document."""
    write_jsonl("many.jsonl", [ANSWERS[0] | {"id": str(i)} for i in range(50)])
    assert process("score", "many.jsonl", "--json").stderr == ""
    seen = on_a_terminal(process, "score", "many.jsonl")
    assert "/50" in seen


def on_a_terminal(process, *command, **env):
    """Run a command that prints JSON with standard error on a terminal; return what is seen there."""
    ours, theirs = os.openpty()
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(everything, ours)  # while it is written: a terminal's buffer is small
        done = process(*command, "--json", env={"TERM": "xterm", "COLUMNS": "160", **env}, stderr=theirs)
        os.close(theirs)
        seen = reading.result()
    assert json.loads(done.stdout)["summary"]["total"] == 50
    return seen


@pytest.mark.slow
def test_output_survives_a_terminal_that_is_not_unicode(process):
    """With an ASCII terminal the page is ASCII, and the code is the same."""
    done = process("score", "answers.jsonl", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "3 scored of 5" in done.stdout
