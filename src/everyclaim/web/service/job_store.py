"""Jobs between their acceptance and their end: data and a record in files, written to disk before anybody is told.

    open/ID.data.jsonl   what was sent            open/ID.json     what is to be done with it, and how far it is
    ended/ID.json        the record of a job that ended; its results are a run in the store
    keys/DIGEST          which job an idempotency key has made

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
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from everyclaim.core.errors import StoreError
from everyclaim.io.sinks import sync_folder
from everyclaim.store.holds import FileHolds
from everyclaim.web.service.problems import Problem

JOB_ID = re.compile(r"j[0-9]{13}[0-9a-f]{16}")  # begins with the time, so that ids sort as jobs came
_KEPT_DAYS = 7  # idempotency keys, and what a broken upload left
_logger = logging.getLogger("everyclaim.web")
State = Literal["open", "finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job. `options` are those of `score_file`; `owner` is the name of a token."""

    id: str
    owner: str
    suffix: str  # of the data, which says how it is read
    options: Mapping[str, Any]
    created: str
    state: State = "open"
    reason: str = ""
    ended: str | None = None
    run: str | None = None
    starts: int = 0  # since a result was last kept
    kept: int = 0

    @property
    def name(self) -> str:
        """What its sender calls it."""
        return str(self.options.get("name", ""))


@dataclass(frozen=True, slots=True)
class Upload:
    """Data on its way in. `digest` is of what was sent and of what is to be done with it."""

    path: Path
    digest: str


