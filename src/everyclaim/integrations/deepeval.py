"""DeepEval: a metric for `evaluate`, `assert_test` and its pytest plugin."""

from __future__ import annotations

from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import UserError
from everyclaim.core.types import Result
from everyclaim.integrations.common import evaluator_of, explained, number_of

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ImportError:
    # Not an extra: it holds other packages back.
    raise UserError("The integration with DeepEval requires it: pip install deepeval") from None


class FaithfulnessMetric(BaseMetric):  # type: ignore[misc]  # its base is known where DeepEval is installed
    """Scores an answer claim by claim against its `retrieval_context`; it succeeds from `threshold` on.

    An answer without a score (nothing to check, declined) neither passes nor fails: it is skipped, as DeepEval skips
    metrics that do not apply. A judge that failed raises `JudgeError`, which `ignore_errors` turns into an error of the
    test case. `result` is the whole of it. Options are those of an `Evaluator`.
    """

    def __init__(self, evaluator: Evaluator | None = None, *, threshold: float = 1.0, **options: Any) -> None:
        self.evaluator = evaluator_of(evaluator, options)  # by this name DeepEval makes copies of a metric
        self.threshold = threshold
        self.async_mode = True
        self.include_reason = True
        self.result: Result | None = None

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> Any:
        """Score a test case."""
        return self._take(self.evaluator.score(_row(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> Any:
        """Score a test case."""
        return self._take(await self.evaluator.ascore(_row(test_case)))

    def _take(self, result: Result) -> float | None:
        usage = result.usage
        self.result, self.error = result, None
        self.evaluation_cost = usage.cost
        self.input_tokens, self.output_tokens = usage.prompt_tokens, usage.completion_tokens
        self.evaluation_model = result.provenance.verifier
        self.score, self.reason = number_of(result), explained(result) or "every claim is supported"
        self.skipped = self.score is None
        self.is_successful()
        return self.score

    def is_successful(self) -> bool | None:
        """Whether it succeeded; None where there was nothing to score."""
        is_reached = self.error is None and self.score is not None and self.score >= self.threshold
        self.success = None if self.skipped else is_reached
        return self.success

    @property
    def __name__(self) -> str:  # how DeepEval asks for the name
        return "Faithfulness (everyclaim)"


def _row(case: LLMTestCase) -> dict[str, Any]:
    passages = case.retrieval_context if case.retrieval_context is not None else case.context
    return {
        "question": case.input if isinstance(case.input, str) else "",
        "response": case.actual_output,
        "contexts": [getattr(passage, "context", passage) for passage in passages or ()],
        "reference": case.expected_output,
    }
