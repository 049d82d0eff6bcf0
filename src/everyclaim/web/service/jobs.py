"""Jobs carried out: each a run over the data that was sent, in the store that all runs are in.

What a run has kept is never scored again, so a job that was cut off goes on where it was, and has every result once.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import cast

from everyclaim.api.datasets import DatasetOptions
from everyclaim.core.errors import BudgetExceeded, EveryclaimError, InputError, OperatorError
from everyclaim.core.events import Event, RunStarted
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Store
from everyclaim.web.client import JobState, JobStatus
from everyclaim.web.service.job_store import JobRecord, JobStore
from everyclaim.web.service.requests import Work

_POLL = 1.0  # seconds between looks for jobs of processes that ended, and at whether one is still wanted
_PAUSE = 10.0  # seconds after which a job that the store had no room for is tried again
_logger = logging.getLogger("everyclaim.web")


@dataclass(slots=True)
class Jobs:
    """The jobs of a service. Every process carries out one at a time, beside what it is asked at once."""

    job_store: JobStore
    store: Store
    location: str
    work: Work
    concurrency: int
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry_out_until_cancelled(self) -> None:
        """Take up one job after the other; a cancellation cuts one off, which the next start goes on with."""
        with closing(self.job_store):
            while True:
                self.wake.clear()
                try:
                    if (job := await asyncio.to_thread(self._next)) is not None:
                        await self._carry_out(job)
                        continue
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.wake.wait(), _POLL)
                except (EveryclaimError, OSError) as error:
                    _logger.error("cannot run jobs: %s", error)  # noqa: TRY400 - told, not traced
                    await asyncio.sleep(_PAUSE)

    def _next(self) -> JobRecord | None:
        """Return the oldest job that nobody holds, held."""
        for waiting in self.job_store.waiting():
            if (job := self.job_store.take(waiting.id)) is not None:
                return job
        return None

    async def _carry_out(self, job: JobRecord) -> None:
        try:
            job = await asyncio.to_thread(self._begun, job)
            if job.state == "open":
                job = await self._scored(job)
                await asyncio.to_thread(self.job_store.keep, job)
            if job.state != "open":
                _logger.info("job ended", extra={"job": job.id, "state": job.state, "run": job.run})
        finally:
            self.job_store.release(job.id)

    def _begun(self, job: JobRecord) -> JobRecord:
        """Note that a job is begun, or that there is nothing left to do for it."""
        record = self._record(job)
        if self.job_store.is_unwanted(job.id):
            job = job.end("cancelled")
        elif record is not None and record.status == "finished":  # cut off between the last result and the word of it
            job = job.end("finished")
        self.job_store.keep(job)
        return job

    async def _scored(self, job: JobRecord) -> JobRecord:
        """Carry one job out and return it as it ended; as it is where it is to be tried again."""
        scoring = asyncio.create_task(self._score(job))
        try:
            while not scoring.done():
                await asyncio.wait({scoring}, timeout=_POLL)
                if await asyncio.to_thread(self.job_store.is_unwanted, job.id):
                    break
        finally:
            scoring.cancel()
            await asyncio.wait({scoring})
        latest = await asyncio.to_thread(self.job_store.find, job.id) or job  # with the run that was begun
        error = None if scoring.cancelled() else scoring.exception()
        if scoring.cancelled():
            return latest.end("cancelled")
        if error is None:
            return latest.end("finished")
        if isinstance(error, BudgetExceeded | InputError) or not isinstance(error, OperatorError):
            if isinstance(error, EveryclaimError):
                return latest.end("failed", str(error).replace(str(self.job_store.data(job)), "the data"))
            _logger.error("job failed", exc_info=error, extra={"job": job.id})
            return latest.end("failed", f"internal error of the service ({type(error).__name__}); see its log")
        _logger.warning("retrying job: %s", error, extra={"job": job.id})
        await asyncio.sleep(_PAUSE)
        return latest

    async def _score(self, job: JobRecord) -> None:
        def told(event: Event) -> None:
            if isinstance(event, RunStarted):
                self.job_store.keep(replace(job, run=event.run))

        options = cast("DatasetOptions", {**job.options, "hooks": [told], "concurrency": self.concurrency})
        source = str(self.job_store.data(job))
        over = threading.Event()

        async def scoring() -> None:
            try:
                await self.work.evaluator.ascore_file(source, store=self.location, **options)
            finally:
                over.set()

        try:
            await self.work.joined(scoring())
        except asyncio.CancelledError:
            await asyncio.to_thread(over.wait, _PAUSE)  # the run keeps what is done, and lets go of the store
            raise

    def _record(self, job: JobRecord) -> RunRecord | None:
        with suppress(InputError):  # the run was deleted
            return None if job.run is None else self.store.run(job.run)
        return None

    def status(self, job: JobRecord) -> JobStatus:
        """Return what is told of a job."""
        record = self._record(job)
        state: JobState
        if job.state != "open":
            state = job.state
        elif self.job_store.is_unwanted(job.id):
            state = "cancelling"
        else:
            state = "running" if self.job_store.is_held(job.id) else "queued"
        done, total, counts, bad = (
            (record.kept, record.total, record.counts, record.bad_rows) if record else (0, None, {}, 0)
        )
        name = str(job.options.get("name", ""))
        return JobStatus(job.id, name, state, job.reason, job.created, job.ended, job.run, done, total, counts, bad)

    def cancel(self, job: JobRecord) -> JobRecord:
        """Cancel a job: at once where nobody works on it, soon where somebody does. One that ended stays as it is."""
        if job.state != "open":
            return job
        self.job_store.ask_to_cancel(job.id)
        if (taken := self.job_store.take(job.id)) is not None:
            try:
                self.job_store.keep(taken.end("cancelled"))
            finally:
                self.job_store.release(job.id)
        return self.job_store.find(job.id) or job
