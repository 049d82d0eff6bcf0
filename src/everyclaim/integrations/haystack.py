"""Haystack: a component for evaluation pipelines, with the sockets of its own `FaithfulnessEvaluator`."""

from __future__ import annotations

from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import ConfigError, InputError, needed_for
from everyclaim.core.wire import result_to_json
from everyclaim.integrations.common import explained, score_of

with needed_for("The integration with Haystack", "haystack"):
    from haystack import component, default_from_dict, default_to_dict


@component
class EveryclaimEvaluator:
    """Scores answers claim by claim. Options are those of an `Evaluator`; those that are plain values are serialised.

    `contexts` holds for each answer texts or `Document`s. `score` is the mean over the answers that were scored, None
    where none was; `individual_scores` has None for every other, and `results` say why and hold every claim.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._evaluator = Evaluator(**options)

    @component.output_types(score=Any, individual_scores=list[Any], results=list[dict[str, Any]])  # type: ignore[untyped-decorator]
    def run(self, questions: list[str], contexts: list[list[Any]], predicted_answers: list[str]) -> dict[str, Any]:
        """Score every answer."""
        rows = _rows(questions, contexts, predicted_answers)
        results = [self._evaluator.score(row) for row in rows]
        scores = [score_of(result) for result in results]
        numbers = [score for score in scores if score is not None]
        return {
            "score": sum(numbers) / len(numbers) if numbers else None,
            "individual_scores": scores,
            "results": [result_to_json(result) | {"explanation": explained(result)} for result in results],
        }

    def to_dict(self) -> dict[str, Any]:
        """Serialise. Raises `ConfigError` for an option that is an object."""
        for name, value in self._options.items():
            if not isinstance(value, str | int | float | bool | None):
                raise ConfigError(f"{name} cannot be serialised: pass a spec, not {type(value).__name__}")
        serialised: dict[str, Any] = default_to_dict(self, **self._options)
        return serialised

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> EveryclaimEvaluator:
        """Deserialise."""
        made: EveryclaimEvaluator = default_from_dict(cls, data)
        return made


def _rows(questions: list[str], contexts: list[list[Any]], answers: list[str]) -> list[dict[str, Any]]:
    if len({len(questions), len(contexts), len(answers)}) > 1:
        raise InputError(
            f"got {len(questions)} questions, {len(contexts)} contexts and {len(answers)} answers: pass as many of each"
        )
    return [
        {"question": question, "response": answer, "contexts": passages}
        for question, passages, answer in zip(questions, contexts, answers, strict=True)
    ]
