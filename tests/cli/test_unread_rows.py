"""Rows that cannot be read are in no score, so they are counted, shown, and held against the gate."""

import json

import pytest
from command_line import ANSWERS, write_jsonl

NULL = {"id": "n", "response": None, "contexts": ["x"]}


@pytest.fixture
def mostly_unread(desk):
    """One good row and ninety-nine without a response."""
    write_jsonl("answers.jsonl", [ANSWERS[0], *[NULL] * 99])
    return desk


@pytest.mark.parametrize("options", [[], ["-q"], ["--json"]])
def test_one_good_row_of_a_hundred_passes_no_gate(everyclaim, mostly_unread, options):
    """However little is to be printed, the exit code and the reason stand."""
    done = everyclaim("score", "answers.jsonl", "--fail-under", "0.9", *options)
    assert done.code == 3
    assert "99 of 100 rows could not be read (99.0 %), more than the limit of 5.0 %" in done.err
    assert "99 of 100 rows could not be read and were skipped" in done.err


def test_the_page_and_the_json_count_them(everyclaim, mostly_unread):
    """Beside the outcomes, and in the document of the run."""
    done = everyclaim("score", "answers.jsonl")
    assert "1 scored of 1" in done.out
    assert "99 rows unreadable" in " ".join(done.out.split())
    document = json.loads(everyclaim("report", "--json", "--report", "r.json").out)
    assert document["summary"]["bad_rows"] == 99
    rows = document["run"]["rows"]
    assert (rows["good"], rows["bad"], rows["incomplete"]) == (1, 99, "")
    assert rows["first"][0] == "line 2: the response is missing (null)"
    assert json.loads((mostly_unread / "r.json").read_text()) == document


def test_a_file_that_breaks_off_is_remembered(everyclaim, desk):
    """The run ended, but not the file: `report` says it and exits with 2, as `score` did."""
    (desk / "cut.json").write_text(json.dumps([*ANSWERS, *ANSWERS])[:-40])
    for command in (["score", "cut.json", "-q"], ["report", "-q"]):
        done = everyclaim(*command, "--max-failed", "1")
        assert done.code == 2
        assert "could not be read to the end" in done.err
    assert "input incomplete: it could not be read to the end" in " ".join(everyclaim("report").out.split())


@pytest.mark.slow
def test_a_stopped_run_passes_no_gate(everyclaim, desk, process):
    """Half of the answers may be the better half: inconclusive, not passed."""
    rows = [ANSWERS[0] | {"id": f"s{i}"} for i in range(30)]
    rows[20] = rows[20] | {"response": "STOP"}
    write_jsonl("long.jsonl", rows)
    assert process("score", "long.jsonl", env={"SCRIPTED_STOP": "1"}).returncode == 130
    done = everyclaim("report", "--fail-under", "0.5")
    assert done.code == 4
    assert "gate inconclusive" in done.err
    assert "the run is stopped" in done.err
