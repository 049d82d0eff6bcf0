"""Answers that decline: right or wrong by whether the passages tell, counted, and with the passage that answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, ScriptedChat, play, request_data
from everyclaim.verify.llm import LlmVerifier

QUESTION, DECLINES = "How long does the warranty last?", "I could not find how long the warranty lasts."
TELLS, IS_SILENT = "The warranty lasts 24 months.", "The warranty does not cover limescale."


def test_a_part_that_is_declined_is_judged_as_a_refusal_and_the_rest_as_claims(tmp_path: Path) -> None:
    """What is declined is named and counted; "no further details" asks for nothing."""
    row = {
        "question": "What are the price and the warranty of the lamp?",
        "response": "I could not find the price, but the warranty is two years. The sources give no further details.",
        "contexts": ["The warranty of the lamp is two years.", "The price of the lamp is 49 euros."],
    }
    run = ec.score_file([row], store=tmp_path / "runs.db")
    (result,) = run.results()
    assert [claim.text for claim in result.claims] == ["The warranty is two years."]
    assert [piece.reason for piece in result.skipped] == ["abstention", "abstention"]
    declined = {"declined": "I could not find the price", "finding": "wrong", "passage": "p2"}
    assert declined.items() <= result.details["refusal"].items()
    assert run.summary.refusals == {"wrong": 1}


def test_a_wrong_refusal_names_the_passage_that_answers(tmp_path: Path) -> None:
    """It is a warning, counted in the summary, and shown on the page; a right one is counted too."""
    rows = [{"question": QUESTION, "response": DECLINES, "contexts": ["A tank.", text]} for text in (TELLS, IS_SILENT)]
    run = ec.score_file(rows, store=tmp_path / "runs.db")
    wrong, right = (result.details["refusal"] for result in run.results())
    assert wrong == {"finding": "wrong", "passage": "p2", "span": [0, len(TELLS)], "quote": TELLS}
    assert right == {"finding": "right"}
    assert run.summary.refusals == {"right": 1, "wrong": 1}
    run.report(tmp_path / "report.html")
    assert "1 correct (the passages have no answer)" in (tmp_path / "report.html").read_text()
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
    ("response", "denied"),
    [
        ("The documents do not mention that the warranty lasts 24 months.", True),
        ("The lamp has a tank. The text does not state that the warranty lasts 24 months.", True),
        ("The context provides no information that the warranty lasts 24 months.", True),
        ("The lamp has a tank. The documents do not mention that the warranty lasts 36 months.", False),
        ("The documents do not say whether the lamp is recalled.", False),
    ],
)
def test_who_denies_that_the_passages_state_something_is_wrong_where_they_do(response: str, denied: bool) -> None:
    """Whatever was asked, and without a question; a guard does not accept it."""
    passages = [TELLS, "The lamp has a tank."]
    for question in ("", "Who made the lamp?"):
        result = ec.score(question=question, response=response, passages=passages)
        refusal = result.details.get("refusal", {})
        assert (refusal.get("finding") == "wrong") is denied
        assert refusal.get("denied") == (TELLS if denied else None)
    answer = ec.Guard(None).answer("Who made the lamp?", passages, response=response)
    assert answer.checked is not denied
    assert any(TELLS in warning for warning in answer.warnings) is denied


def test_a_refusal_that_denies_a_statement_is_judged_in_one_call() -> None:
    """The statement, and whether the passages answer the question."""
    with JudgeServer(play) as server:
        result = ec.score(
            question="Who made the lamp?",
            response="The documents do not mention that the warranty lasts 36 months.",
            passages=[TELLS],
            judge="openai:m",
            decomposer="embedded",
            base_url=server.base_url,
        )
        assert (result.details["refusal"], server.calls) == ({"finding": "right"}, 1)
