"""The integration with Langfuse, held against an installed Langfuse. Run by ``make integrations``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG, Away
from langfuse import Langfuse

import everyclaim as ec
from everyclaim.integrations.langfuse import faithfulness_evaluator


def test_it_is_an_evaluator_of_their_experiments() -> None:
    """Score and outcome for each item; a judge that is away leaves an item without, and the others as they are."""
    client = Langfuse(public_key="pk", secret_key="sk", base_url="http://127.0.0.1:1", tracing_enabled=False)
    items = [{"input": QUESTION, "metadata": {"said": text}} for text in (GOOD, WRONG, SHY)]

    def task(*, item: Any, **_: Any) -> dict[str, Any]:
        return {"answer": item["metadata"]["said"], "contexts": PASSAGES}

    found = client.run_experiment(name="x", data=items, task=task, evaluators=[faithfulness_evaluator()])
    values = {one.output["answer"]: {e.name: e.value for e in one.evaluations} for one in found.item_results}
    assert values == {
        GOOD: {"faithfulness": 1.0, "faithfulness.outcome": "scored"},
        WRONG: {"faithfulness": 0.0, "faithfulness.outcome": "scored"},
        SHY: {"faithfulness.outcome": "abstained"},
    }
    failed = client.run_experiment(
        name="x", data=items[:1], task=task, evaluators=[faithfulness_evaluator(judge=Away())]
    )
    assert failed.item_results[0].evaluations == []


def test_passages_come_from_where_they_are() -> None:
    """In the metadata or the input, as text that holds JSON, or by a function."""
    evaluate = faithfulness_evaluator()

    def score(**given: Any) -> Any:
        return {one.name: one.value for one in asyncio.run(evaluate(**given))}["faithfulness"]

    assert score(input=QUESTION, output=GOOD, metadata={"contexts": PASSAGES}) == 1.0
    assert score(input={"question": QUESTION, "documents": PASSAGES}, output=GOOD) == 1.0
    assert (
        score(input=QUESTION, output='{"answer": "The unit weighs 3 kg.", "contexts": ["The unit weighs 3 kg."]}')
        == 1.0
    )
    chosen = faithfulness_evaluator(contexts=lambda asked, said, metadata: metadata["found"])
    assert asyncio.run(chosen(input=QUESTION, output=WRONG, metadata={"found": PASSAGES}))[0].value == 0.0
    with pytest.raises(ec.InputError, match="no answer text"):
        asyncio.run(evaluate(input=QUESTION, output=None))
