"""Everyclaim in the manner of Ragas: the names and calls that its users know, no Ragas installed.

    from everyclaim.integrations.ragas import Faithfulness

    metric = Faithfulness(llm="openai:gpt-5-mini")
    result = await metric.ascore(user_input=…, response=…, retrieved_contexts=[…])
    result.value, result.outcome, result.claims

`metrics` has the metrics and what they are given; here are a whole data set at once (`evaluate`) and, the other way, a
metric of ours as one of an installed Ragas (`as_ragas_metric`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from typing import Annotated, Any

from everyclaim.api.options import InFlight, public
from everyclaim.api.runs import Source
from everyclaim.core.errors import ConfigError, JudgeError, UserError, needed_for
from everyclaim.core.types import Outcome, Result
from everyclaim.core.wire import result_to_json
from everyclaim.engine import wait
from everyclaim.integrations.ragas.metrics import (
    ClaimMetric,
    EvaluationDataset,
    FactualCorrectness,
    Faithfulness,
    FaithfulnesswithHHEM,
    Llm,
    MetricResult,
    Row,
    SingleTurnSample,
    Unscored,
    factual_correctness,
    faithfulness,
    llm_factory,
    reason_of,
    rows_of,
)

__all__ = [
    "ClaimMetric", "EvaluationDataset", "EvaluationResult", "FactualCorrectness", "Faithfulness",
    "FaithfulnesswithHHEM", "MetricResult", "SingleTurnSample", "as_ragas_metric", "evaluate",
    "factual_correctness", "faithfulness", "llm_factory",
]  # fmt: skip


Metrics = Annotated[Sequence[Any], "a list of metrics of everyclaim.integrations.ragas"]


@dataclass(frozen=True)
class EvaluationResult:
    """Scores per row and metric, their means, and beside every mean what it is the mean of."""

    rows: tuple[Row, ...]
    results: Mapping[str, tuple[Result, ...]]  # by metric, one per row
    unscored: Mapping[str, Unscored]  # by metric

    @property
    def scores(self) -> list[dict[str, float | None]]:
        """One mapping per row, metric → score; None (NaN where a metric says so) for what was not scored."""
        columns = {name: self[name] for name in self.results}
        return [{name: column[i] for name, column in columns.items()} for i in range(len(self.rows))]

    def __getitem__(self, metric: str) -> list[float | None]:
        without = math.nan if self.unscored[metric] == "nan" else None
        return [without if result.score is None else result.score for result in self.results[metric]]

    @property
    def means(self) -> dict[str, float | None]:
        """The mean of each metric over the rows that have a number; None when none has."""
        known = {
            name: [result.score for result in results if result.score is not None]
            for name, results in self.results.items()
        }
        return {name: fmean(scores) if scores else None for name, scores in known.items()}

    def to_pandas(self) -> Any:
        """Return a frame with the rows as given and, per metric, its score, its outcome and its reason."""
        with needed_for("a pandas frame", "pandas"):
            import pandas as pd
        table = pd.DataFrame([dict(row) for row in self.rows])
        for name, results in self.results.items():
            table[name] = self[name]
            table[f"{name}_outcome"] = [result.outcome.value for result in results]
            table[f"{name}_reason"] = [reason_of(result) for result in results]
        return table

    def __repr__(self) -> str:
        parts = []
        for name, mean in self.means.items():
            found = Counter(result.outcome for result in self.results[name])
            told = [f"{found.pop(Outcome.SCORED, 0)} of {len(self.rows)} scored"]
            told += [f"{found[outcome]} {outcome.value}" for outcome in Outcome if found[outcome]]
            parts.append(f"'{name}': {'no score' if mean is None else f'{mean:.4f}'} ({', '.join(told)})")
        return "{" + ", ".join(parts) + "}"


@public
def evaluate(
    dataset: Source,
    metrics: Metrics | None = None,
    llm: Llm = None,
    *,
    column_map: Mapping[str, str] | None = None,
    raise_exceptions: bool = False,
    concurrency: InFlight | None = None,
    unscored: Unscored | None = None,
) -> EvaluationResult:
    """Score every row of a data set by every metric; also inside a running event loop.

    `dataset` is an `EvaluationDataset`, ours or that of an installed Ragas, a pandas or polars frame, a
    `datasets.Dataset`, or a list of samples or mappings; `column_map` names columns as Ragas does (its name → yours).
    `metrics` without a model of their own get `llm`; none given means faithfulness.

    A row that fails is counted as failed, with its reason, and is in no mean; `unscored="nan"` gives NaN for it, as
    Ragas does. `raise_exceptions` stops at the first failure and raises it. `concurrency` is samples in flight.
    """
    chosen = [_ready(metric, llm) for metric in ([Faithfulness()] if metrics is None else metrics)]
    if not chosen:
        raise ConfigError("metrics of evaluate() is empty: pass one, such as Faithfulness(), or omit it")
    names = [_column(metric) for metric in chosen]
    if len(set(names)) < len(names):
        raise ConfigError(f"two metrics are called {Counter(names).most_common(1)[0][0]!r}; rename one")
    mapping = {theirs: ours for ours, theirs in (column_map or {}).items()}
    rows = rows_of(dataset)

    async def scored() -> dict[str, tuple[Result, ...]]:
        how: dict[str, Any] = {"mapping": mapping, "concurrency": concurrency, "stop": raise_exceptions}
        return {name: tuple(await one.results_of(rows, **how)) for name, one in zip(names, chosen, strict=True)}

    kinds = {name: unscored or metric.unscored for name, metric in zip(names, chosen, strict=True)}
    return EvaluationResult(rows, wait(scored()), kinds)


def _column(metric: ClaimMetric) -> str:
    """Return the name of a metric's column, as Ragas writes it."""
    return f"{metric.name}(mode={metric.mode})" if isinstance(metric, FactualCorrectness) else metric.name


