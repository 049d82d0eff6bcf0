"""Langfuse: an evaluator for its experiments and batched evaluations. To watch a project see `everyclaim watch`.

langfuse.run_experiment(name=…, data=…, task=…, evaluators=[faithfulness_evaluator()])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import InputError, needed_for
from everyclaim.integrations.common import contexts_in, evaluator_of, explained, number_of
from everyclaim.monitor.watch.traces import answer_in, documents_in, question_in

with needed_for("The integration with Langfuse", "langfuse"):
    from langfuse import Evaluation


def faithfulness_evaluator(
    evaluator: Evaluator | None = None,
    *,
    contexts: Callable[[Any, Any, Any], Any] | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """Return an evaluator function that gives the score and the outcome of an answer.

    Passages are found under a usual name (`contexts`, `documents`, …) in the output, the metadata or the input, or by
    `contexts`, a function of input, output and metadata. An answer that has no score (nothing to check, declined) has
    an outcome alone; a judge that failed raises `JudgeError`, which Langfuse logs. Options are those of an `Evaluator`.
    """
    held = evaluator_of(evaluator, options)

    async def everyclaim(
        *,
        input: Any,  # noqa: A002 - their name
        output: Any,
        expected_output: Any = None,
        metadata: Any = None,
        **_: Any,
    ) -> list[Evaluation]:
        passages = documents_in(contexts(input, output, metadata)) if contexts else contexts_in(output, metadata, input)
        answer = answer_in(output)
        if answer is None:
            raise InputError(f"the output has no answer text: {type(output).__name__}")
        row = {"question": question_in(input) or "", "response": answer, "contexts": passages}
        result = await held.ascore(row | {"reference": answer_in(expected_output)})
        name, why = result.provenance.metric_name, explained(result)
        about = {"judge": result.provenance.verifier}
        found = []
        if (score := number_of(result)) is not None:
            found.append(Evaluation(name=name, value=score, comment=why, metadata=about))
        said = result.outcome.value
        outcome = Evaluation(name=f"{name}.outcome", value=said, comment=why, metadata=about, data_type="CATEGORICAL")
        return [*found, outcome]

    return everyclaim
