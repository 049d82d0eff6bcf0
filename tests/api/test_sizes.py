"""How large what is scored may be: everywhere the same limits, and nothing beyond them becomes a score."""

from __future__ import annotations

import pytest

import everyclaim as ec

PASSAGES = ["The kettle is red."]
MANY = "The kettle is red. " * 20


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"max_answer_chars": 100}, "the response has 380 characters, more than max_answer_chars=100"),
        ({"max_passage_chars": 10}, "passage 1 has 18 characters, more than max_passage_chars=10"),
        ({"max_passages": 1}, "the row has more than 1 passages, more than max_passages=1"),
        ({"max_row_mb": 0.0001}, "characters, more than max_row_mb=0.0001"),
    ],
)
def test_one_answer_beyond_a_limit_is_an_input_error(sizes: dict[str, float], says: str) -> None:
    """Before a judge is asked."""
    with pytest.raises(ec.InputError, match=says):
        ec.score(response=MANY, passages=PASSAGES * 2, judge="lexical", **sizes)


@pytest.mark.parametrize("metric", ["faithfulness", "nli", "qa", "ragchecker", "factual_correctness", "combined"])
def test_too_many_sentences_fail_under_every_metric(metric: str) -> None:
    """Never a score over the first few."""
    row = {"response": MANY, "passages": PASSAGES, "reference": "The kettle is red.", "judge": "lexical"}
    result = ec.score(**row, metric=metric, max_claims=19)
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)
    assert result.reason == "bad_input: the answer has 20 sentences, more than max_claims=19"
    assert ec.score(**row, metric=metric, max_claims=20).outcome is not ec.Outcome.FAILED


def test_given_claims_and_texts_to_split_are_bounded() -> None:
    """`verify_claims` and `extract_claims`."""
    with pytest.raises(ec.InputError, match="max_answer_chars=10"):
        ec.verify_claims(["The kettle is red."], PASSAGES, judge="lexical", max_answer_chars=10)
    with pytest.raises(ec.InputError, match="3 claims, more than max_claims=2"):
        ec.verify_claims(["A.", "B.", "C."], PASSAGES, judge="lexical", max_claims=2)
    with pytest.raises(ec.InputError, match="max_answer_chars=10"):
        ec.extract_claims("The kettle is red.", max_answer_chars=10)
    with pytest.raises(ec.InputError, match="20 sentences, more than max_claims=5"):
        ec.extract_claims(MANY, max_claims=5)
