"""Our metrics as metrics of an installed Ragas.

Run by ``make ragas``, in an environment of its own. The name of the file keeps it out of the other tests.
"""

from __future__ import annotations

import asyncio
import math

from openai import AsyncOpenAI
from ragas import EvaluationDataset, aevaluate
from ragas.llms import llm_factory
from ragas.metrics import Faithfulness as Theirs
from ragas.metrics.base import SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric

import everyclaim.integrations.ragas as ours
import ragas_judge
from everyclaim.core.types import Result
from everyclaim.testing import JudgeServer, rate_limited

ROWS = list(ragas_judge.samples(20, seed=3))
QUESTION = {"user_input": "?", "response": "Shall I tell you more?", "retrieved_contexts": ["Nothing."]}


def judge(server: JudgeServer) -> str:
    return f"openai:judge-1?base_url={server.base_url}"


def test_their_evaluate_takes_our_metrics_beside_its_own() -> None:
    """One run, their faithfulness and ours in neighbouring columns, equal."""
    seen: list[Result] = []
    with JudgeServer(lambda request: ragas_judge.answer(request.body["messages"])) as server:
        llm = llm_factory("judge-1", client=AsyncOpenAI(api_key="none", base_url=server.base_url))
        mine = ours.as_ragas_metric(ours.Faithfulness(judge(server), "everyclaim"), on_result=seen.append)
        correct = ours.as_ragas_metric(ours.FactualCorrectness(judge(server), mode="precision"))
        dataset = EvaluationDataset.from_list(ROWS)
        found = asyncio.run(aevaluate(dataset, metrics=[Theirs(llm=llm), mine, correct], show_progress=False))
    assert found["everyclaim"] == found["faithfulness"]
    assert all(0 <= score <= 1 for score in found["factual_correctness"])
    assert list(found.to_pandas()["everyclaim"]) == found["everyclaim"]
    assert sum(len(result.claims) for result in seen) > len(ROWS)  # their table has no claims, the hook has


def test_it_is_a_metric_of_both_their_kinds() -> None:
    """So experiments and the older evaluation take it."""
    metric = ours.as_ragas_metric(ours.Faithfulness())
    assert isinstance(metric, BaseMetric)
    assert isinstance(metric, SingleTurnMetric)
    assert metric.required_columns == {"SINGLE_TURN": {"response", "retrieved_contexts"}}


def test_their_result_holds_our_reason_and_the_whole_result() -> None:
    """`reason` names the claims that fail, `traces` has every verdict."""
    metric = ours.as_ragas_metric(ours.Faithfulness())
    row = {"response": "The hall has 3 gates. The hall has 9 lifts.", "retrieved_contexts": ["The hall has 3 gates."]}
    (found,) = metric.batch_score([row])
    assert found.value == 0.5
    assert "The hall has 9 lifts." in found.reason
    assert found.traces["output"]["claims"][0]["verdict"]["label"] == "SUPPORTED"


def test_what_is_not_scored_is_nan_there() -> None:
    """As for its own metrics: no claims, and a judge that fails."""
    with JudgeServer(rate_limited(retry_after=3600)) as server:
        failing = ours.as_ragas_metric(ours.Faithfulness(judge(server), "failing"))
        empty = ours.as_ragas_metric(ours.Faithfulness(None, "empty"))
        dataset = EvaluationDataset.from_list([QUESTION])
        found = asyncio.run(aevaluate(dataset, metrics=[failing, empty], show_progress=False))
    assert math.isnan(found["failing"][0])
    assert math.isnan(found["empty"][0])


def test_our_evaluate_takes_their_dataset() -> None:
    """Nothing need be converted."""
    found = ours.evaluate(EvaluationDataset.from_list(ROWS))
    assert len(found["faithfulness"]) == len(ROWS)
