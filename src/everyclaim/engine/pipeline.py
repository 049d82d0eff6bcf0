"""The pipeline: samples in, results kept and announced, in bounded memory.

    source ──► (already kept? skip) ──► at most `concurrency` samples in a metric ──► keep ──► hooks

A sample is read only when a place is free for it. Results are kept as they complete: the writer takes
all that are ready, keeps them in one transaction in a worker thread (so that a slow or locked database
does not stop the judges) and then tells the hooks. A lone result is kept at once; what comes within a moment
after it shares the next transaction.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress

from everyclaim.core.errors import BudgetExceeded, EveryclaimError, UnreachableError
from everyclaim.core.events import Event, Hook, RunFinished, RunStarted, SampleFinished, SampleSkipped
from everyclaim.core.protocols import Kept, ResultStore, Scorer
from everyclaim.core.types import Sample
from everyclaim.core.wire import fingerprint
from everyclaim.engine.score import score_sample
from everyclaim.engine.source import each

_MOMENT = 0.05  # seconds for which results gather after a transaction
_BLOCK = 1000  # positions asked of the store at once when resuming


async def run(
    samples: Iterable[Sample] | AsyncIterable[Sample],
    metric: Scorer,
    *,
    run: str = "",
    store: ResultStore | None = None,
    concurrency: int = 8,
    hooks: Sequence[Hook] = (),
    total: int | None = None,
) -> None:
    """Score samples, keep every result in the store as it completes, and tell the hooks.

    Samples that the store already holds for this run (same place, same content) are skipped. At most `concurrency`
    are in the metric at the same time, so memory is bounded whatever the number of samples; an iterable whose reading
    may block for long should come through `in_thread`.

    A failing sample is kept as `failed`. Cancellation, an interrupt, an error of the store, of the
    source or of a hook, and an error that would befall every sample (a wrong setting) end the run: what is
    done is kept, the run is marked `stopped` or `failed`, and the error is raised. So do a spent budget and a judge
    whose address has never answered, but first the samples in flight finish as far as they can without another call.
    """
    work = _Pipeline(metric, run, store, concurrency, hooks)
    try:
        await work.carry_out(samples, total)
    except BaseException as error:
        if store is not None:
            with suppress(EveryclaimError):  # the first error says more
                is_fault = isinstance(error, Exception) and not isinstance(error, BudgetExceeded | UnreachableError)
                store.finish_run(run, "failed" if is_fault else "stopped")
        raise
    if store is not None:
        store.finish_run(run, "finished")
    work.tell(RunFinished(run, work.scored))


class _InterruptedError(Exception):
    """Carries an interrupt from a sample's task: raised there as it is, it would tear down the event loop."""

    def __init__(self, interrupt: BaseException) -> None:
        super().__init__()
        self.interrupt = interrupt


class _Pipeline:
    """The moving parts of one call of `run`: a feeder, the samples in flight, and a writer."""

    def __init__(
        self, metric: Scorer, run: str, store: ResultStore | None, concurrency: int, hooks: Sequence[Hook]
    ) -> None:
        self.scored = 0
        self._spent: BudgetExceeded | UnreachableError | None = None  # why no further sample is begun
        self._metric = metric
        self._run = run
        self._store = store
        self._concurrency = concurrency
        self._hooks = hooks
        self._slots = asyncio.Semaphore(concurrency)  # in the metric
        self._places = asyncio.Semaphore(2 * concurrency)  # in memory: also those that wait to be kept
        self._ready: list[tuple[Kept, float]] = []
        self._wake = asyncio.Event()
        self._enough = asyncio.Event()  # no use in waiting for more results
        self._closing = False
        self._block: tuple[int, Mapping[int, str]] = (-1, {})

    def tell(self, event: Event) -> None:
        for hook in self._hooks:
            hook(event)

    async def carry_out(self, samples: Iterable[Sample] | AsyncIterable[Sample], total: int | None) -> None:
        self.tell(RunStarted(self._run, total))
        writer = asyncio.create_task(self._write())
        scoring = asyncio.create_task(self._score_all(samples))
        try:
            await asyncio.wait({scoring, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Also when cancelled: first no sample moves any more, then the writer keeps what is done.
            scoring.cancel()
            await asyncio.wait({scoring})
            self._closing = True
            self._wake.set()
            self._enough.set()
            await asyncio.wait({writer})
            errors = [task.exception() for task in (writer, scoring) if not task.cancelled()]
            if writer.cancelled() and self._ready and self._store is not None:
                # The whole loop is being torn down, as after an interrupt in the middle of a metric.
                self._store.save_all(self._run, [kept for kept, _ in self._ready])
        for error in errors:
            if isinstance(error, _InterruptedError):
                raise error.interrupt
            if error is not None:
                raise error

    async def _score_all(self, samples: Iterable[Sample] | AsyncIterable[Sample]) -> None:
        source_error: Exception | None = None
        try:
            async with aclosing(each(samples)) as source, asyncio.TaskGroup() as group:
                try:
                    await self._feed(source, group)
                except Exception as error:  # noqa: BLE001 - raised below, when the samples in flight are done
                    source_error = error
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if self._spent is not None:
            raise self._spent
        if source_error is not None:
            raise source_error

    async def _feed(self, source: AsyncIterator[Sample], group: asyncio.TaskGroup) -> None:
        position = 0
        while True:
            await self._places.acquire()
            await self._slots.acquire()
            sample = None if self._spent else await anext(source, None)
            if sample is None:
                return
            mark = "" if self._store is None else fingerprint(sample)
            if await self._is_kept(position, mark):
                self._slots.release()
                self._places.release()
                self.tell(SampleSkipped(self._run, sample.id))
            else:
                group.create_task(self._score(position, mark, sample))
            position += 1
            # A metric that never awaits finishes its sample here, and the writer gets its turn.
            await asyncio.sleep(0)

    async def _is_kept(self, position: int, mark: str) -> bool:
        if self._store is None:
            return False
        block, kept = self._block
        if position // _BLOCK != block:
            block = position // _BLOCK
            kept = await asyncio.to_thread(self._store.kept, self._run, block * _BLOCK, (block + 1) * _BLOCK)
            self._block = (block, kept)
        return kept.get(position) == mark

    async def _score(self, position: int, mark: str, sample: Sample) -> None:
        begun = time.perf_counter()
        try:
            result = await score_sample(self._metric, sample, is_of_many=True)
        except (KeyboardInterrupt, SystemExit) as interrupt:
            raise _InterruptedError(interrupt) from interrupt
        except (BudgetExceeded, UnreachableError) as spent:
            # Not raised here, which would cut off calls of other samples that are paid already.
            self._spent = self._spent or spent
            self._places.release()
            return
        finally:
            self._slots.release()
        self.scored += 1
        self._ready.append((Kept(position, mark, sample, result), time.perf_counter() - begun))
        self._wake.set()
        if len(self._ready) >= self._concurrency:  # half of the places
            self._enough.set()

    async def _write(self) -> None:
        """Keep what is ready, as long as there is something or may be something."""
        while self._ready or not self._closing:
            await self._wake.wait()
            self._wake.clear()
            batch, self._ready = self._ready, []
            if batch and self._store is not None:
                await asyncio.to_thread(self._store.save_all, self._run, [kept for kept, _ in batch])
            for kept, seconds in batch:
                self._places.release()
                self.tell(SampleFinished(self._run, kept.result, seconds))
            self._enough.clear()
            # A moment for more results, unless half of the places are taken by them or none come any more.
            if self._store is not None and not self._closing and len(self._ready) < self._concurrency:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._enough.wait(), _MOMENT)
