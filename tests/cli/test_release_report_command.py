"""`everyclaim release-report`: files, exit codes, and what cannot be meant."""

import json
from pathlib import Path

import pytest
from command_line import write_jsonl

SOUND = [
    {"id": f"a{n}", "response": f"It is red {n} | It is big {n}", "contexts": [f"It is red {n}. It is big {n}."]}
    for n in range(60)
]
TORN = [
    row | {"response": f"It is red {n} | It is old {n}", "contexts": [f"It is red {n}. NOT It is old {n}."]}
    for n, row in enumerate(SOUND)
]


def score_releases(everyclaim):
    for name, release, rows in (("old", "v1", SOUND), ("one", "v2", TORN), ("two", "v2", TORN)):
        write_jsonl(f"{name}.jsonl", rows)
        done = everyclaim("score", f"{name}.jsonl", "--name", name, "--release", release, "-q")
        assert done.code == 0, done.err


@pytest.fixture
def runs(prepared):
    """A release, and two runs of the next, in which half of the claims are contradicted."""
    return prepared(score_releases)


@pytest.mark.slow
def test_it_is_shown_written_and_gated(runs):
    """One run of the release is to be watched, two are a reason to roll back."""
    first = runs("release-report", "old", "one", "--require", "--json")
    assert first.code == 4, first.err
    assert json.loads(first.out)["rule"]["verdict"] == "watch"
    done = runs("release-report", "old", "one", "two", "--require", "--out", "r.html", "--out", "r.md")
    assert done.code == 1, done.err
    assert "Roll v2 back to v1" in " ".join(done.out.split())
    assert Path("r.html").read_text("utf-8").startswith("<!doctype html>")
    assert "**risen**" in Path("r.md").read_text("utf-8")
    assert runs("release-report", "old", "one", "two").code == 0, "without --require it reports"
    assert runs("release-report", "one", "two", "old", "--require").code == 0, "better is no reason"


def test_few_answers_are_no_all_clear(everyclaim):
    """Twelve answers, of which the new release makes some worse: inconclusive, never "keep"."""
    worse = [TORN[n] if n < 3 else row for n, row in enumerate(SOUND[:12])]
    for name, rows in (("r1", SOUND[:12]), ("r2", worse)):
        write_jsonl(f"{name}.jsonl", rows)
        assert everyclaim("score", f"{name}.jsonl", "--name", name, "-q").code == 0
    done = everyclaim("compare", "--release", "r1", "r2", "--require")
    assert done.code == 4, done.out
    told = " ".join(done.out.split())
    assert "Too few samples to rule out a rise of failing claims in r2 over r1" in told
    assert "no significant rise" not in told
