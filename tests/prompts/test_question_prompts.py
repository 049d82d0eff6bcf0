"""The prompts of QA consistency: pinned wordings, strict schemas, replies read by id."""

from __future__ import annotations

from typing import Any

import pytest

from everyclaim.core.errors import JudgeError
from everyclaim.prompts.questions import AgreementPrompt, Answer, AnswerPrompt, QuestionPrompt


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ({"found": True, "answer": " in 1889 "}, Answer("in 1889")),
        ({"found": False, "answer": ""}, Answer(None)),
        ({"found": False, "answer": "not said"}, Answer(None)),
        ({"found": True, "answer": ""}, None),
        ({"found": "yes", "answer": "1889"}, None),
        ({"found": True, "answer": 1889}, None),
        ({"answer": "1889"}, None),
    ],
)
def test_an_answer_needs_words_where_it_was_found(row: dict[str, Any], read: Answer | None) -> None:
    """Anything else is left out, and so asked for again."""
    found = AnswerPrompt().parse({"answers": [row | {"id": "q1"}]}, {"q1": "When?"})
    assert found.get("q1") == read


def test_questions_are_read_without_repeats_and_never_more_than_asked_for() -> None:
    """Blank ones go, white space is tidied."""
    reply = {"sentences": [{"id": "s1", "questions": ["Who?", " Who? ", "", "When\nwas it?", "Where?", "Why?"]}]}
    assert QuestionPrompt(3).parse(reply, {"s1": "x"}) == {"s1": ("Who?", "When was it?", "Where?")}
    assert QuestionPrompt().parse({"sentences": [{"id": "s1", "questions": [1]}]}, {"s1": "x"}) == {}


@pytest.mark.parametrize("reply", [{}, {"pairs": {}}, {"pairs": [{"id": "q9", "same": True}]}])
def test_a_reply_of_another_form_or_about_unknown_ids_is_no_reply(reply: dict[str, Any]) -> None:
    """It does not speak of what was asked."""
    with pytest.raises(JudgeError, match="bad_reply"):
        AgreementPrompt().parse(reply, {"q1": {}})


def test_only_true_and_false_say_whether_answers_agree() -> None:
    """Not 1, not "yes"."""
    reply = {"pairs": [{"id": "q1", "same": True}, {"id": "q2", "same": 1}, {"id": "q3", "same": "yes"}]}
    assert AgreementPrompt().parse(reply, dict.fromkeys(("q1", "q2", "q3"))) == {"q1": True}
