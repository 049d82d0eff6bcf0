"""QA consistency: questions about the response, answered from it and from the passages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.protocols import Message
from everyclaim.metrics.qa import token_f1
from everyclaim.testing import ScriptedChat, request_data
from everyclaim.verify.llm import LlmVerifier

GAME = (
    "The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los "
    "Angeles Memorial Coliseum in Los Angeles."
)
BOWL = "The first Super Bowl was played on January 15, 1967. It took place in Miami."
ASKED = {"When was the first Super Bowl played?": ("January 15, 1967", "on Jan. 15, 1967"),
         "Where did the first Super Bowl take place?": ("Miami", "Los Angeles")}  # fmt: skip


def scripted(answers: dict[str, tuple[str, str]], same: bool = True) -> Callable[[Sequence[Message]], str]:
    """Return a model that asks these questions (spread over the sentences) and answers as told; "" is not found."""

    def rule(messages: Sequence[Message]) -> str:
        data = request_data(messages)
        if "ask_about" in data:
            keys = list(data["ask_about"])
            asked: dict[str, list[str]] = {key: [] for key in keys}
            for i, question in enumerate(answers):
                asked[keys[i % len(keys)]].append(question)
            return json.dumps({"sentences": [{"id": k, "questions": q} for k, q in asked.items()]})
        if "texts" in data:
            side = 0 if list(data["texts"].values()) == [BOWL] else 1
            found = {key: answers[question][side] for key, question in data["questions"].items()}
            return json.dumps({"answers": [{"id": k, "found": bool(a), "answer": a} for k, a in found.items()]})
        return json.dumps({"pairs": [{"id": key, "same": same} for key in data["pairs"]]})

    return rule


def score(chat: ScriptedChat, metric: str = "qa", response: str = BOWL, passages: Sequence[str] = (GAME,)) -> ec.Result:
    return ec.score(
        response=response, passages=list(passages), judge=LlmVerifier(chat), metric=metric, decomposer="embedded"
    )


def test_the_super_bowl_by_three_comparisons() -> None:
    """The day is the same in other words, the place is another: F1 0.57 and 0, exact 0 and 0, judged 1 and 0."""
    f1 = score(ScriptedChat(scripted(ASKED)))
    assert [q["agreement"] for q in f1.details["questions"]] == [pytest.approx(2 * 2 / (3 + 4)), 0.0]
    assert f1.score == pytest.approx(2 / 7)
    assert f1.components == {"answered": 1.0, "exact": 0.0}
    assert score(ScriptedChat(scripted(ASKED)), "qa?compare=exact").score == 0.0
    assert score(ScriptedChat(scripted(ASKED, same=True)), "qa?compare=judge").score == 1.0
    assert score(ScriptedChat(scripted(ASKED, same=False)), "qa?compare=judge").score == 0.0


def test_a_question_that_the_response_does_not_answer_is_set_aside_and_shown() -> None:
    """It was badly asked, which says nothing about the response."""
    asked = {"When?": ("January 15, 1967", "January 15, 1967"), "Who won?": ("", "Green Bay")}
    result = score(ScriptedChat(scripted(asked)))
    assert (result.score, result.details["questions"][1]["agreement"]) == (1.0, None)
    assert result.warnings == ("1 of 2 questions ignored: the response does not answer them",)


def test_when_nothing_can_be_asked_there_is_no_score() -> None:
    """No questions, or none that the response answers."""
    for asked in ({}, {"Who won?": ("", "Green Bay")}):
        result = score(ScriptedChat(scripted(asked)))
        assert (result.outcome, result.score) == ("no_claims", None)
        assert result.reason == "no question could be written for the response"


def test_who_answers_from_the_passages_never_sees_the_response() -> None:
    """And the other way round: the two requests share only the questions."""
    chat = ScriptedChat(scripted(ASKED))
    score(chat)
    with_texts = [request_data(messages)["texts"] for messages in chat.asked if "texts" in request_data(messages)]
    assert with_texts == [{"t1": BOWL}, {"t1": GAME}]


@pytest.mark.parametrize("where", ["ask_about", "texts", "pairs"])
@pytest.mark.parametrize(
    "change", [lambda rows: rows.clear(), lambda rows: rows[0].update(id="x9"), lambda rows: rows.append(rows[0])]
)
def test_an_answer_that_stays_away_is_a_failure_and_never_a_score(where: str, change: Callable[[Any], Any]) -> None:
    """Missing, unknown and repeated ids, twice over."""
    usual = scripted(ASKED)

    def rule(messages: Sequence[Message]) -> str:
        reply = json.loads(usual(messages))
        if where in request_data(messages):
            change(*reply.values())
        return json.dumps(reply)

    result = score(ScriptedChat(rule), "qa?compare=judge")
    assert (result.outcome, result.score) == ("failed", None)
    assert result.reason.split(":")[0] in {"missing_answer", "bad_reply"}


def cloze(response: str, *passages: str, metric: str = "qa") -> ec.Result:
    return ec.score(response=response, passages=list(passages), metric=metric)


def test_without_a_model_names_numbers_and_dates_are_blanked() -> None:
    """The super bowl again: the passages' day and place stand in the sentence that lines up."""
    result = cloze(
        "The first Super Bowl was played on January 15, 1967 in Miami.",
        "The first Super Bowl was played on 15 January 1967, at the Memorial Coliseum in Los Angeles.",
    )
    shown = {q["question"]: (q["from_response"], q["from_passages"]) for q in result.details["questions"]}
    assert shown["The first Super Bowl was played on ____."] == ("January 15, 1967", "15 January 1967")
    assert shown["The first Super Bowl was played in ____."][0] == "Miami"
    assert 0 < result.score < 1


def test_a_blank_is_filled_by_its_own_kind_and_unit() -> None:
    """A volume by a volume, a mass by a mass, a year by a year."""
    result = cloze("The kettle holds 9 litres and weighs 2 kg.", "Our kettle holds 1.5 litres. It weighs 2000 g.")
    assert [(q["from_response"], q["from_passages"]) for q in result.details["questions"]] == [
        ("9 litres", "1.5 litres"),
        ("2 kg", "2000 g"),
    ]


@pytest.mark.parametrize("compare", ["token_f1", "nli"])
def test_values_that_exclude_each_other_do_not_agree_by_their_unit(compare: str) -> None:
    """The word that 500 metres and 330 metres share counts nothing; a less exact date is no other date."""
    told = {"response": "The tower is 500 metres tall.", "passages": ["The tower is 330 metres tall."]}
    assert ec.score(**told, metric=f"qa?compare={compare}").score == 0
    assert token_f1("14 March 1889", "14 March 1887") == 0
    assert token_f1("March 1889", "1889") == pytest.approx(2 / 3)
