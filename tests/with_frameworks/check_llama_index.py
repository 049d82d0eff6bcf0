"""The integration with LlamaIndex, held against an installed LlamaIndex. Run by ``make integrations``."""

from __future__ import annotations

import asyncio

from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG, Away
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from everyclaim.integrations.llama_index import FaithfulnessEvaluator

NODES = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in PASSAGES]


def test_it_evaluates_a_response_with_its_nodes() -> None:
    """A wrong claim fails it and is named."""
    evaluator = FaithfulnessEvaluator()
    good = evaluator.evaluate_response(query=QUESTION, response=Response(GOOD, source_nodes=NODES))
    assert (good.score, good.passing, good.invalid_result) == (1.0, True, False)
    wrong = evaluator.evaluate_response(query=QUESTION, response=Response(WRONG, source_nodes=NODES))
    assert (wrong.score, wrong.passing) == (0.0, False)
    assert WRONG in (wrong.feedback or "")
    assert evaluator.last is not None
    assert evaluator.last.question == QUESTION


def test_it_works_in_their_batch_runner() -> None:
    """Many at once, in order."""
    runner = BatchEvalRunner({"faithfulness": FaithfulnessEvaluator(threshold=0.5)}, workers=4)
    found = asyncio.run(
        runner.aevaluate_responses([QUESTION] * 3, [Response(text, source_nodes=NODES) for text in (GOOD, WRONG, GOOD)])
    )
    assert [one.score for one in found["faithfulness"]] == [1.0, 0.0, 1.0]


def test_what_has_no_score_is_an_invalid_result() -> None:
    """Neither 0 nor 1, with the reason."""
    shy = FaithfulnessEvaluator().evaluate(query=QUESTION, response=SHY, contexts=PASSAGES)
    assert (shy.score, shy.passing, shy.invalid_result) == (None, None, True)
    assert shy.invalid_reason == "the response declines to answer"
    failed = FaithfulnessEvaluator(judge=Away()).evaluate(query=QUESTION, response=GOOD, contexts=PASSAGES)
    assert (failed.score, failed.invalid_result) == (None, True)
    assert "the judge is away" in (failed.invalid_reason or "")


def test_its_prompts_can_be_asked_for() -> None:
    """It has none, and says so as every evaluator does."""
    assert FaithfulnessEvaluator().get_prompts() == {}
