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
    assert "99 of 100 rows could not be read and were left out" in done.err


def test_the_page_and_the_json_count_them(everyclaim, mostly_unread):
    """Beside the outcomes, and in the document of the run."""
    done = everyclaim("score", "answers.jsonl")
    assert "1 scored of 1" in done.out
    assert "99 rows unreadable" in " ".join(done.out.split())
    document = json.loads(everyclaim("report", "--json", "--report", "r.json").out)
    assert document["summary"]["bad_rows"] == 99
    assert {key: document["run"]["rows"][key] for key in ("good", "bad", "incomplete")} == {
        "good": 1,
        "bad": 99,
        "incomplete": "",
    }
    assert document["run"]["rows"]["first"][0] == "line 2: the response is missing (null)"
    assert json.loads((mostly_unread / "r.json").read_text()) == document


def test_a_kept_run_does_not_forget_them(everyclaim, mostly_unread):
    """`report` shows, warns and gates as the scoring did."""
    first = everyclaim("score", "answers.jsonl", "--fail-under", "0.9")
    again = everyclaim("report", "--fail-under", "0.9")
    assert (again.code, again.out, again.err) == (first.code, first.out, first.err)


@pytest.mark.parametrize(("limit", "code"), [("0.39", 3), ("0.4", 0)])
def test_the_share_is_of_all_rows_and_adds_to_what_failed(everyclaim, limit, code):
    """Two failed of eight read, and two more that were not: four of ten came to nothing."""
    failing = [{"id": f"f{n}", "response": "FAIL", "contexts": ["x"]} for n in range(2)]
    good = [ANSWERS[0] | {"id": f"g{n}"} for n in range(6)]
    write_jsonl("rows.jsonl", [*failing, NULL, *good, NULL])
    done = everyclaim("score", "rows.jsonl", "--max-failed", limit)
    assert done.code == code
    said = "2 of 10 rows could not be read and 2 failed (40.0 %), more than the limit of 39.0 %"
    assert (said in done.err) == (code == 3)


def test_rows_after_the_limit_are_not_held_against_a_run(everyclaim):
    """--limit reads no further."""
    write_jsonl("rows.jsonl", [ANSWERS[0], NULL, ANSWERS[1], *[NULL] * 50])
    done = everyclaim("score", "rows.jsonl", "--limit", "2", "--json", "--max-failed", "1")
    assert json.loads(done.out)["summary"]["bad_rows"] == 1


def test_verify_counts_them_too(everyclaim, desk):
    """Against --max-failed, on the page, in JSON, and quietly."""
    rows = [{"claim": "It is red", "contexts": ["It is red"]}, *[{"claim": None, "contexts": []}] * 3]
    write_jsonl("claims.jsonl", rows)
    for options in ([], ["-q"], ["--json"]):
        done = everyclaim("verify", "claims.jsonl", *options)
        assert done.code == 3
        assert "3 of 4 rows could not be read (75.0 %), more than the limit of 5.0 %" in done.err
    assert everyclaim("verify", "claims.jsonl", "--max-failed", "0.75").code == 0


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
    assert "but the run is stopped" in done.err


def test_python_sees_them_in_the_summary(mostly_unread, monkeypatch, everyclaim):
    """The same numbers for who gates in a test of their own."""
    import everyclaim as ec
    from everyclaim.analysis.gate import GateStatus, gate

    run = ec.score_file("answers.jsonl", judge="scripted", decomposer="sentences")
    assert (run.summary.bad_rows, run.record.bad_rows) == (99, 99)
    assert gate(run.summary, 0.9).status is GateStatus.TOO_MANY_FAILURES
    assert gate(ec.find_run().summary, 0.9).status is GateStatus.TOO_MANY_FAILURES
