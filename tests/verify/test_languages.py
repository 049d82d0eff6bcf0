"""What the judge does not read gets no number, and an answer of two languages is read in part."""

from __future__ import annotations

import pytest

import everyclaim as ec

GERMAN = "Die Pumpe wurde 2021 zurückgerufen. Sie ist rot."
ENGLISH = "The tank holds 5 litres and it is made of steel."


@pytest.mark.parametrize("judge", ["lexical", "embedded"])
@pytest.mark.parametrize("metric", ["faithfulness", "nli", "attribution"])
@pytest.mark.parametrize(("response", "passage"), [(GERMAN, ENGLISH), (ENGLISH, GERMAN)])
def test_an_answer_that_the_judge_does_not_read_is_unread(judge, metric, response, passage):
    """It has no score under any metric, names language and judge, and no sentence of it counts as checked."""
    result = ec.score(response=response, passages=[passage], judge=judge, metric=metric, empty="one")
    assert (result.outcome, result.score) == ("unread", None)
    assert "German" in result.reason
    assert judge in result.reason
    assert result.unchecked


def test_of_an_answer_in_two_languages_the_part_that_is_read_is_scored():
    """What is left out is listed, and a guard does not call the answer validated."""
    response = f"{ENGLISH} {GERMAN}"
    result = ec.score(response=response, passages=[ENGLISH, "It is red."])
    assert (result.outcome, result.score) == ("scored", 1.0)
    assert {piece.reason for piece in result.unchecked} == {"unread"}
    assert any("German" in warning for warning in result.warnings)
    guard = ec.Guard(None)
    assert guard.answer("", [ENGLISH], response=ENGLISH).checked
    assert not guard.answer("", [ENGLISH], response=response).checked
    assert not guard.answer("", [GERMAN], response=GERMAN).checked
