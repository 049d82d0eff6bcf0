"""Jobs between their acceptance and their end: data in files and records in a database, on disk before anybody is told.

    jobs.db             what is to be done, for whom, and how far it is; the results are a run in the store
    ID.data.jsonl       what was sent, until the job has ended

A job is worked on by whoever holds its lock, which ends with the process. So a service that was killed leaves nothing
behind that would have to be put in order: the next one takes the job up, and the run in the store goes on.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast

from everyclaim.api.datasets import DatasetOptions
from everyclaim.core.errors import BudgetExceeded, EveryclaimError, InputError, OperatorError, StoreError
from everyclaim.core.events import Event, RunStarted
from everyclaim.io.sinks import sync_folder
from everyclaim.store.connect import FileLocks
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Store
from everyclaim.web.client import JobState, JobStatus
from everyclaim.web.service.gate import Problem
from everyclaim.web.service.requests import Work

State = Literal["open", "finished", "failed", "cancelled"]
_ID = re.compile(r"j[0-9]{13}[0-9a-f]{16}")  # begins with the time, so that ids sort as jobs came
_KEPT_DAYS = 7  # idempotency keys, and what a broken upload left
_TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, key TEXT, digest TEXT NOT NULL, state TEXT NOT NULL,
    is_unwanted INTEGER NOT NULL DEFAULT 0, record TEXT NOT NULL, UNIQUE (owner, key)
)
"""


def _new_id(seconds: float | None = None) -> str:
    return f"j{int(1000 * (seconds or time.time())):013d}{secrets.token_hex(8)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What is known of a job. `options` are those of `score_file`; `owner` is the name of a token."""

    owner: str
    suffix: str  # of the data, which says how it is read
    options: Mapping[str, Any]
    id: str = field(default_factory=_new_id)
    created: str = field(default_factory=_now)
    state: State = "open"
    reason: str = ""
    ended: str | None = None
    run: str | None = None

    def end(self, state: State, reason: str = "") -> JobRecord:
        """Return the job as it ended."""
        return replace(self, state=state, reason=reason, ended=_now())


@dataclass(slots=True)
class JobStore:
    """The jobs of one folder, which several processes of one machine may share."""

    folder: Path
    locks: FileLocks = field(init=False)
    _guard: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(f"cannot create the jobs folder {self.folder}: {error.strerror}") from None
        self.locks = FileLocks(self.folder / "job")
        with self._database() as database:
            database.execute(_TABLE)

    # ---- coming in

    async def receive(self, job: JobRecord, pieces: AsyncIterator[bytes]) -> str:
        """Write a job's data down as it comes, in bounded memory; return the digest of the job and its data.

        What breaks off leaves nothing.
        """
        digest = hashlib.sha256(json.dumps([job.options, job.suffix], sort_keys=True).encode())
        try:
            with self.data(job).open("xb") as file:
                async for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
        except BaseException as error:
            self.data(job).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise StoreError(f"cannot store the data of a job in {self.folder}: {error.strerror}") from None
            raise
        return digest.hexdigest()

    def accept(self, job: JobRecord, digest: str, key: str | None = None) -> JobRecord:
        """Keep a job whose data was received, durably; with a key that was used before, return the job it made then.

        Raises `Problem` for a key that belongs to another request.
        """
        row = (job.id, job.owner, key, digest, job.state, json.dumps(asdict(job)))
        try:
            with self._database() as database:
                sync_folder(self.folder)
                with suppress(sqlite3.IntegrityError):  # the key was used before
                    database.execute(
                        "INSERT INTO jobs (id, owner, key, digest, state, record) VALUES (?,?,?,?,?,?)", row
                    )
                    return job
                query = "SELECT digest, record FROM jobs WHERE owner = ? AND key = ?"
                known, record = database.execute(query, (job.owner, key)).fetchone()
        except StoreError:
            self.data(job).unlink(missing_ok=True)
            raise
        self.data(job).unlink(missing_ok=True)
        if digest != known:
            told = "this Idempotency-Key was used with other data or options: use a new key for a new job"
            raise Problem("key-reused", told)
        return JobRecord(**json.loads(record))

    # ---- being there

    def data(self, job: JobRecord) -> Path:
        """Where a job's data is."""
        return self.folder / f"{job.id}.data{job.suffix}"

    def keep(self, job: JobRecord) -> None:
        """Keep what has become of a job, durably; with its end its data goes."""
        with self._database() as database:
            change = "UPDATE jobs SET state = ?, record = ? WHERE id = ?"
            database.execute(change, (job.state, json.dumps(asdict(job)), job.id))
        if job.state != "open":
            self.data(job).unlink(missing_ok=True)

    def find(self, job: str) -> JobRecord | None:
        """Return a job by its id, None where there is none."""
        found = self._jobs("WHERE id = ?", job) if _ID.fullmatch(job) else []
        return found[0] if found else None

    def newest(self, limit: int, owner: str | None = None) -> list[JobRecord]:
        """Return jobs, of one owner or of all, the newest first."""
        return self._jobs("WHERE ?1 IS NULL OR owner = ?1 ORDER BY id DESC LIMIT ?2", owner, limit)

    def waiting(self) -> list[JobRecord]:
        """Return the jobs that did not end, the oldest first."""
        return self._jobs("WHERE state = 'open' ORDER BY id")

    def take(self, job: str) -> JobRecord | None:
        """Hold a job and return its record as it is now; None where it ended, or somebody holds it."""
        with self._guard:
            if self.locks.is_locked(job) or not self.locks.take(job):
                return None
        found = self.find(job)
        if found is None or found.state != "open":
            self.locks.release(job)
            return None
        return found

    def ask_to_cancel(self, job: str) -> None:
        """Let whoever works on a job, or takes it up, know that nobody wants it any more."""
        with self._database() as database:
            database.execute("UPDATE jobs SET is_unwanted = 1 WHERE id = ?", (job,))

    def is_unwanted(self, job: str) -> bool:
        """Whether it is to be cancelled."""
        return bool(self._jobs("WHERE id = ? AND is_unwanted", job))

    def clear(self) -> None:
        """Remove what is too old to be of use: idempotency keys, and what broken uploads left."""
        oldest = time.time() - _KEPT_DAYS * 86_400
        with self._database() as database:
            database.execute("UPDATE jobs SET key = NULL WHERE id < ?", (_new_id(oldest),))
        needed = {self.data(job) for job in self.waiting()}
        for path in {*self.folder.glob("*.data*")} - needed:
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _jobs(self, condition: str, *values: object) -> list[JobRecord]:
        with self._database() as database:
            rows = database.execute(f"SELECT record FROM jobs {condition}", values).fetchall()  # noqa: S608 - our own
        return [JobRecord(**json.loads(record)) for (record,) in rows]

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Open the database; every statement is a transaction, on disk when it is done."""
        try:
            with closing(sqlite3.connect(self.folder / "jobs.db", timeout=30, isolation_level=None)) as database:
                yield database
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot read or write the jobs in {self.folder}: {error}") from None


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
        with closing(self.job_store.locks):
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
            self.job_store.locks.release(job.id)

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
            state = "running" if self.job_store.locks.is_locked(job.id) else "queued"
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
                self.job_store.locks.release(job.id)
        return self.job_store.find(job.id) or job
