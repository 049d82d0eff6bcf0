"""Answers that decline: right or wrong by whether the passages tell, counted, and with the passage that answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.testing import ScriptedChat, request_data
from everyclaim.verify.llm import LlmVerifier

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "benchmarks/accuracy/refusals.jsonl").read_text("utf-8").splitlines()
]
QUESTION, DECLINES = "How long does the warranty last?", "I could not find how long the warranty lasts."
TELLS, IS_SILENT = "The warranty lasts 24 months.", "The warranty does not cover limescale."


def test_sixty_refusals_are_found_and_judged() -> None:
    """Every one declines; "wrong" is said of none that is right, and of at least 20 of the 30 that are wrong."""
    with ec.Evaluator() as evaluator:
        results = [evaluator.score({name: row[name] for name in ("question", "response", "contexts")}) for row in ROWS]
    assert {result.outcome for result in results} == {"abstained"}
    found = [result.details["refusal"]["finding"] for result in results]
    pairs = [(row["refusal"], one) for row, one in zip(ROWS, found, strict=True)]
    assert pairs.count(("right", "wrong")) == 0
    assert pairs.count(("wrong", "wrong")) >= 20


def test_a_wrong_refusal_names_the_passage_that_answers(tmp_path: Path) -> None:
    """It is a warning, counted in the summary, and shown on the page; a right one is counted too."""
    rows = [{"question": QUESTION, "response": DECLINES, "contexts": ["A tank.", text]} for text in (TELLS, IS_SILENT)]
    run = ec.score_file(rows, store=tmp_path / "runs.db")
    wrong, right = (result.details["refusal"] for result in run.results())
    assert wrong == {"finding": "wrong", "passage": "p2", "span": [0, len(TELLS)], "quote": TELLS}
    assert right == {"finding": "right"}
    assert run.summary.refusals == {"right": 1, "wrong": 1}
    assert any("although a passage answers" in text for text in run.summary.warning_texts)
    run.report(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["refusals"] == {"right": 1, "wrong": 1}


@pytest.mark.parametrize(("label", "finding"), [("SUPPORTED", "wrong"), ("UNSUPPORTED", "right")])
def test_a_language_model_is_asked_whether_the_passages_answer(label: str, finding: str) -> None:
    """One claim: that they answer the question; its evidence is the passage."""

    def reply(messages: object) -> str:
        (group,) = request_data(messages)["claims"]
        (key,) = group["claims"]
        assert QUESTION in group["claims"][key]
        row = {"id": key, "quotes": [TELLS], "why": "so", "label": label, "mode": "other", "conflict": False}
        return json.dumps({"verdicts": [row]})

    judge = LlmVerifier(ScriptedChat(reply))
    result = ec.score(response=DECLINES, passages=[TELLS], question=QUESTION, judge=judge, decomposer="embedded")
    assert result.details["refusal"]["finding"] == finding


@pytest.mark.parametrize(
    "text",
    [
        "Use the button below to start a return.",
        "Please choose an option from the list below.",
        "I recommend contacting support.",
        "Please contact our support team.",
        "You may want to consult a lawyer.",
        "I'm sorry to hear that!",
        "I can help you with that.",
        "The manual does not describe this.",
        "The reason is not mentioned in the text.",
        "The text does not say how much it cost.",
    ],
)
def test_directions_courtesies_and_refusals_are_no_claims(text: str) -> None:
    """They speak of the page and of whom to ask, not of the world."""
    assert not ec.extract_claims(text).claims
