"""Workers of a cluster, each with a metric like the evaluator's; one that dies is replaced, and no sample is lost."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from everyclaim._version import __version__
from everyclaim.api.session import Session, share_of
from everyclaim.core.errors import BudgetExceeded, ConfigError, EveryclaimError, JudgeError, OperatorError
from everyclaim.core.events import account, tallied
from everyclaim.core.spec import where_it_failed
from everyclaim.core.types import Provenance, Result, Sample, Usage

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
