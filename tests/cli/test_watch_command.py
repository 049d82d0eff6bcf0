"""``everyclaim watch``: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest
from command_line import write_jsonl

from everyclaim.monitor import alerts

ANSWER = {"id": "a", "response": "It is red.", "contexts": ["It is red."], "team": "x"}


@pytest.fixture
def watch(everyclaim, monkeypatch):
    """One pass of `everyclaim watch` over `a.jsonl`, judged by the words alone."""
    monkeypatch.delenv("EVERYCLAIM_DECOMPOSER")
    return lambda *words: everyclaim("watch", "a.jsonl", "--once", *words, "--store", "r.db", "--judge", "lexical")


def test_a_pass_is_told_for_people_and_for_machines(watch):
    """Counts, the score and runs on standard error; with --json one line on standard output and nothing else."""
    wrong = {**ANSWER, "id": "b", "response": "It is red. It weighs 7 kg.", "contexts": ["It is red. It weighs 5 kg."]}
    write_jsonl("a.jsonl", [ANSWER, wrong, {"nothing": 1}])
    done = watch()
    assert (done.code, done.out) == (3, "")
    assert "1 of 3 answers failed or could not be read, more than 5 %" in done.err
    told = "3 new answers · 2 judged · 1 unreadable · mean score 0.750 · 3 claims: 1 contradicted, 0 unsupported"
    assert told in done.err
    assert "unreadable: a.jsonl, line 3: there is no response" in done.err
    again = watch()
    assert again.code == 0
    second = again.err
    assert second.startswith("watching a.jsonl · ")
    assert "\n0 new answers\nrun " in second
    assert second.endswith("2 answers scored · mean score 0.750\n")
    told = json.loads(watch("--name", "again", "--json", "--quiet").out)
    assert (told["found"], told["judged"], told["unreadable"], told["outcomes"]["scored"]) == (3, 2, 1, 2)
    assert (told["mean_score"], told["claims"]["CONTRADICTED"]) == (0.75, 1)
    assert next(iter(told["runs"].values())).startswith("again ")


def test_slices_do_not_split_the_run_of_a_day(watch):
    """An option of the report is no other judging."""
    write_jsonl("a.jsonl", [ANSWER])
    watch()
    write_jsonl("a.jsonl", [ANSWER, {**ANSWER, "id": "b"}])
    assert "2 answers scored" in watch("--slice", "team").err


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
        (
            [
                {**ANSWER, "id": f"{n}", "response": "It weighs 7 kg.", "contexts": ["It weighs 5 kg."]}
                for n in range(40)
            ],
            ("--alert-above", "0.01", "--alert", "command:false"),
            3,
            "was not delivered: the command false ended with code 1, after 4 attempts",
        ),
        ([], (), 0, ""),
    ],
)
def test_it_ends_with_the_code_that_says_how(watch, monkeypatch, rows, words, code, said):
    """0 ok, 2 bad input or usage, 3 stopped at a limit or an alert that nobody took."""
    write_jsonl("a.jsonl", rows)
    monkeypatch.setattr(alerts, "WAIT", 0.0)
    done = watch(*words)
    assert (done.code, said in done.err) == (code, True), done.err
