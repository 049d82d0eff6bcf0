"""`everyclaim label RUN --splits`: sentences with their claims go out to people, and their marks come back."""

import csv
import json

import pytest
from command_line import write_jsonl

import everyclaim as ec

BOTH = "The kettle is red and the mill is old."


def score_sentences(everyclaim):
    rows = [
        {"id": f"a{n}", "response": f"{BOTH} It holds {n} litres.", "contexts": [f"{BOTH} It holds {n} litres."]}
        for n in range(50)
    ]
    write_jsonl("answers.jsonl", rows)
    command = "score answers.jsonl --name run --judge lexical --decomposer embedded -q"
    assert everyclaim(*command.split()).code == 0


@pytest.fixture
def scored(prepared):
    """A run of 50 answers, each of two sentences, the first with two claims."""
    return prepared(score_sentences)


def drawn(call, *options):
    done = call("label", "run", "--splits", *options)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_accepted_share_stands_against_ninety_per_cent(scored):
    """A sentence with one bad claim is rejected; the share has an interval, and an exit code where asked."""
    rows = drawn(scored, "--n", "100")
    assert len({row["sample_id"] for row in rows}) == 50
    bad = [row | {"mark": "Over-Split" if row["claim"].startswith("the mill") else "good"} for row in rows]
    bad = [row | {"mark": "lost meaning"} if "kettle" in row["claim"] else row for row in bad]
    write_jsonl("bad.jsonl", bad)
    done = scored("label", "run", "--splits", "--marks", "bad.jsonl", "--json", "--require")
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert found["sentences"] == 100
    assert found["accepted"]["value"] == 0.5
    assert found["standing"] == "missed"
    assert found["with_mark"]["lost_meaning"]["value"] == 0.5
    write_jsonl("good.jsonl", [row | {"mark": "good"} for row in rows])
    page = scored("label", "run", "--splits", "--marks", "good.jsonl", "--require")
    assert page.code == 0, page.out
    assert "100 of 100" in page.out
    write_jsonl("few.jsonl", [row | {"mark": "good", "annotator": "anna"} for row in rows[:3]])
    assert ec.check_splits("run", store=".everyclaim/runs.db").accepted.value == 1.0


def test_a_spreadsheet_goes_out_and_comes_back_as_worked_examples(scored, desk):
    """`better` says what the claims should be, one in a line; the file can be used as a rubric, and nothing is lost."""
    done = scored("label", "run", "--splits", "--n", "4", "--out", "splits.csv")
    assert done.code == 0, done.err
    with (desk / "splits.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["mark"] = "under_split" if "litres" in row["sentence"] else "good"
        if row["mark"] == "under_split":
            row["better"] = 'It holds "some" litres.\nIt holds \x7f litres.'
    with (desk / "back.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    done = scored("label", "run", "--splits", "--marks", "back.csv", "--examples", "rubric.toml")
    assert done.code == 0, done.err
    assert "2 worked examples of 2 rejected sentences" in done.err
    from everyclaim.prompts.domain import read_domain

    domain = read_domain((desk / "rubric.toml").read_text("utf-8"), name="rubric.toml")
    assert domain.splits
    assert 'It holds \\"some\\" litres.' in domain.decompose
    again = scored("label", "run", "--splits", "--marks", "back.csv", "--examples", "rubric.toml")
    assert again.code == 2
    assert "rubric.toml exists" in again.err


@pytest.mark.parametrize(
    "options",
    [["--marks", "x.jsonl"], ["--splits", "--answers"], ["--splits", "--examples", "x.toml"], ["--splits", "--json"]],
)
def test_options_that_would_do_nothing_are_refused(scored, options):
    """One line, exit code 2."""
    done = scored("label", "run", *options)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