def _ready(metric: ClaimMetric, llm: Llm) -> ClaimMetric:
    if not isinstance(metric, ClaimMetric):
        raise ConfigError(
            f"a metric must be one of everyclaim.integrations.ragas, such as Faithfulness(), got {metric!r}; for "
            "Ragas' own metrics use Ragas' evaluate, with everyclaim's through as_ragas_metric"
        )
    return metric.with_llm(llm) if metric.llm is None and llm is not None else metric


@public
def as_ragas_metric(metric: Any, *, on_result: Callable[[Result], None] | None = None) -> Any:
    """Make a metric of ours one of Ragas' own, in both of its forms at once.

    It is a `SingleTurnMetric`, so `ragas.evaluate(dataset, metrics=[…])` takes it, and it is a metric of
    `ragas.metrics.collections`, with `ascore`, `abatch_score` and a `MetricResult` whose `reason` says which claims
    failed and whose `traces["output"]` is the whole result. `on_result` is given every result, since Ragas' table
    keeps numbers only.

    What is not scored is NaN there, as for its own metrics; a failed judge raises, which its `evaluate` turns into
    NaN and a line in the log. Raises `UserError` where Ragas is not installed.
    """
    if not isinstance(metric, ClaimMetric):
        raise ConfigError(f"pass a metric of everyclaim.integrations.ragas, such as Faithfulness(), got {metric!r}")
    return _adapted_class()(metric, on_result)


def _adapted_class() -> Any:
    """Make the class; its bases are known only where Ragas is installed."""
    try:
        base, collections = import_module("ragas.metrics.base"), import_module("ragas.metrics.collections.base")
        make_result = import_module("ragas.metrics.result").MetricResult
    except ImportError as error:
        raise UserError(
            f"as_ragas_metric needs Ragas 0.4 or newer, but importing it failed: {error}; pip install "
            "'ragas>=0.4.3' 'langchain-community<0.4' 'instructor>=1.11'"
        ) from None

    class EveryclaimMetric(collections.BaseMetric, base.SingleTurnMetric):  # type: ignore[misc,name-defined]  # known only at run time
        """A metric of everyclaim in the two forms of Ragas."""

        def __init__(self, metric: ClaimMetric, on_result: Callable[[Result], None] | None) -> None:
            of_reference = {"user_input:optional", "response", "reference"}
            usual = {"user_input:optional", "response", "retrieved_contexts", "reference:optional"}
            columns = of_reference if isinstance(metric, FactualCorrectness) else usual
            self.name, self.ours, self.on_result = metric.name, metric, on_result
            self.allowed_values, self.output_type = (0.0, 1.0), base.MetricOutputType.CONTINUOUS
            self._required_columns = {base.MetricType.SINGLE_TURN: columns}

        def init(self, run_config: Any) -> None:
            """Do nothing: the metric inside has its model."""

        async def ascore(self, **row: Any) -> Any:
            """Score one row of the modern form."""
            found, value = await self._scored(row)
            traces = {"input": row, "output": result_to_json(found.result)}
            return make_result(value=value, reason=found.reason, traces=traces)

        async def _single_turn_ascore(self, sample: Any, callbacks: Any = None) -> float:  # noqa: ARG002 - theirs
            return (await self._scored(sample.to_dict()))[1]

        async def _scored(self, row: Mapping[str, Any]) -> tuple[MetricResult, float]:
            found = await self.ours.ascore_row(row)
            if self.on_result:
                self.on_result(found.result)
            if found.outcome is Outcome.FAILED:
                raise JudgeError.from_reason(found.result.reason)
            return found, math.nan if found.value is None else found.value

    return EveryclaimMetric
