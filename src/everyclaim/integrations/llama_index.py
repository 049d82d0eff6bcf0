"""LlamaIndex: an evaluator for its own tools (`BatchEvalRunner`, `evaluate_response`).

evaluator = FaithfulnessEvaluator(judge="openai:gpt-5-mini")
evaluator.evaluate_response(query=question, response=query_engine.query(question))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import needed_for
from everyclaim.core.types import Outcome, Result
from everyclaim.integrations.common import evaluator_of, explained

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
        result = await self._evaluator.ascore(row)
        self.last = result
        is_scored = result.outcome is Outcome.SCORED and result.score is not None
        return EvaluationResult(
            query=query,
            response=response,
            contexts=contexts,
            score=result.score if is_scored else None,
            passing=None if not is_scored else (result.score or 0.0) >= self._threshold,
            feedback=explained(result),
            invalid_result=not is_scored,
            invalid_reason=None if is_scored else explained(result),
        )
