"""A whole data set by several metrics (`evaluate`), and our metrics inside an installed Ragas (`as_ragas_metric`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from typing import Annotated, Any

from everyclaim.analysis.summary import Summary, summarise
from everyclaim.api.options import InFlight, public
from everyclaim.api.runs import Source
from everyclaim.core.errors import ConfigError, JudgeError, UserError
from everyclaim.core.types import Outcome, Result
from everyclaim.core.wire import result_to_json
from everyclaim.engine import wait
from everyclaim.integrations.ragas.dataset import Row, frame, mapping_of, rows_of, sample_of
from everyclaim.integrations.ragas.metrics import (
    ClaimMetric,
    FactualCorrectness,
    Faithfulness,
    Llm,
    MetricResult,
    Unscored,
    reason_of,
)

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
            name: [score for score in self[name] if score is not None and not math.isnan(score)]
            for name in self.results
        }
        return {name: fmean(scores) if scores else None for name, scores in known.items()}

    @property
    def outcomes(self) -> dict[str, dict[Outcome, int]]:
        """How many rows of each metric were scored, had no claims, abstained, failed."""
        return {name: _counts(results) for name, results in self.results.items()}

    def summary(self, metric: str) -> Summary:
        """Sum a metric up with intervals, rates per label, reasons of failures and cost."""
        return summarise(self.results[metric])

    def to_pandas(self) -> Any:
        """Return a frame with the rows as given and, per metric, its score, its outcome and its reason."""
        table = []
        for i, row in enumerate(self.rows):
            added: dict[str, Any] = {}
            for name, results in self.results.items():
                added |= {name: self[name][i], f"{name}_outcome": results[i].outcome.value}
                added[f"{name}_reason"] = reason_of(results[i])
            table.append({**row, **added})
        return frame(table)

    def __repr__(self) -> str:
        parts = []
        for name, mean in self.means.items():
            counts = self.outcomes[name]
            rest = [f"{count} {outcome.value}" for outcome, count in counts.items() if count and outcome != "scored"]
            shown = "no score" if mean is None else f"{mean:.4f}"
            parts.append(
                f"'{name}': {shown} ({', '.join([f'{counts[Outcome.SCORED]} of {len(self.rows)} scored', *rest])})"
            )
        return "{" + ", ".join(parts) + "}"


@public
async def aevaluate(
    dataset: Source,
    metrics: Metrics | None = None,
    llm: Llm = None,
    *,
    column_map: Mapping[str, str] | None = None,
    raise_exceptions: bool = False,
    concurrency: InFlight | None = None,
    unscored: Unscored | None = None,
) -> EvaluationResult:
    """Score every row by every metric; see `evaluate`."""
    chosen = [_ready(metric, llm) for metric in ([Faithfulness()] if metrics is None else metrics)]
    if not chosen:
        raise ConfigError("metrics of evaluate() is empty: pass one, such as Faithfulness(), or omit it")
    names = [key_of(metric) for metric in chosen]
    if len(set(names)) < len(names):
        raise ConfigError(f"two metrics are called {Counter(names).most_common(1)[0][0]!r}; rename one")
    rows, mapping = rows_of(dataset), mapping_of(column_map)
    results: dict[str, tuple[Result, ...]] = {}
    for name, metric in zip(names, chosen, strict=True):
        samples = [sample_of(row, number, mapping) for number, row in enumerate(rows, start=1)]
        results[name] = tuple(await metric.results_of(samples, concurrency=concurrency, stop=raise_exceptions))
    kinds = {name: unscored or metric.unscored for name, metric in zip(names, chosen, strict=True)}
    return EvaluationResult(rows, results, kinds)


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
    return wait(
        aevaluate(
            dataset,
            metrics,
            llm,
            column_map=column_map,
            raise_exceptions=raise_exceptions,
            concurrency=concurrency,
            unscored=unscored,
        )
    )


def key_of(metric: ClaimMetric) -> str:
    """Return the name of a metric's column, as Ragas writes it."""
    return f"{metric.name}(mode={metric.mode})" if isinstance(metric, FactualCorrectness) else metric.name


def _ready(metric: ClaimMetric, llm: Llm) -> ClaimMetric:
    if not isinstance(metric, ClaimMetric):
        raise ConfigError(
            f"a metric must be one of everyclaim.integrations.ragas, such as Faithfulness(), got {metric!r}; for "
            "Ragas' own metrics use Ragas' evaluate, with everyclaim's through as_ragas_metric"
        )
    return metric.with_llm(llm) if metric.llm is None and llm is not None else metric


def _counts(results: Sequence[Result]) -> dict[Outcome, int]:
    found = Counter(result.outcome for result in results)
    return {outcome: found[outcome] for outcome in Outcome}


_COLUMNS = ("user_input:optional", "response", "retrieved_contexts", "reference:optional")
_OF_REFERENCE = ("user_input:optional", "response", "reference")


@public
def as_ragas_metric(
    metric: Any, *, columns: Sequence[str] = (), on_result: Callable[[Result], None] | None = None
) -> Any:
    """Make a metric of ours one of Ragas' own, in both of its forms at once.

    It is a `SingleTurnMetric`, so `ragas.evaluate(dataset, metrics=[…])` takes it, and it is a metric of
    `ragas.metrics.collections`, with `ascore`, `abatch_score` and a `MetricResult` whose `reason` says which claims
    failed and whose `traces["output"]` is the whole result. `on_result` is given every result, since Ragas' table
    keeps numbers only. `columns` are what a row must have, ``name:optional`` what it may have.

    What is not scored is NaN there, as for its own metrics; a failed judge raises, which its `evaluate` turns into
    NaN and a line in the log. Raises `UserError` where Ragas is not installed.
    """
    if not isinstance(metric, ClaimMetric):
        raise ConfigError(f"pass a metric of everyclaim.integrations.ragas, such as Faithfulness(), got {metric!r}")
    return _adapted_class()(metric, columns, on_result)


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

        def __init__(
            self, metric: ClaimMetric, columns: Sequence[str], on_result: Callable[[Result], None] | None
        ) -> None:
            usual = _OF_REFERENCE if isinstance(metric, FactualCorrectness) else _COLUMNS
            self.name, self.ours, self.on_result = metric.name, metric, on_result
            self.allowed_values, self.output_type = (0.0, 1.0), base.MetricOutputType.CONTINUOUS
            self._required_columns = {base.MetricType.SINGLE_TURN: set(columns or usual)}

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