@dataclass(slots=True)
class JobStore:
    """The jobs of one folder, which several processes of one machine may share."""

    folder: Path
    _holds: FileHolds = field(init=False)
    _mine: set[str] = field(default_factory=set)
    _guard: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        try:
            for one in (self._open, self._ended, self._keys):
                one.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(f"no folder for jobs at {self.folder}: {error.strerror}") from None
        self._holds = FileHolds(self._open / "job")

    @property
    def _open(self) -> Path:
        return self.folder / "open"

    @property
    def _ended(self) -> Path:
        return self.folder / "ended"

    @property
    def _keys(self) -> Path:
        return self.folder / "keys"

    # ---- coming in

    async def receive(self, pieces: AsyncIterator[bytes], options: Mapping[str, Any], suffix: str) -> Upload:
        """Write data down as it comes, in bounded memory; what breaks off leaves nothing."""
        digest = hashlib.sha256(json.dumps([options, suffix], sort_keys=True).encode())
        path = self._open / f"{secrets.token_hex(8)}.part"
        try:
            with path.open("xb") as file:
                async for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StoreError(f"the data of a job cannot be kept in {self._open}: {error.strerror}") from None
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Upload(path, digest.hexdigest())

    def accept(self, upload: Upload, owner: str, options: Mapping[str, Any], suffix: str, key: str = "") -> Job:
        """Make a job of what was received, durably; with a key that was used before, return the job it made then.

        Raises `Problem` for a key that belongs to another request.
        """
        job = Job(_new_id(), owner, suffix, dict(options), _now())
        try:
            return self._accepted(upload, job, key)
        except OSError as error:
            self._forget(upload, job, key)
            raise StoreError(f"a job cannot be kept in {self.folder}: {error.strerror}") from None
        except Problem:
            self._forget(upload, job, key)
            raise

    def _accepted(self, upload: Upload, job: Job, key: str) -> Job:
        os.replace(upload.path, self.data(job))  # noqa: PTH105 - over whatever is there
        if key:
            made = self._keyed(job, key, upload.digest)
            if made != job.id:
                self.data(job).unlink(missing_ok=True)
                if (known := self.find(made)) is not None:
                    return known
                job = replace(job, id=made)  # its process was killed between the key and the record
                if not self.data(job).exists():
                    raise Problem("unavailable", "the job of this key was not accepted: use another key", retry_after=1)
        self.keep(job)
        return job

    def _keyed(self, job: Job, key: str, digest: str) -> str:
        """Return the id of the job that a key stands for: this one's, where it is new."""
        place, mine = self._place(job, key), self._keys / f"{job.id}.part"
        _write(mine, json.dumps([job.id, digest]))
        try:
            os.link(mine, place)  # there as a whole, or not at all; the first one has it
        except FileExistsError:
            made, known = json.loads(place.read_text("utf-8"))
            if known != digest:
                raise Problem(
                    "key-reused", "this Idempotency-Key came with other data or options: take a new one for a new job"
                ) from None
            return str(made)
        finally:
            mine.unlink(missing_ok=True)
        sync_folder(self._keys)
        return job.id

    def _place(self, job: Job, key: str) -> Path:
        return self._keys / hashlib.sha256(f"{job.owner}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()

    def _forget(self, upload: Upload, job: Job, key: str) -> None:
        """Remove what was written of a job that was not accepted; the same may then be sent again."""
        with suppress(OSError):
            upload.path.unlink(missing_ok=True)
            self.data(job).unlink(missing_ok=True)
            if key and json.loads(self._place(job, key).read_text("utf-8"))[0] == job.id:
                self._place(job, key).unlink(missing_ok=True)

    # ---- being there

    def data(self, job: Job) -> Path:
        """Where a job's data is."""
        return self._open / f"{job.id}.data{job.suffix}"

    def keep(self, job: Job) -> None:
        """Write a record, durably."""
        if job.state == "open":
            _write(self._open / f"{job.id}.json", _to_json(job))
            return
        _write(self._ended / f"{job.id}.json", _to_json(job))
        for path in (self._open / f"{job.id}.json", self.data(job), self._marker(job.id)):
            path.unlink(missing_ok=True)

    def find(self, job: str) -> Job | None:
        """Return a job by its id, None where there is none."""
        if not JOB_ID.fullmatch(job):
            return None
        for folder in (self._ended, self._open, self._ended):  # it may end between the first look and the second
            if (found := _read(folder / f"{job}.json")) is not None:
                return found
        return None

    def newest(self) -> Iterator[Job]:
        """Yield all jobs, the newest first."""
        names = {path.name for folder in (self._open, self._ended) for path in folder.glob("j*.json")}
        for name in sorted(names, reverse=True):
            if (found := self.find(name.removesuffix(".json"))) is not None:
                yield found

    def waiting(self) -> list[Job]:
        """Return the jobs that did not end, the oldest first."""
        found = []
        for path in sorted(self._open.glob("j*.json")):
            try:
                job = _read(path)
            except StoreError as error:  # the others are to go on
                _logger.error("a job is passed over: %s", error)  # noqa: TRY400 - told, not traced
                continue
            if job is not None:
                found.append(job)
        return found

    def is_held(self, job: str) -> bool:
        """Whether somebody works on it."""
        return bool(self._holds.held(None, [job]))  # type: ignore[arg-type]  # a file needs no connection

    def take(self, job: str) -> Job | None:
        """Hold a job and return its record as it is now; None where it ended, or somebody holds it."""
        with self._guard:
            if job in self._mine or not self._holds.take(job):
                return None
            self._mine.add(job)
        found = _read(self._open / f"{job}.json")
        if found is not None and (done := _read(self._ended / f"{job}.json")) is not None:
            self.keep(done)  # clear up behind a process that was killed while it ended the job
            found = None
        if found is None:
            self.release(job)
        return found

    def release(self, job: str) -> None:
        """Let go of a job."""
        with self._guard:
            self._holds.release(job)
            self._mine.discard(job)

    def ask_to_cancel(self, job: str) -> None:
        """Let whoever works on a job, or takes it up, know that nobody wants it any more."""
        _write(self._marker(job), "")

    def is_unwanted(self, job: str) -> bool:
        """Whether it is to be cancelled."""
        return self._marker(job).exists()

    def _marker(self, job: str) -> Path:
        return self._open / f"{job}.cancel"

    def clear(self) -> None:
        """Remove what is too old to be of use: idempotency keys, and what broken uploads left."""
        oldest = time.time() - _KEPT_DAYS * 86_400
        records = {path.stem for path in self._open.glob("j*.json")}
        left = [path for path in self._open.glob("j*.data*") if path.name.partition(".")[0] not in records]
        for path in (*self._keys.iterdir(), *self._open.glob("*.part"), *self._open.glob("*.cancel"), *left):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def close(self) -> None:
        """Let go of everything."""
        self._holds.close()


def _to_json(job: Job) -> str:
    return json.dumps(asdict(job), ensure_ascii=True)


def _read(path: Path) -> Job | None:
    try:
        return Job(**json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"the record of a job {path} cannot be read: {error}") from None


def _write(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all, and stays when the power goes."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    with part.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)  # noqa: PTH105
    sync_folder(path.parent)


def _new_id() -> str:
    return f"j{time.time_ns() // 1_000_000:013d}{secrets.token_hex(8)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def ended(job: Job, state: State, reason: str = "") -> Job:
    """Return a job as it ended."""
    return replace(job, state=state, reason=reason, ended=_now())
