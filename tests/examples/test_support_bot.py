"""The examples: data sets as their READMEs promise, files that are read whole, a middleware that guards."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import everyclaim as ec
from everyclaim.core.types import FailureMode
from everyclaim.io import read_samples

ROOT = Path(__file__).resolve().parents[2] / "examples" / "support_bot"
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = {path.stem: path.read_text("utf-8") for path in (ROOT / "documents").glob("*.md")}


def _rows(name):
    return [json.loads(line) for line in (ROOT / name).read_text("utf-8").splitlines()]


ANSWERS = _rows("answers.jsonl")
NEWER = _rows("answers_v2.jsonl")
LABELS = _rows("labels.jsonl")
BY_ID = {answer["id"]: answer for answer in ANSWERS}
FIRST = [label for label in LABELS if label["annotator"] == "annotator-1"]


def _table(heading):
    """Read the rows of the README's table under a heading, without its header."""
    section = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip(" `*") for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("answers", [ANSWERS, NEWER], ids=["v1", "v2"])
def test_contexts_are_cut_verbatim_from_the_documents(answers):
    """Every context is a piece of the document that its id names."""
    for answer in answers:
        assert 2 <= len(answer["contexts"]) <= 4
        for context in answer["contexts"]:
            assert context["text"] in DOCUMENTS[context["id"].split("/")[0]], context["id"]


def test_label_spans_are_true_and_do_not_overlap():
    """response[start:end] is the claim, and one annotator never labels a character twice."""
    last = {}
    for label in LABELS:
        start, end = label["span"]
        assert BY_ID[label["sample_id"]]["response"][start:end] == label["claim"]
        key = label["sample_id"], label["annotator"]
        assert last.get(key, 0) <= start < end
        last[key] = end


def test_evidence_is_a_true_quote_of_the_answers_own_contexts():
    """Every quote stands in a context of that answer at the offsets given."""
    for label in LABELS:
        texts = {context["id"]: context["text"] for context in BY_ID[label["sample_id"]]["contexts"]}
        for evidence in label["evidence"]:
            assert texts[evidence["passage_id"]][evidence["start"] : evidence["end"]] == evidence["quote"] != ""


def test_the_second_release_is_better_but_worse_in_arithmetic():
    """What a comparison of releases ought to find."""

    def bad(answers, **tags):
        chosen = [a["tags"] for a in answers if tags.items() <= a["tags"].items()]
        return sum(t["failure"] != "none" for t in chosen)

    assert bad(NEWER) < bad(ANSWERS)
    assert bad(NEWER, needs="arithmetic") > bad(ANSWERS, needs="arithmetic")


def test_the_readmes_table_of_failures_is_counted():
    """Answers and claims per failure kind, in both releases, as the README prints them."""
    claims = Counter(label["failure_mode"] or "none" for label in FIRST)
    answers, newer = (Counter(a["tags"]["failure"] for a in release) for release in (ANSWERS, NEWER))
    counted = [
        [kind, *map(str, (answers[kind], claims[kind], newer[kind]))] for kind in ["none", *FailureMode] if claims[kind]
    ]
    counted.append(["all", str(len(ANSWERS)), str(len(FIRST)), str(len(NEWER))])
    assert sorted(_table("How many of each")) == sorted(counted)


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_answers_about_baking_hold_one_mistake_each_judge_finds():
    """Against the four articles: the wrong year is contradicted, the answer that declines has no score."""
    scored = {}
    for sample in read_samples(EXAMPLES / "baking/answers.jsonl", contexts=False):
        result = ec.score(
            question=sample.question,
            response=sample.response,
            metric="factscore?gamma=0",
            knowledge=f"corpus:{EXAMPLES / 'baking/documents'}",
        )
        scored[sample.id] = (result.outcome, result.score)
    assert scored["stollen"] == ("abstained", None)
    assert scored["lebkuchen"] == ("scored", 1)
    assert scored["gingerbread"][1] == 0.6
    assert len(scored) == 6


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fastapi_guard.py"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    module: dict[str, Any] = runpy.run_path(str(EXAMPLE))
    with TestClient(module["app"]) as client:
        yield client


def test_what_the_sources_do_not_support_does_not_leave_the_service(client: TestClient) -> None:
    """The claim is dropped and named; the rest of the reply is as the service made it."""
    said = client.get("/ask", params={"question": "How long does descaling take?"}).json()
    assert said["answer"] == "Descaling takes 35 minutes on the Classica."
    assert said["faithfulness"]["checked"]
    assert said["faithfulness"]["score"] == 1.0
    assert len(said["faithfulness"]["removed"]) == 1
    assert said["contexts"] == ["The descaling programme takes 35 minutes on the Classica."]


def test_other_replies_pass(client: TestClient) -> None:
    """Other paths, and errors."""
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ask").status_code == 422
