"""Ray Datasets: a score beside every row, made where the row is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from everyclaim.analysis.summary import Collector, Summary
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.session import SHARED, share_of
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Result
from everyclaim.core.wire import result_from_json, result_to_json

_PREFIX = "everyclaim_"
_TEXT, _SHARE, _COUNT = "string", "float64", "int64"
_COLUMNS = {
    "outcome": _TEXT,
    "score": _SHARE,
    "probability": _SHARE,
    "claims": _COUNT,
    "supported": _COUNT,
    "unsupported": _COUNT,
    "contradicted": _COUNT,
    "reason": _TEXT,
    "result": _TEXT,
}


def score_dataset(
    dataset: Any,
    *,
    actors: int | tuple[int, int] | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
    batch_size: int = 32,
    **options: Any,
) -> Any:
    """Return a `ray.data.Dataset` with a score beside every row; scored when it is consumed.

        scored = score_dataset(ray.data.read_parquet("s3://bucket/answers/"), judge="embedded")
        scored.write_parquet("s3://bucket/scored/")

    Rows have field names as files may have them. Added are `everyclaim_outcome`, `everyclaim_score` (0 to 1, null
    without one), `everyclaim_probability`, the numbers of claims in all and by label, `everyclaim_reason`, and
    `everyclaim_result`: everything, as JSON in the public schema. A row that cannot be read has the outcome `unread`
    and its reason. `summary_of` sums up. `actors` is a number of workers, or the least and the most of them (None: as
    many as the cluster has room for); limits such as `max_cost` are shared evenly by the most there may be, so they
    need a number. Other options are those of an `Evaluator`; the same is needed on every machine as for `on_ray`.
    """
    most = actors[1] if isinstance(actors, tuple) else actors
    if most is None and any(options.get(name) is not None for name in SHARED):
        raise ConfigError("limits and rates are divided among the workers: pass their maximum number as actors=")
    with Evaluator(**options) as evaluator:
        _ = evaluator.provenance  # wrong options are told here and not on a worker
    from ray.data import ActorPoolStrategy

    return dataset.map_batches(
        _Batches,
        fn_constructor_kwargs={"options": share_of(options, most or 1)},
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ActorPoolStrategy(**_pool(actors)),
        num_cpus=cpus,
        num_gpus=gpus,
    )


def results_of(dataset: Any) -> Iterator[Result]:
    """Yield the results of what `score_dataset` scored, a few in memory at a time; rows that were not read have none.

    Consumes the dataset: what is wanted twice is written, or materialised, first.
    """
    return (result for result in _results(dataset) if result is not None)


def summary_of(dataset: Any, *, slices: Sequence[str] = ()) -> Summary:
    """Sum up what `score_dataset` scored, as `Run.summary` does for a run. Consumes the dataset."""
    collector = Collector(tuple(slices))
    for result in _results(dataset):
        if result is None:
            collector.bad_rows += 1
        else:
            collector.add(result)
    return collector.finish()


def _results(dataset: Any) -> Iterator[Result | None]:
    for row in dataset.select_columns([f"{_PREFIX}result"]).iter_rows():
        text = row[f"{_PREFIX}result"]
        yield None if text is None else result_from_json(json.loads(text))


def _pool(actors: int | tuple[int, int] | None) -> dict[str, int]:
    if actors is None:
        return {"min_size": 1}
    return {"size": actors} if isinstance(actors, int) else {"min_size": actors[0], "max_size": actors[1]}


class _Batches:
    """In a process of its own: scores batches of a Ray Dataset."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._evaluator = Evaluator(**options)

    def __call__(self, batch: Any) -> Any:
        """Return the batch with what was found beside every row."""
        import pyarrow as pa

        found = asyncio.run(self._score_all(batch.to_pylist()))
        for name, kind in _COLUMNS.items():
            if (column := f"{_PREFIX}{name}") in batch.column_names:
                batch = batch.drop_columns(column)
            batch = batch.append_column(column, pa.array([row[name] for row in found], kind))
        return batch

    async def _score_all(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        places = asyncio.Semaphore(self._evaluator.concurrency)

        async def score(row: dict[str, Any]) -> dict[str, Any]:
            async with places:
                try:
                    return _columns(await self._evaluator.ascore(row))
                except InputError as error:
                    return dict.fromkeys(_COLUMNS) | {"outcome": "unread", "reason": str(error)}

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(score(row)) for row in rows]
        return [task.result() for task in tasks]


def _columns(result: Result) -> dict[str, Any]:
    return {
        "outcome": result.outcome.value,
        "score": result.score,
        "probability": result.probability,
        "claims": len(result.claims),
        **{label.value.lower(): count for label, count in result.counts.items()},
        "reason": result.reason,
        "result": json.dumps(result_to_json(result), ensure_ascii=False, allow_nan=False),
    }
