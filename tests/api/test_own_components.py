"""Judges and decomposers of one's own: objects and plain functions, synchronous or not, and what is stored of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.types import Evidence

SHELF = ["The kettle is red. It holds 2 litres."]
ANSWER = "The kettle is red. It is new."
S, U, C = ec.Label.SUPPORTED, ec.Label.UNSUPPORTED, ec.Label.CONTRADICTED


def is_there(claim: ec.Claim, passages: tuple[ec.Passage, ...]) -> bool:
    """Judge by looking the claim up."""
    return any(claim.text.rstrip(".") in passage.text for passage in passages)


async def share(claim: ec.Claim, passages: object) -> float:
    """Judge by nothing but the claim."""
    await asyncio.sleep(0)
    return 0.75 if "red" in claim.text else 0.25


def in_detail(claim: ec.Claim, passages: object, question: str) -> dict[str, Any]:
    """Judge with all that can be said."""
    label = "supported" if "red" in claim.text else "CONTRADICTED"
    return {"label": label, "evidence": "kettle is red", "rationale": f"asked {question}"}


def with_a_reason(claim: ec.Claim, passages: object) -> tuple[bool, str]:
    """Judge, and say why."""
    return "red" in claim.text, f"looked for {claim.text!r}"


def halves(response: str) -> list[str]:
    """Split at full stops."""
    return [part.strip() + "." for part in response.split(".") if part.strip()]


async def one_claim(response: str, question: str) -> list[str]:
    """Make one claim of all."""
    return [response]


@pytest.mark.parametrize(
    "judge", [is_there, share, in_detail, with_a_reason, lambda claim, passages: S if "red" in claim.text else U]
)
def test_a_function_judges(judge: Any) -> None:
    """In every call that takes a judge; each claim by itself."""
    result = ec.score(response=ANSWER, passages=SHELF, question="Which?", judge=judge)
    assert [claim.verdict.label is S for claim in result.claims] == [True, False]
    assert result.provenance.verifier.startswith("python:test_own_components:")
    assert [
        one.verdict.label is S for one in ec.verify_claims(["It is red.", "It is new."], SHELF, judge=in_detail)
    ] == [True, False]


def test_what_a_function_says_is_kept() -> None:
    """Probability, quotes with their places, the reason, and three labels."""
    first, second = ec.score(response=ANSWER, passages=SHELF, question="Which?", judge=in_detail).claims
    assert first.verdict.evidence == (Evidence("p1", 4, 17, "kettle is red"),)
    assert first.verdict.rationale == "asked Which?"
    assert second.verdict.label is C
    (reasoned,) = ec.verify_claims("It is red.", SHELF, judge=with_a_reason)
    assert reasoned.verdict.rationale == "looked for 'It is red.'"
    (judged,) = ec.verify_claims("It is red.", SHELF, judge=share)
    assert judged.verdict.probabilities is not None
    assert judged.verdict.probabilities.supported == 0.75


@pytest.mark.parametrize("wrong", [None, "maybe", 1.5, float("nan"), [], {"probability": True}])
def test_what_is_no_verdict_fails_the_sample(wrong: Any) -> None:
    """It is never a score."""
    result = ec.score(response=ANSWER, passages=SHELF, judge=lambda claim, passages: wrong)
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)
    assert result.reason.startswith("bad_verdict: python:test_own_components:")


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration, SystemExit, GeneratorExit, ValueError])
@pytest.mark.parametrize("part", ["judge", "decomposer", "metric"])
def test_whatever_a_function_raises_fails_the_sample_with_its_type(error: type[BaseException], part: str) -> None:
    """Also what a future cannot hold and what would end the process; it once waited for ever."""

    def raising(*_: object) -> Any:
        raise error("secret")

    async def soon(*_: object) -> Any:
        raise error("secret")

    for function in (raising, soon) if error is not GeneratorExit else (raising,):
        options: dict[str, Any] = {"judge": is_there, "decomposer": halves} | {part: function}
        result = ec.score({"answer": ANSWER, "contexts": SHELF}, **options)
        assert result.outcome is ec.Outcome.FAILED
        assert f"component_error: {error.__name__} in test_own_components, line " in result.reason
        assert "secret" not in result.reason
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EVERYCLAIM_DEBUG", "1")
            assert "secret" in ec.score({"answer": ANSWER, "contexts": SHELF}, **options).reason


@pytest.mark.parametrize("decomposer", [halves, one_claim])
def test_a_function_splits(decomposer: Any) -> None:
    """Its claims are placed in the response."""
    found = ec.extract_claims(ANSWER, decomposer=decomposer)
    assert [ANSWER[slice(*claim.span)] for claim in found.claims] == [claim.text for claim in found.claims]
    result = ec.score(response=ANSWER, passages=SHELF, judge="lexical", decomposer=decomposer)
    assert result.provenance.decomposer == f"python:test_own_components:{decomposer.__name__}"
    assert len(result.claims) == len(found.claims)


@pytest.mark.parametrize("wrong", ["a text", [1, 2], None, 3])
def test_what_are_no_claims_fails_the_sample(wrong: Any) -> None:
    """It is never a score."""
    result = ec.score(response=ANSWER, passages=SHELF, judge="lexical", decomposer=lambda response: wrong)
    assert result.reason.startswith("bad_decomposition: python:test_own_components:")


@pytest.mark.parametrize("empty", ["exclude", "one"])
def test_an_answer_that_a_metric_returns_none_for_is_not_applicable(empty: Any) -> None:
    """It is no answer without claims, so that the number for those is not its own."""
    result = ec.score(response="It is red.", passages=["It is red."], metric=lambda sample: None, empty=empty)
    assert (result.outcome, result.score, result.reason) == ("not_applicable", None, "the metric returned no value")
