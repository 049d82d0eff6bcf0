"""MLflow: a scorer for `mlflow.genai.evaluate`, over rows or over traces with retriever spans."""

from __future__ import annotations

from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import needed_for
from everyclaim.core.types import Outcome, Result
from everyclaim.integrations.common import contexts_in, evaluator_of, explained, plain, score_of
from everyclaim.monitor.watch.traces import answer_in, documents_in, question_in

with needed_for("The integration with MLflow", "mlflow"):
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback
    from mlflow.genai.scorers import Scorer


class FaithfulnessScorer(Scorer):  # type: ignore[misc]  # its base is known where MLflow is installed
    """Scores an answer claim by claim.

    Passages are those that the trace's retriever spans returned, else those under a usual name (`contexts`,
    `documents`, …) in `outputs`, `inputs` or `expectations`. There are two feedbacks: the score, which is missing where
    there is none and an error where the judge failed, and the outcome. Options are those of an `Evaluator`.
    """

    def __init__(self, evaluator: Evaluator | None = None, *, name: str = "faithfulness", **options: Any) -> None:
        held = evaluator_of(evaluator, options)
        super().__init__(name=name)
        object.__setattr__(self, "_held", held)  # no field of the model

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None
    ) -> list[Any]:
        """Score one answer."""
        row = {
            "question": question_in(inputs) or "",
            "response": answer_in(outputs),
            "contexts": _passages(trace, outputs, inputs, expectations),
        }
        return self._feedbacks(self._held.score(row))

    def _feedbacks(self, result: Result) -> list[Any]:
        source = AssessmentSource(source_type="CODE", source_id=f"everyclaim {result.provenance.version}")
        about = {"judge": result.provenance.verifier, "metric": result.provenance.metric_name}
        why = explained(result)
        said = {"source": source, "metadata": about, "rationale": why}
        found = [Feedback(name=f"{self.name}_outcome", value=result.outcome.value, **said)]
        if result.outcome is Outcome.FAILED:
            code, _, message = result.reason.partition(": ")
            error = AssessmentError(error_code=code, error_message=message)
            found.append(Feedback(name=self.name, error=error, **said))
        elif (score := score_of(result)) is not None:
            found.append(Feedback(name=self.name, value=score, **said))
        return found


def _passages(trace: Any, *places: Any) -> list[Any]:
    spans = trace.search_spans(span_type="RETRIEVER") if trace is not None else ()
    found = [document for span in spans for document in documents_in(plain(span.outputs))]
    return found or contexts_in(*map(plain, places))
