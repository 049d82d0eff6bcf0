"""The facade beside the installed original: one judge, 200 answers, equal scores; what differs differs on purpose.

Run by ``make ragas``, in an environment of its own. The name of the file keeps it out of the other tests.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics import collections as theirs

import everyclaim.integrations.ragas as ours
import ragas_judge
from everyclaim.core.types import Outcome
from everyclaim.testing import JudgeServer, Request

ROWS = list(ragas_judge.samples(200, seed=7))
TEXTS = {"response": "The hall has 3 gates; it is red.", "retrieved_contexts": ["The hall has 3 gates."]}
FULL = {"user_input": "What of the hall?", **TEXTS}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(lambda request: ragas_judge.answer(request.body["messages"])) as running:
        yield running


def their_llm(server: JudgeServer) -> Any:
    return llm_factory("judge-1", client=AsyncOpenAI(api_key="none", base_url=server.base_url, max_retries=0))


def our_llm(server: JudgeServer) -> Any:
    return ours.llm_factory("judge-1", client=AsyncOpenAI(api_key="none", base_url=server.base_url))


def their_scores(metric: Any, fields: tuple[str, ...]) -> list[float]:
    """Score all rows, a few at a time: their `abatch_score` opens a connection for each at once and times out."""

    async def all_of_them() -> list[float]:
        few = asyncio.Semaphore(8)

        async def one(row: dict[str, Any]) -> float:
            async with few:
                return (await metric.ascore(**{field: row[field] for field in fields})).value

        return await asyncio.gather(*map(one, ROWS))

    return asyncio.run(all_of_them())


def test_faithfulness_is_the_same_number(server: JudgeServer) -> None:
    """On 200 answers, for every one of them."""
    expected = their_scores(
        theirs.Faithfulness(llm=their_llm(server)), ("user_input", "response", "retrieved_contexts")
    )
    found = asyncio.run(ours.Faithfulness(our_llm(server)).abatch_score(ROWS))
    assert [result.value for result in found] == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) > 5  # the scores are not all alike
    assert all(result.outcome is Outcome.SCORED for result in found)


@pytest.mark.parametrize("mode", ["precision", "recall", "f1"])
@pytest.mark.parametrize("degree", ["low", "high"])
def test_factual_correctness_is_the_same_number_where_recall_is_counted_their_way(
    server: JudgeServer, mode: Any, degree: Any
) -> None:
    """On 200 answers; theirs is rounded to two digits, ours is not."""
    chosen = {"mode": mode, "atomicity": degree, "coverage": degree}
    expected = their_scores(theirs.FactualCorrectness(llm=their_llm(server), **chosen), ("response", "reference"))
    found = asyncio.run(ours.FactualCorrectness(our_llm(server), **chosen, compat="ragas").abatch_score(ROWS))
    assert [result.value for result in found] == pytest.approx(expected, abs=0.005 + 1e-6)
    assert len(set(expected)) > 5


def test_beta_weighs_the_same(server: JudgeServer) -> None:
    """F2 on 200 answers."""
    expected = their_scores(theirs.FactualCorrectness(llm=their_llm(server), beta=2.0), ("response", "reference"))
    found = asyncio.run(ours.FactualCorrectness(our_llm(server), beta=2.0, compat="ragas").abatch_score(ROWS))
    assert [result.value for result in found] == pytest.approx(expected, abs=0.005 + 1e-6)


# Differences, each on purpose. What Ragas does is asserted too: when it changes, the migration page must.


def test_recall_is_over_the_references_claims(server: JudgeServer) -> None:
    """Three response claims right, two of four reference claims covered: theirs 3 / (3 + 2), ours 2 / 4."""
    pair = {
        "response": "The hall has 3 gates. The hall has 3 gates; it is old.",
        "reference": "The hall has 3 gates; it is old. The hall has 2 lifts; the yard is small.",
    }
    theirs_says = asyncio.run(theirs.FactualCorrectness(llm=their_llm(server), mode="recall").ascore(**pair)).value
    ours_says = ours.FactualCorrectness(our_llm(server), mode="recall").score(**pair).value
    assert (theirs_says, ours_says) == (0.6, 0.5)
    compat = ours.FactualCorrectness(our_llm(server), mode="recall", compat="ragas").score(**pair).value
    assert compat == pytest.approx(theirs_says, abs=0.005)


@pytest.mark.parametrize("missing", ["response", "user_input", "retrieved_contexts"])
def test_what_is_empty_is_an_outcome_and_no_error(server: JudgeServer, missing: str) -> None:
    """They raise; ours says what became of it, and asks no judge where there is nothing to ask."""
    row = {**FULL, missing: [] if missing == "retrieved_contexts" else ""}
    with pytest.raises(ValueError, match="is missing"):
        asyncio.run(theirs.Faithfulness(llm=their_llm(server)).ascore(**row))
    found = ours.Faithfulness(our_llm(server)).score(**row)
    expected = {"response": (None, "no_claims"), "user_input": (0.5, "scored"), "retrieved_contexts": (0.0, "scored")}
    assert (found.value, found.outcome) == expected[missing]
    assert server.calls == {"response": 0, "user_input": 2, "retrieved_contexts": 1}[missing]


def test_without_claims_there_is_no_score(server: JudgeServer) -> None:
    """They give NaN; ours gives none, or NaN on request."""
    row = {**FULL, "response": "Shall I tell you more?"}
    assert math.isnan(asyncio.run(theirs.Faithfulness(llm=their_llm(server)).ascore(**row)).value)
    found = ours.Faithfulness(our_llm(server)).score(**row)
    assert (found.value, found.outcome) == (None, "no_claims")
    assert math.isnan(float(ours.Faithfulness(our_llm(server), unscored="nan").score(**row)))


def short_of_verdicts(request: Request) -> str:
    reply = json.loads(ragas_judge.answer(request.body["messages"]))
    for name in ("verdicts", "statements"):
        if name in reply and isinstance(reply[name][0], dict):
            reply[name] = reply[name][:1]
    return json.dumps(reply)


def test_a_missing_verdict_is_asked_for_and_never_passed_over() -> None:
    """One verdict for two claims: theirs is 1.0, ours asks again for the other."""
    with JudgeServer(short_of_verdicts) as server:
        assert asyncio.run(theirs.Faithfulness(llm=their_llm(server)).ascore(**FULL)).value == 1.0
        calls = server.calls
        found = ours.Faithfulness(our_llm(server)).score(**FULL)
        assert (found.value, found.outcome) == (0.5, "scored")
        assert (calls, server.calls - calls) == (2, 3)


def out_of_range(request: Request) -> str:
    reply = json.loads(ragas_judge.answer(request.body["messages"]))
    for row in reply.get("verdicts", []):
        row["label"] = "-1"
    for row in reply.get("statements", []):
        if isinstance(row, dict):
            row["verdict"] = -1
    return json.dumps(reply)


def test_a_verdict_out_of_range_is_a_failure() -> None:
    """Theirs counts -1 as support; ours fails the answer and says why."""
    with JudgeServer(out_of_range) as server:
        assert asyncio.run(theirs.Faithfulness(llm=their_llm(server)).ascore(**FULL)).value == 1.0
        found = ours.Faithfulness(our_llm(server)).score(**FULL)
        assert (found.value, found.outcome) == (None, "failed")
        assert found.reason.startswith("missing_verdict")
