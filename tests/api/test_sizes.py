"""How large what is scored may be: everywhere the same limits, and nothing beyond them becomes a score."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, play

PASSAGES = ["The kettle is red."]
MANY = "The kettle is red. " * 20


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"max_answer_chars": 100}, "the response has 380 characters, more than max_answer_chars=100"),
        ({"max_passage_chars": 10}, "passage 1 has 18 characters, more than max_passage_chars=10"),
        ({"max_passages": 1}, "there are more than 1 passages, more than max_passages=1"),
        ({"max_row_mb": 0.0001}, "characters in all, more than max_row_mb=0.0001"),
    ],
)
def test_one_answer_beyond_a_limit_is_an_input_error(sizes: dict[str, float], says: str) -> None:
    """Before a judge is asked."""
    with pytest.raises(ec.InputError, match=says):
        ec.score(response=MANY, passages=PASSAGES * 2, judge="lexical", **sizes)


def test_an_answer_of_very_many_sentences_is_refused_as_usual() -> None:
    """Within seconds, whatever its length; two hundred megabytes are not even looked at."""
    with pytest.raises(ec.InputError, match="the response has 200,000,000 characters"):
        ec.score(response="A is b. " * 25_000_000, passages=PASSAGES)
    result = ec.score(response="It is a day. " * 75_000, passages=PASSAGES)
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)
    assert result.reason == "bad_input: the answer has 75,000 sentences, more than max_claims=5,000"


@pytest.mark.parametrize("metric", ["faithfulness", "nli", "qa", "ragchecker", "factual_correctness", "combined"])
def test_too_many_sentences_fail_under_every_metric(metric: str) -> None:
    """Never a score over the first few."""
    row = {"response": MANY, "passages": PASSAGES, "reference": "The kettle is red.", "judge": "lexical"}
    result = ec.score(**row, metric=metric, max_claims=19)
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)
    assert result.reason == "bad_input: the answer has 20 sentences, more than max_claims=19"
    assert ec.score(**row, metric=metric, max_claims=20).outcome is not ec.Outcome.FAILED


@pytest.mark.parametrize("one_call", [False, True])
def test_a_language_model_is_not_asked_about_them(one_call: bool) -> None:
    """It would be paid for."""
    with JudgeServer(lambda request: play(request.messages)) as server:
        options = {"judge": "openai:m", "base_url": server.base_url, "one_call": one_call}
        result = ec.score(response=MANY, passages=PASSAGES, max_claims=19, **options)
    assert (result.outcome, server.calls) == (ec.Outcome.FAILED, 0)


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


def test_rows_of_a_file_are_left_out_and_counted(tmp_path: object) -> None:
    """The others are scored."""
    rows = [{"response": "The kettle is red.", "contexts": PASSAGES}, {"response": MANY, "contexts": PASSAGES}]
    run = ec.score_file(rows, store=f"{tmp_path}/runs.db", judge="lexical", max_answer_chars=100)
    assert run.read is not None
    assert (run.read.good, run.read.bad) == (1, 1)
    assert "max_answer_chars=100" in run.read.bad_rows[0].reason
    assert run.summary.overall.total == 1


@pytest.mark.parametrize("lead", ["word " * 40_000 + "include:\n\n", "| " + "head " * 40_000 + "| b |\n|---|---|\n"])
def test_what_introduces_a_long_list_is_not_copied_behind_every_item(lead: str) -> None:
    """Two hundred kilobytes before four thousand items would be eight hundred megabytes."""
    items = "| It is red | 5 |\n" if lead.startswith("|") else "- It is red.\n"
    found = ec.extract_claims(lead + items * 4000)
    assert len(found.claims) >= 4000
    assert sum(len(claim.text) + len(claim.sentence) for claim in found.claims) < 3_000_000


def test_a_guard_takes_as_many_passages_as_it_is_told() -> None:
    """Fewer than usual, before anything is generated; and more."""
    asked = []

    def generate(question: str, passages: object, instructions: str) -> str:
        asked.append(question)
        return "The kettle is red."

    with pytest.raises(ec.InputError, match="more than max_passages=1"):
        ec.Guard(generate, judge="lexical", max_passages=1).answer("Which colour?", PASSAGES * 2)
    assert asked == []
    many = [*PASSAGES, *["Tea."] * 20_000]
    assert ec.Guard(generate, judge="lexical", max_passages=30_000).answer("Which colour?", many).checked
