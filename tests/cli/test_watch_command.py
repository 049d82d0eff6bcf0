"""``everyclaim watch``: what it prints, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import write_jsonl

ANSWER = {"id": "a", "response": "It is red.", "contexts": ["It is red."], "team": "x"}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "everyclaim", "watch", *words, "--store", "r.db", "--judge", "lexical"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_pass_is_told_for_people_and_for_machines(tmp_path: Path) -> None:
    """Counts, the score and runs on standard error; with --json one line on standard output and nothing else."""
    wrong = {**ANSWER, "id": "b", "response": "It is red. It weighs 7 kg.", "contexts": ["It is red. It weighs 5 kg."]}
    write_jsonl(tmp_path / "a.jsonl", [ANSWER, wrong, {"nothing": 1}])
    done = run(tmp_path, "a.jsonl", "--once")
    assert done.returncode == 0
    assert done.stdout == ""
    told = "3 new answers · 2 judged · 1 unreadable · mean score 0.750 · 3 claims: 1 contradicted, 0 unsupported"
    assert told in done.stderr
    assert "unreadable: a.jsonl, byte " in done.stderr
    second = run(tmp_path, "a.jsonl", "--once").stderr
    assert second.startswith("0 new answers\nrun ")
    assert second.endswith("2 answers scored · mean score 0.750\n")
    again = run(tmp_path, "a.jsonl", "--once", "--name", "again", "--json", "--quiet")
    told = json.loads(again.stdout)
    assert (told["found"], told["judged"], told["unreadable"], told["outcomes"]["scored"]) == (3, 2, 1, 2)
    assert (told["mean_score"], told["claims"]["CONTRADICTED"]) == (0.75, 1)
    assert next(iter(told["runs"].values())).startswith("again ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "words", "code", "said"),
    [
        ([{"nothing": 1}], (), 2, "no row can be read as an answer"),
        (
            [ANSWER, {**ANSWER, "id": "b"}],
            ("--daily-answers", "1", "--on-budget", "wait"),
            3,
            "the daily budget is used up",
        ),
        ([ANSWER], ("--run-by", "month"), 2, "choose one of day, release"),
        ([ANSWER], ("--prefilter", "lexical"), 2, "error: --prefilter needs a --rate"),
        ([ANSWER], ("--min-per-slice", "2", "--rate", "0.5"), 2, "error: --min-per-slice needs --slice"),
        ([ANSWER], ("--alert", "command:cat"), 2, "error: --alert needs --alert-above, "),
        ([ANSWER], ("--on-budget", "wait"), 2, "daily limit: --daily-answers, --daily-tokens, --daily-cost"),
        ([ANSWER], ("--every", "5"), 2, "error: --every is the time between passes"),
        ([ANSWER], ("--otlp-logs-url", "http://x"), 2, "error: --otlp-logs-url applies to otlp, not to files"),
        ([ANSWER], ("--no-write-back",), 2, "error: --no-write-back applies to langfuse and otlp, not to files"),
        ([ANSWER], ("--alert", "slak:x", "--alert-above", "0.1"), 2, "did you mean 'slack'"),
        ([ANSWER], ("--map", "response"), 2, "--map"),
        ([ANSWER], ("--daily-cost", "0"), 2, "error: --daily-cost must be above 0"),
        ([], (), 0, ""),
    ],
)
def test_it_ends_with_the_code_that_says_how(tmp_path: Path, rows: Any, words: Any, code: int, said: str) -> None:
    """0 ok, 2 bad input or usage, 3 stopped at a limit."""
    write_jsonl(tmp_path / "a.jsonl", rows)
    done = run(tmp_path, "a.jsonl", "--once", *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
