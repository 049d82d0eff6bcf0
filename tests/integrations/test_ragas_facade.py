"""The Ragas-style facade without Ragas: names, calls and data sets as its users know them, outcomes as ours."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import everyclaim as ec
from everyclaim.integrations.ragas import (
    ClaimMetric,
    EvaluationDataset,
    FactualCorrectness,
    Faithfulness,
    FaithfulnesswithHHEM,
    SingleTurnSample,
    evaluate,
    llm_factory,
)
from everyclaim.testing import JudgeServer, ScriptedChat, play, rate_limited

ROW = {
    "user_input": "What of the kettle?",
    "response": "The kettle is red. It holds 9 litres.",
    "retrieved_contexts": ["The kettle is red. It holds 2 litres."],
}
SILENT = {"user_input": "What?", "response": "Shall I go on?", "retrieved_contexts": ["The kettle is red."]}
BAD = {"user_input": "What?", "response": 7, "retrieved_contexts": []}


def test_a_call_as_ragas_has_it_returns_value_reason_and_claims() -> None:
    """`value` is theirs, the rest is what is missing there."""
    found = Faithfulness().score(**ROW)
    assert found.value == float(found) == 0.5
    assert found.outcome == "scored"
    assert [claim.verdict.label for claim in found.claims] == ["SUPPORTED", "CONTRADICTED"]
    assert found.reason.startswith("1 of 2 claims are supported; CONTRADICTED: The kettle holds 9 litres.")


def test_score_works_inside_a_running_loop() -> None:
    """As in a notebook, with nothing patched."""

    async def cell() -> list[Any]:
        metric = Faithfulness()
        one, several = metric.score(**ROW), await metric.abatch_score([ROW, ROW])
        return [one.value, *(result.value for result in several)]

    assert asyncio.run(cell()) == [0.5] * 3


@pytest.mark.parametrize("give", ["spec", "chat", "verifier"])
def test_llm_takes_a_spec_a_chat_model_or_a_verifier(give: str) -> None:
    """The first two split and judge by the model, the third judges what the embedded decomposer splits."""
    with JudgeServer(play) as server:
        client = SimpleNamespace(base_url=server.base_url + "/", api_key="none")
        llms: dict[str, Any] = {
            "spec": f"openai:any?base_url={server.base_url}",
            "chat": llm_factory("any", client=client, temperature=0, max_tokens=500, logprobs=True),
            "verifier": Lazy(),
        }
        metric = Faithfulness(llms[give])
        assert metric.score(**ROW).value == 0.5
        assert server.calls == (0 if give == "verifier" else 2)
        if give == "chat":
            sent = server.requests[0].body
            assert (sent["temperature"], sent["max_tokens"], sent["logprobs"]) == (0, 500, True)


class Lazy:
    """Supports the first claim and nothing else."""

    spec = "lazy"

    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> list[ec.Verdict]:
        """Judge."""
        return [
            ec.Verdict(claim.id, ec.Label.SUPPORTED if claim.id == "c1" else ec.Label.UNSUPPORTED) for claim in claims
        ]


def test_one_bad_row_changes_no_other() -> None:
    """In a batch, what cannot be read and what has no claims keeps its place."""
    found = asyncio.run(Faithfulness().abatch_score([ROW, BAD, SILENT, ROW]))
    assert [(one.value, one.outcome) for one in found] == [
        (0.5, "scored"),
        (None, "failed"),
        (None, "no_claims"),
        (0.5, "scored"),
    ]
    assert found[1].reason.startswith("bad_input: ")
    with pytest.raises(TypeError, match=r"has no score \(failed\)"):
        float(found[1])


def test_a_spent_budget_leaves_what_is_done() -> None:
    """The rest of the batch says why it was not scored."""
    with JudgeServer(play) as server:
        metric = Faithfulness("openai:any", base_url=server.base_url, max_calls=2, concurrency=1)
        found = asyncio.run(metric.abatch_score([ROW, {**ROW, "user_input": "And now?"}]))
    assert found[0].value == 0.5
    assert found[1].reason.startswith("budget_exceeded: ")


def test_the_older_form_returns_a_number_and_raises_for_a_failed_judge() -> None:
    """None where there is nothing to score."""
    assert asyncio.run(Faithfulness().single_turn_ascore(SingleTurnSample(**ROW))) == 0.5
    assert asyncio.run(Faithfulness().single_turn_ascore(SingleTurnSample(**SILENT))) is None
    with JudgeServer(rate_limited(retry_after=3600)) as server:
        failing = Faithfulness("openai:any", base_url=server.base_url)
        with pytest.raises(ec.JudgeError, match="rate_limited"):
            asyncio.run(failing.single_turn_ascore(SingleTurnSample(**ROW)))


def test_factual_correctness_has_the_defaults_of_ragas() -> None:
    """F1, both degrees low; the example of its documentation."""
    metric = FactualCorrectness()
    found = metric.score(
        response="The Eiffel Tower is located in Paris.",
        reference="The Eiffel Tower is located in Paris. It has a height of 1000ft.",
    )
    assert round(float(found), 2) == 0.67
    assert metric.metric.provenance.metric == "factual_correctness?atomicity=low&beta=1&coverage=low&mode=f1"
    assert FactualCorrectness(mode="precision", beta=0.5, compat="ragas").score("A is red.", "A is red.").value == 1.0


DATASETS = {
    "list": lambda rows: rows,
    "samples": lambda rows: [SingleTurnSample(**row) for row in rows],
    "dataset": EvaluationDataset,
    "pandas": pd.DataFrame,
    "rows of one": iter,
}


@pytest.mark.parametrize("kind", DATASETS)
def test_evaluate_takes_a_data_set_of_any_kind(kind: str) -> None:
    """Scores per row, a mean, and what it is the mean of."""
    found = evaluate(DATASETS[kind]([ROW, SILENT, {**ROW, "response": "The kettle is red."}]), [Faithfulness()])
    assert found.scores == [{"faithfulness": 0.5}, {"faithfulness": None}, {"faithfulness": 1.0}]
    assert found.means == {"faithfulness": 0.75}
    assert repr(found) == "{'faithfulness': 0.7500 (2 of 3 scored, 1 no_claims)}"


def test_evaluate_reads_the_old_column_names_and_a_column_map() -> None:
    """As Ragas did before its second version."""
    old = {"question": "?", "answer": ROW["response"], "contexts": ROW["retrieved_contexts"], "ground_truth": "x"}
    assert evaluate([old])["faithfulness"] == [0.5]
    renamed = {"q": "?", "bot_says": ROW["response"], "found": ROW["retrieved_contexts"]}
    mapped = {"user_input": "q", "response": "bot_says", "retrieved_contexts": "found"}
    assert evaluate([renamed], column_map=mapped)["faithfulness"] == [0.5]
    with pytest.raises(ec.ConfigError, match="cannot map 'bot_says' to 'anwser': no such field"):
        evaluate([renamed], column_map={"anwser": "bot_says"})


def test_metrics_must_be_ours_and_have_names_of_their_own() -> None:
    """Said before anything is scored."""
    with pytest.raises(ec.ConfigError, match=r"must be one of everyclaim\.integrations\.ragas"):
        evaluate([ROW], ["faithfulness"])  # type: ignore[list-item]
    with pytest.raises(ec.ConfigError, match="two metrics are called 'faithfulness'"):
        evaluate([ROW], [Faithfulness(), Faithfulness()])
    with pytest.raises(ec.InputError, match="cannot read samples from a str"):
        evaluate("answers.jsonl")
    with pytest.raises(ec.ConfigError, match=r"unscored of ClaimMetric.. must be one of none, nan, got 'zero'"):
        ClaimMetric(unscored="zero")  # type: ignore[arg-type]


def test_the_table_says_why_for_scored_rows_too() -> None:
    """In the column beside the score: which claims failed, or that none did."""
    table = evaluate([ROW, SILENT, BAD]).to_pandas()
    why = list(table["faithfulness_reason"])
    assert why[0].startswith("1 of 2 claims are supported; CONTRADICTED: The kettle holds 9 litres.")
    assert why[1:] == ["the response contains no checkable claim", "bad_input: the response is a number, not text"]


def test_a_failure_is_raised_where_that_is_asked_for() -> None:
    """And stops the rest."""
    with pytest.raises(ec.JudgeError, match="bad_input"):
        evaluate([BAD, ROW], raise_exceptions=True)


def test_hhem_is_the_judge_and_the_llm_only_splits() -> None:
    """Its spec names device and batch size."""
    metric = FaithfulnesswithHHEM(device="cuda", batch_size=4)
    assert metric.options["judge"] == "hf:vectara/hallucination_evaluation_model?batch_size=4&device=cuda"
    chat = ScriptedChat("{}")
    assert metric.options.get("decomposer") is None
    assert FaithfulnesswithHHEM(chat).options["decomposer"].spec == chat.spec
