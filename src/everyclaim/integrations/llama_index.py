"""LlamaIndex: an evaluator for its own tools (`BatchEvalRunner`, `evaluate_response`).

evaluator = FaithfulnessEvaluator(judge="openai:gpt-5-mini")
evaluator.evaluate_response(query=question, response=query_engine.query(question))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import needed_for
from everyclaim.core.types import Result
from everyclaim.integrations.common import evaluator_of, explained, score_of

with needed_for("The integration with LlamaIndex", "llama-index"):
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult


class FaithfulnessEvaluator(BaseEvaluator):  # type: ignore[misc]  # its base is known where LlamaIndex is installed
    """Scores an answer claim by claim; it passes from `threshold` on.

    An answer without a score (nothing to check, declined, the judge failed) is an invalid result with its reason,
    and never a number. `results` are kept in `last`, the whole of the last one. Options are those of an `Evaluator`.
    """

    def __init__(self, evaluator: Evaluator | None = None, *, threshold: float = 1.0, **options: Any) -> None:
        self._evaluator = evaluator_of(evaluator, options)
        self._threshold = threshold
        self.last: Result | None = None

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        del prompts

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: float = 0,  # of its own evaluators; there are rates for that
        **kwargs: Any,
    ) -> EvaluationResult:
        """Score one answer."""
        del sleep_time_in_seconds, kwargs
        row = {"question": query or "", "response": response, "contexts": list(contexts or ())}
        self.last = result = await self._evaluator.ascore(row)
        score, why = score_of(result), explained(result)
        return EvaluationResult(
            query=query,
            response=response,
            contexts=contexts,
            score=score,
            passing=None if score is None else score >= self._threshold,
            feedback=why,
            invalid_result=score is None,
            invalid_reason=why if score is None else None,
        )
