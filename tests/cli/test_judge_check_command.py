"""`everyclaim judge-check`: exit codes, JSON, and a history that is kept."""

import json
from pathlib import Path

from everyclaim.api.judge_eval import cases


def test_checks_are_kept_and_compared(everyclaim):
    """The second check stands against the first; JSON has what the page has."""
    first = everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl")
    assert first.code == 0, first.err
    assert "first check of this judge" in first.out
    second = everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl", "--json")
    assert second.code == 0, second.err
    found = json.loads(second.out)
    assert found["drift"]["changed"] == 0
    assert found["findings"] == []
    assert len(Path("checks.jsonl").read_text("utf-8").splitlines()) == 2


def test_a_finding_exits_with_one(everyclaim):
    """Here drift: the kept check is of a judge that was always right."""
    assert everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl").code == 0
    history = Path("checks.jsonl")
    row = json.loads(history.read_text("utf-8"))
    row["labels"] = {key: label.value for case in cases() for key, label in zip(case.keys, case.labels, strict=True)}
    history.write_text(json.dumps(row) + "\n", "utf-8")
    done = everyclaim("judge-check", "--judge", "lexical", "--trials", "1", "--history", "checks.jsonl")
    assert done.code == 1
    assert "accuracy is worse by" in " ".join(done.out.split())


def test_what_cannot_be_meant_is_one_line(everyclaim):
    """A run that is not there, a history that is no history, an option for language models without one."""
    Path("bad.jsonl").write_text("[1]\n", "utf-8")
    for options, told in (
        (["nothing"], "no store"),
        (["--judge", "lexical", "--history", "bad.jsonl"], "not a check of a judge"),
        (["--judge", "lexical", "--max-cost", "1"], "--max-cost"),
    ):
        done = everyclaim("judge-check", *options)
        assert done.code == 2, (options, done.err)
        assert told in done.err
        assert len(done.err.splitlines()) == 1
