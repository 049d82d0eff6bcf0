"""Our metrics inside an installed Ragas: beside its own in its `evaluate`, its experiments, its `ascore`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from everyclaim.api.options import public
from everyclaim.core.errors import ConfigError, JudgeError, UserError
from everyclaim.core.types import Outcome, Result
from everyclaim.core.wire import result_to_json
from everyclaim.integrations.ragas.metrics import ClaimMetric, FactualCorrectness, MetricResult

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
