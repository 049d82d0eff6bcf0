"""Everyclaim in the manner of Ragas: the names and calls that its users know, no Ragas installed.

    from everyclaim.integrations.ragas import Faithfulness

    metric = Faithfulness(llm="openai:gpt-5-mini")
    result = await metric.ascore(user_input=…, response=…, retrieved_contexts=[…])
    result.value, result.outcome, result.claims

`metrics` has the metrics and what they are given, `evaluation` a whole data set at once and, the other way, a metric of
ours as one of an installed Ragas (`as_ragas_metric`).
"""

from everyclaim.integrations.ragas.evaluation import EvaluationResult, as_ragas_metric, evaluate
from everyclaim.integrations.ragas.metrics import (
    ClaimMetric,
    EvaluationDataset,
    FactualCorrectness,
    Faithfulness,
    FaithfulnesswithHHEM,
    MetricResult,
    SingleTurnSample,
    factual_correctness,
    faithfulness,
    llm_factory,
)

__all__ = [
    "ClaimMetric", "EvaluationDataset", "EvaluationResult", "FactualCorrectness", "Faithfulness",
    "FaithfulnesswithHHEM", "MetricResult", "SingleTurnSample", "as_ragas_metric", "evaluate",
    "factual_correctness", "faithfulness", "llm_factory",
]  # fmt: skip
