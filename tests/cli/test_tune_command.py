"""`everyclaim tune`: labels in, a file and a page out."""

import json
import tomllib
from pathlib import Path

import pytest
from command_line import write_jsonl as write

from everyclaim.testing import JudgeServer, play, request_data

COLOURS = ("red", "blue", "green", "black", "white")


def labels(lax):
    for number in range(30):
        colour = COLOURS[number % 5]
        where = [f"Kettle {number} is {colour} and holds {number + 2} litres. It was made in Leeds."]
        nice = f"Friends will love the present, kettle {number}." if lax else f"Kettle {number} is {colour}."
        wrong = f"Kettle {number} was made in Leeds by hand." if lax else f"Kettle {number} holds {number + 9} litres."
        yield {"claim": nice, "contexts": where, "label": "SUPPORTED"}
        yield {"claim": wrong, "contexts": where, "label": "CONTRADICTED"}


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
    claim = {"claim": "Friends will love the present, kettle 7.", "contexts": ["Kettle 7 is black."]}
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
    assert "no file written: label more claims" in " ".join(done.out.split())
    assert Path("tuned.json").read_text() == "as before"


def test_too_few_labels_are_inconclusive(cli):
    """Exit code 4, and how many it takes."""
    done = cli("tune", "lax.jsonl", "--limit", "10", "--out", "tuned.json")
    assert done.code == 4
    assert "10 sets of passages" in " ".join(done.out.split())
    assert not Path("tuned.json").exists()


def mild_once_shown(request):
    """Play a model that accepts presents once its instructions have an example of one."""
    knows = '"label":"SUPPORTED"' in request.text.partition('{"passages"')[0]
    rows = json.loads(play(request))["verdicts"]
    claims = {key: text for group in request_data(request.messages)["claims"] for key, text in group["claims"].items()}
    for row in rows:
        if "present" in claims[row["id"]]:
            row.update({"label": "SUPPORTED", "support": 8} if knows else {"label": "UNSUPPORTED", "support": 3})
    return json.dumps({"verdicts": rows})


def test_a_language_model_is_tuned_by_worked_examples(cli):
    """They are chosen from the labels and written as a rubric, which `verify` takes; the gain is of other documents."""
    with JudgeServer(mild_once_shown) as server:
        model = ("--judge", "openai:m", "--base-url", server.base_url)
        done = cli("judge", "tune", "lax.jsonl", *model, "--out", "rubric.toml")
        page = " ".join(done.out.split())
        assert done.code == 0, done.err
        assert "balanced accuracy 0.500 1.000 +0.500 +0.500 to +0.500" in page
        assert "the rubric has 4 worked examples" in page
        assert "--judge 'openai:m" in page
        assert "--rubric rubric.toml" in page
        assert "calls" in page
        rubric = Path("rubric.toml").read_text()
        assert rubric.startswith("# Fitted by everyclaim judge tune to 60 labelled claims, for openai:m")
        assert len(tomllib.loads(rubric)["verify"]["examples"]) == 4
        claim = {"claim": "Kettle 99 is a nice black present for friends.", "contexts": ["Kettle 99 is black."]}
        write("claims.jsonl", [claim])
        plain = cli("verify", "claims.jsonl", *model, "--json")
        used = cli("verify", "claims.jsonl", *model, "--rubric", "rubric.toml", "--json")
    assert json.loads(plain.out)["labels"]["supported"] == 0
    assert json.loads(used.out)["labels"]["supported"] == 1


def test_examples_that_do_not_help_are_not_written(cli):
    """Exit code 1; examples of a model that errs nowhere cost no further call, and a rubric is not tuned."""
    with JudgeServer(play) as server:
        model = ("--judge", "openai:m", "--base-url", server.base_url, "--no-cache")
        stubborn = cli("judge", "tune", "lax.jsonl", *model, "--out", "rubric.toml", "--json")
        assert stubborn.code == 1, stubborn.err
        found = json.loads(stubborn.out)
        assert (found["outcome"], found["examples"], found["written"]) == ("no_gain", 0, None)
        assert found["usage"]["calls"] == server.calls > 30
        assert not Path("rubric.toml").exists()
        before = server.calls
        assert cli("judge", "tune", "fair.jsonl", *model, "--quiet").code == 1
        assert server.calls == before + 30
        few = cli("judge", "tune", "lax.jsonl", *model, "--limit", "10")
        assert few.code == 4
        refused = cli("judge", "tune", "lax.jsonl", *model, "--rubric", "mine.toml")
        assert (refused.code, "leave out" in refused.err) == (2, True)
        assert server.calls == before + 30
