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
import os
import re
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from everyclaim.core.errors import StoreError
from everyclaim.io.sinks import sync_folder
from everyclaim.store.connect import FileLocks
from everyclaim.web.service.gate import Problem

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
    _locks: FileLocks = field(init=False)
    _guard: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(f"cannot create the jobs folder {self.folder}: {error.strerror}") from None
        self._locks = FileLocks(self.folder / "job")
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
        row = (job.id, job.owner, key, digest, job.state, _written(job))
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
        return _read(record)

    # ---- being there

    def data(self, job: JobRecord) -> Path:
        """Where a job's data is."""
        return self.folder / f"{job.id}.data{job.suffix}"

    def keep(self, job: JobRecord) -> None:
        """Keep what has become of a job, durably; with its end its data goes."""
        with self._database() as database:
            change = "UPDATE jobs SET state = ?, record = ? WHERE id = ?"
            database.execute(change, (job.state, _written(job), job.id))
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

    def is_held(self, job: str) -> bool:
        """Whether somebody works on it."""
        return self._locks.is_locked(job)

    def take(self, job: str) -> JobRecord | None:
        """Hold a job and return its record as it is now; None where it ended, or somebody holds it."""
        with self._guard:
            if self._locks.is_locked(job) or not self._locks.take(job):
                return None
        found = self.find(job)
        if found is None or found.state != "open":
            self.release(job)
            return None
        return found

    def release(self, job: str) -> None:
        """Let go of a job."""
        self._locks.release(job)

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

    def close(self) -> None:
        """Let go of everything."""
        self._locks.close()

    def _jobs(self, condition: str, *values: object) -> list[JobRecord]:
        with self._database() as database:
            rows = database.execute(f"SELECT record FROM jobs {condition}", values).fetchall()  # noqa: S608 - our own
        return [_read(record) for (record,) in rows]

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Open the database; every statement is a transaction, on disk when it is done."""
        try:
            with closing(sqlite3.connect(self.folder / "jobs.db", timeout=30, isolation_level=None)) as database:
                yield database
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot read or write the jobs in {self.folder}: {error}") from None


def _written(job: JobRecord) -> str:
    return json.dumps(asdict(job), ensure_ascii=True)


def _read(record: str) -> JobRecord:
    return JobRecord(**json.loads(record))
