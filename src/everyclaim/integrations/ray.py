"""Ray: data sets scored by many machines.

`on_ray` lends an evaluator the workers of a cluster: the run is read, kept, summed up and resumed as ever by the
process that holds the evaluator, and only the scoring of samples happens elsewhere. `score_dataset` is for data that
is a Ray Dataset already and stays one; `summary_of` sums up what became of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from everyclaim._version import __version__
from everyclaim.analysis.summary import Collector, Summary
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.options import Amount, Size, public
from everyclaim.api.session import SHARED, Session, share_of
from everyclaim.core.errors import (
    BudgetExceeded,
    ConfigError,
    EveryclaimError,
    InputError,
    JudgeError,
    OperatorError,
    needed_for,
)
from everyclaim.core.events import account, tallied
from everyclaim.core.spec import where_it_failed
from everyclaim.core.types import Provenance, Result, Sample, Usage
from everyclaim.core.wire import result_from_json, result_to_json

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere that nobody asked for
with needed_for("Scoring on Ray", "ray"):
    import ray
    from ray.exceptions import RayError, RayTaskError

__all__ = ["on_ray", "score_dataset", "summary_of"]

_MOST = 10_000  # samples in work


@public
@contextmanager
def on_ray(
    evaluator: Evaluator,
    *,
    address: str | None = None,
    actors: Size | None = None,
    cpus: Amount = 1.0,
    gpus: Amount = 0.0,
) -> Iterator[Evaluator]:
    """Let the samples of `evaluator.score_file` be scored by workers of a Ray cluster for a while.

        with ec.Evaluator(judge="embedded") as evaluator, on_ray(evaluator, address="auto"):
            run = evaluator.score_file("answers.parquet", store="postgresql://…")

    `address` is a cluster's, ``"auto"`` the one that this machine belongs to; with None, Ray is used as it was started
    in this process, else started on this machine and stopped at the end. `actors` is how many workers there are (None:
    one for each `cpus` processors of the cluster); each takes `cpus` and `gpus`. everyclaim, of this version, must be
    installed on every machine, and so must be what the judge needs: keys in the environment, files by the same path.

    Limits (`max_cost`, …) and rates are for all workers together, each has its share. A worker that dies is begun anew
    and its samples are scored by others; one that kills three workers, the last of them its own, is `failed:
    worker_lost`. Workers keep no cache of replies, and tell no observers of single calls.

    Raises `ConfigError` for options that are wrong, or a worker of another version or configuration, and
    `OperatorError` when no cluster or no worker can be had.
    """
    session = evaluator._session  # noqa: SLF001 - one house
    if session.options.get("provider_batch"):
        raise ConfigError("provider_batch cannot be combined with Ray")
    with _cluster(address):
        there = ray.cluster_resources()
        room = [there.get(kind, 0) / taken for kind, taken in (("CPU", cpus), ("GPU", gpus)) if taken]
        number = actors or max(1, int(min(room, default=1)))
        workers = Workers(session, number, cpus, gpus)
        with closing(workers), session.scoring_elsewhere(workers, min(_MOST, number * session.concurrency)):
            yield evaluator


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Use the Ray of this process, or one for as long as this lasts."""
    if ray.is_initialized():
        if address is not None:
            raise ConfigError(f"Ray is already running in this process: omit the address {address!r}, or stop it")
        yield
        return
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:
        raise OperatorError(f"no Ray cluster at {address or 'this machine'}: {last_line(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


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
    actors: int | None = None,
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
    and its reason. `summary_of` sums up. `actors` is the number of workers (None: as many as the cluster has room for);
    limits such as `max_cost` are shared evenly among them, so they need a number. Other options are those of an
    `Evaluator`; the same is needed on every machine as for `on_ray`.
    """
    if actors is None and any(options.get(name) is not None for name in SHARED):
        raise ConfigError("limits and rates are divided among the workers: pass their number as actors=")
    with Evaluator(**options) as evaluator:
        _ = evaluator.provenance  # wrong options are told here and not on a worker
    from ray.data import ActorPoolStrategy

    return dataset.map_batches(
        _Batches,
        fn_constructor_kwargs={"options": share_of(options, actors or 1)},
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ActorPoolStrategy(**({"size": actors} if actors else {"min_size": 1})),
        num_cpus=cpus,
        num_gpus=gpus,
    )


def summary_of(dataset: Any, *, slices: Sequence[str] = ()) -> Summary:
    """Sum up what `score_dataset` scored, as `Run.summary` does for a run. Consumes the dataset: keep it first."""
    collector = Collector(tuple(slices))
    for row in dataset.select_columns([f"{_PREFIX}result"]).iter_rows():
        text = row[f"{_PREFIX}result"]
        if text is None:  # the row could not be read
            collector.bad_rows += 1
        else:
            collector.add(result_from_json(json.loads(text)))
    return collector.finish()


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
        return await asyncio.gather(*map(self._score, rows))

    async def _score(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            return _columns(await self._evaluator.ascore(row))
        except InputError as error:
            return dict.fromkeys(_COLUMNS) | {"outcome": "unread", "reason": str(error)}


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


_NOT_THEIRS = {"observe", "cache", "provider_batch"}  # told of, kept and batched where the run is
_TRIES = 2  # on workers that others use as well; then once on one of its own
_PATIENCE = 120.0  # seconds within which a first worker must begin
_MOMENT = 0.05  # seconds


class _Worker:
    """In a process of its own, on whichever machine: a metric like that of the evaluator."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options

    def begin(self) -> tuple[str, Provenance | EveryclaimError]:
        """Make everything; return what will be made of samples, and by which version."""
        try:
            self._session = Session(self._options, kept=True)
            found: Provenance | EveryclaimError = self._session.metric.provenance
        except EveryclaimError as error:
            found = error
        return __version__, found

    async def score(self, sample: Sample) -> tuple[Result | EveryclaimError, Usage]:
        """Score; errors are returned, since they would come over in another shape."""
        found: Result | EveryclaimError
        with tallied() as tally:
            try:
                found = await self._session.work(self._session.metric.score(sample))
            except EveryclaimError as error:
                found = error
            except Exception as error:  # noqa: BLE001 - a component may raise anything
                found = JudgeError("component_error", where_it_failed(error))
        return found, tally.usage


class Workers:
    """Scores samples on workers, each on the one that has the least to do. It is what the engine runs: a `Scorer`."""

    def __init__(self, session: Session, number: int, cpus: float, gpus: float) -> None:
        self.provenance = session.metric.provenance
        options = {name: value for name, value in session.options.items() if name not in _NOT_THEIRS}
        self._kind = ray.remote(_Worker)
        self._takes = {"num_cpus": cpus, "num_gpus": gpus}
        try:
            self._shared = ray.put(share_of(options, number))
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise ConfigError(f"an option cannot be sent to the workers: {last_line(error)}") from None
        self._options = session.options
        self._used = Usage()
        self._in_work: Counter[Any] = Counter()  # samples by worker, of those that have begun and live
        self._coming: dict[Any, Any] = {}  # what a worker will say when it has begun → the worker
        self._looked = 0.0  # when it was last looked who has begun
        for _ in range(number):
            self._begin_one()
        try:
            self._take_in(_PATIENCE)
        except BaseException:
            self.close()
            raise

    async def score(self, sample: Sample) -> Result:
        """Score on some worker. Raises what scoring raises, and `JudgeError` where workers die of it."""
        self._check_limits()
        for _ in range(_TRIES):
            worker = await self._free()
            if reply := await self._ask(worker, sample):
                return self._taken(reply)
        # On a worker that has nothing else in work: what then dies, dies of this sample.
        alone = self._kind.options(num_cpus=0).remote(self._shared)
        try:
            await alone.begin.remote()
            return self._taken(await alone.score.remote(sample))
        except RayError:
            told = f"{_TRIES + 1} workers died on this sample, the last with no other sample"
            raise JudgeError("worker_lost", told) from None
        finally:
            ray.kill(alone)

    def _check_limits(self) -> None:
        """Hold the limits over all workers together: one that was replaced began with its whole share again."""
        used = self._used
        taken = {
            "max_calls": used.calls,
            "max_tokens": used.prompt_tokens + used.completion_tokens,
            "max_cost": used.cost,
        }
        for name, amount in taken.items():
            limit: Any = self._options.get(name)
            if limit is not None and amount is not None and amount >= limit:
                raise BudgetExceeded(f"{name}={limit} is reached", limit=f"{name}={limit}")

    def _taken(self, reply: tuple[Result | EveryclaimError, Usage]) -> Result:
        """Account for what a worker used, and return what it made, or raise what it raised."""
        found, usage = reply
        account(usage)
        self._used += usage
        if isinstance(found, EveryclaimError):
            raise found
        return found

    def close(self) -> None:
        """Stop the workers."""
        for worker in (*self._coming.values(), *self._in_work):
            ray.kill(worker)
        self._coming.clear()
        self._in_work.clear()

    async def _ask(self, worker: Any, sample: Sample) -> Any:
        """Return a worker's reply, None when it died; then another one is begun."""
        self._in_work[worker] += 1
        try:
            return await worker.score.remote(sample)
        except RayTaskError:
            raise
        except RayError:
            if self._in_work.pop(worker, None) is not None:
                ray.kill(worker)
                self._begin_one()
            return None
        finally:
            if worker in self._in_work:
                self._in_work[worker] -= 1

    async def _free(self) -> Any:
        """Return the worker with the least to do, as soon as there is one."""
        begun = time.monotonic()
        while True:
            if self._coming and time.monotonic() - self._looked > _MOMENT:
                self._take_in(0)
            if self._in_work:
                return min(self._in_work, key=self._in_work.__getitem__)
            if time.monotonic() - begun > _PATIENCE:
                raise _no_worker()
            await asyncio.sleep(_MOMENT)

    def _begin_one(self) -> None:
        worker = self._kind.options(**self._takes).remote(self._shared)
        self._coming[worker.begin.remote()] = worker

    def _take_in(self, seconds: float) -> None:
        """Take in the workers that have begun, after waiting so long for a first one.

        Raises `ConfigError` for one that would make something else of samples than the evaluator does, and
        `OperatorError` for one that died before it began.
        """
        begun, _ = ray.wait(list(self._coming), num_returns=1, timeout=seconds)
        if seconds and not begun:
            raise _no_worker()
        if begun:
            begun, _ = ray.wait(list(self._coming), num_returns=len(self._coming), timeout=0)
        self._looked = time.monotonic()
        for ref in begun:
            worker = self._coming.pop(ref)
            try:
                version, found = ray.get(ref)
            except RayError as error:
                raise OperatorError(f"workers do not start: {last_line(error)}") from None
            if isinstance(found, EveryclaimError):
                raise found
            if (version, found) != (__version__, self.provenance):
                made = f"everyclaim {version} with {found.verifier}"
                raise ConfigError(f"a worker has {made}, this machine {__version__} with {self.provenance.verifier}")
            self._in_work[worker] = 0


def _no_worker() -> OperatorError:
    there = ray.cluster_resources()
    room = f"the cluster has {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs"
    return OperatorError(f"no worker started within {_PATIENCE:g} s: {room}")


def last_line(error: Exception) -> str:
    """Return what an error of Ray comes to; what goes before is its traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
