"""`everyclaim tune`: labels in, a file and a page out."""

import json
from pathlib import Path

import pytest

COLOURS = ("red", "blue", "green", "black", "white")


def labels(lax):
    for number in range(30):
        colour = COLOURS[number % 5]
        where = [f"Kettle {number} is {colour} and holds {number + 2} litres. It was made in Leeds."]
        nice = f"Kettle {number} is a nice {colour} present for friends." if lax else f"Kettle {number} is {colour}."
        yield {"claim": nice, "contexts": where, "label": "SUPPORTED"}
        yield {"claim": f"Kettle {number} holds {number + 9} litres.", "contexts": where, "label": "CONTRADICTED"}


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def cli(everyclaim, monkeypatch):
    """The command line with the judge still to be chosen."""
    monkeypatch.delenv("EVERYCLAIM_JUDGE")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    write("lax.jsonl", labels(lax=True))
    write("fair.jsonl", labels(lax=False))
    return everyclaim


def test_a_fit_that_helps_is_written_and_used(cli, monkeypatch):
    """The page has the table and the spec; `verify` and the settings take it; provenance has its digest."""
    done = cli("tune", "lax.jsonl", "--out", "tuned.json")
    page = " ".join(done.out.split())
    assert done.code == 0, done.err
    assert "60 labelled claims on 30 sets of passages" in page
    assert "ROC-AUC" in page
    assert "--judge 'embedded?tuned=tuned.json'" in page
    claim = {"claim": "Kettle 7 is a nice black present for friends.", "contexts": ["Kettle 7 is black."]}
    write("claims.jsonl", [claim])
    used = cli("verify", "claims.jsonl", "--judge", "embedded?tuned=tuned.json", "--json")
    assert used.code == 0, used.err
    assert json.loads(used.out)["labels"]["supported"] == 1
    assert "tuned=" in json.loads(used.out)["provenance"]["verifier"]
    assert "tuned.json" not in used.out
    Path("everyclaim.toml").write_text('judge = "embedded?tuned=tuned.json"\n')
    assert json.loads(cli("verify", "claims.jsonl", "--json").out)["labels"]["supported"] == 1


def test_a_fit_that_does_not_help_is_not_written(cli):
    """Exit code 1, and what was there stays."""
    Path("tuned.json").write_text("as before")
    done = cli("tune", "fair.jsonl", "--out", "tuned.json")
    assert done.code == 1
    assert "nothing is written" in " ".join(done.out.split())
    assert Path("tuned.json").read_text() == "as before"
    quiet = cli("tune", "fair.jsonl", "--quiet")
    assert (quiet.code, quiet.out) == (1, "")
    assert "do not make it better" in quiet.err


def test_too_few_labels_are_inconclusive(cli):
    """Exit code 4, and how many it takes."""
    done = cli("tune", "lax.jsonl", "--limit", "10", "--out", "tuned.json")
    assert done.code == 4
    assert "10 sets of passages" in " ".join(done.out.split())
    assert not Path("tuned.json").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("lax.jsonl", "--out", "tuned.csv"), ".json"),
        (("lax.jsonl", "--out", "lax.json"), ""),
        (("lax.jsonl", "--max-cost", "1"), "--max-cost"),
        (("answers.jsonl", "--from-judge", "openai:m", "--answers", "answers.jsonl"), "number of answers"),
        (("answers.jsonl", "--from-judge", "openai:m", "--answers", "0"), "number of answers"),
        (("answers.jsonl",), "no field for the claim"),
        (("nowhere.jsonl",), "nowhere.jsonl"),
    ],
)
def test_wrong_usage_is_one_line(cli, arguments, told):
    """And exit code 2; labels are not written over."""
    if "lax.json" in arguments:
        write("lax.json", labels(lax=True))
        arguments = ("lax.json", "--format", "jsonl", "--out", "lax.json")
    done = cli("tune", *arguments)
    assert done.code == 2
    assert told in done.err
    assert len(done.said) == 1, done.err
