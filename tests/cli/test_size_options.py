"""Limits on size: options, settings and variables of one name, and what a person is told."""

import json

from command_line import write_jsonl

ROWS = [
    {"id": "good", "response": "It is red", "contexts": ["It is red."]},
    {"id": "long", "response": "It is red | " * 30, "contexts": ["It is red."]},
]


def test_a_row_beyond_a_limit_is_left_out_with_a_line(everyclaim):
    """By option, by setting, by variable."""
    write_jsonl("rows.jsonl", ROWS)
    done = everyclaim("score", "rows.jsonl", "--max-answer-chars", "100", "--fresh")
    assert "line 2: the response has 360 characters, more than max_answer_chars=100" in done.err
    assert "1 scored of" in done.out
    done = everyclaim("score", "rows.jsonl", "--fresh")
    assert done.err == ""


def test_settings_and_variables_say_the_same(everyclaim, desk, monkeypatch):
    """The option goes over both."""
    write_jsonl("rows.jsonl", ROWS)
    (desk / "everyclaim.toml").write_text("max_row_mb = 0.0002\n")
    assert "line 2: the row is larger than max_row_mb=0.0002" in everyclaim("score", "rows.jsonl", "--fresh").err
    monkeypatch.setenv("EVERYCLAIM_MAX_ROW_MB", "1")
    assert everyclaim("score", "rows.jsonl", "--fresh").err == ""
    assert "max_row_mb=0.0003" in everyclaim("score", "rows.jsonl", "--fresh", "--max-row-mb", "0.0003").err


def test_claims_and_verify_have_them_too(everyclaim, monkeypatch):
    """Exit code 2 where there is nothing else to do."""
    monkeypatch.setenv("EVERYCLAIM_DECOMPOSER", "embedded")
    done = everyclaim("claims", "The kettle is red. It is new.", "--max-claims", "1")
    assert (done.code, done.said) == (2, ["error: the answer has 2 sentences, more than max_claims=1"])
    write_jsonl("claims.jsonl", [{"claim": "It is red", "contexts": ["a", "b"]}, {"claim": "It is", "contexts": []}])
    done = everyclaim("verify", "claims.jsonl", "--max-passages", "1", "--json")
    assert json.loads(done.out)["bad_rows"] == 1
    assert "line 1: there are more than 1 passages, more than max_passages=1" in done.err


def test_a_limit_of_nothing_is_refused(everyclaim, desk):
    """One line, exit code 2."""
    (desk / "everyclaim.toml").write_text("max_passages = 0\n")
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 2
    assert "max_passages" in done.err
