"""Nothing is paid for twice: identical calls at the same time are one, and replies are remembered in an SQLite file.

A reply is on its way to the disk before it is returned: a killed process asks again only for what it
never got. Several processes may share a file. Failures, refusals, cut replies and what does not have the
form asked for are never kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sqlite3
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from everyclaim.core.errors import JudgeError, StoreError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.replies import forks_from_json, parse_object
from everyclaim.models.private_file import PrivateFile
from everyclaim.prompts.forms import rows

_log = logging.getLogger(__name__)
_TABLE = "CREATE TABLE IF NOT EXISTS replies_1 (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_LOCK_SECONDS = 10.0
_FIRST_PAGE = 65_536  # bytes that hold the names of the tables, at most


class ReplyCache:
    """Replies by key in one file. A cache that is damaged is set aside, with a warning, and begun anew.

    A file that is no cache of ours stays as it is: `StoreError`.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = PrivateFile(self.path, "reply cache", "replies_1", _LOCK_SECONDS, _prepare)

    def get(self, key: bytes) -> ChatReply | None:
        """Return what was kept for a key. Its usage says: one cache hit, nothing paid."""
        row = self._run("SELECT reply FROM replies_1 WHERE key = ?", (key,))
        if row is None:
            return None
        try:
            kept = json.loads(row[0])
            forks = forks_from_json(kept.get("forks"))
            return ChatReply(str(kept["content"]), "stop", str(kept["model"]), Usage(cache_hits=1), forks)
        except (ValueError, KeyError, TypeError):
            return None  # asked again, and overwritten

    def put(self, key: bytes, reply: ChatReply) -> None:
        """Keep a reply; it survives the end of this process from here on."""
        kept: dict[str, Any] = {
            "content": reply.content,
            "model": reply.model,
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
        }
        if reply.forks is not None:
            kept["forks"] = reply.forks
        self._run("INSERT OR REPLACE INTO replies_1 VALUES (?, ?)", (key, json.dumps(kept)))

    def drop(self, key: bytes) -> None:
        """Forget what was kept for a key."""
        self._run("DELETE FROM replies_1 WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        self._file.close()

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        with self._file.lock:
            for attempt in (1, 2, 3):
                try:
                    return self._file.connection().execute(statement, values).fetchone()
                except sqlite3.Error as error:
                    self._file.close()
                    if attempt == 3 or not _is_corrupt(error) or not self._is_ours():
                        raise StoreError(f"cannot use the reply cache {self.path}: {error}") from None
                    if attempt == 2:  # the first time another process may have put it right
                        self._set_aside(error)
        raise AssertionError  # pragma: no cover - the third attempt returns or raises

    def _is_ours(self) -> bool:
        try:
            with self.path.open("rb") as file:
                head = file.read(_FIRST_PAGE)
        except OSError:
            return False
        return head.startswith(b"SQLite format 3\0") and b"replies_1" in head

    def _set_aside(self, error: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.time_ns()}")
        for ending in ("", "-wal", "-shm"):
            here = self.path.with_name(self.path.name + ending)
            with contextlib.suppress(FileNotFoundError):
                here.rename(aside.with_name(aside.name + ending))
        _log.warning(
            "the reply cache %s is corrupt (%s); moved to %s, starting a new one", self.path, error, aside.name
        )


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(_TABLE)


def _is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, as opposed to locked, full or not allowed."""
    return not isinstance(error, sqlite3.OperationalError) or "malformed" in str(error)


class Cached:
    """One call for all who ask the same at the same time, and none for what the cache knows, where there is one.

    Whoever joins a call pays nothing and counts as a cache hit. A call ends early only when nobody waits for it.
    """

    def __init__(self, following: Link, cache: ReplyCache | None = None) -> None:
        self._next = following
        self._cache = cache
        self._running: LoopLocal[dict[bytes, _Flight]] = LoopLocal(dict)

    async def ask(self, call: Call) -> ChatReply:
        """Answer. Raises `StoreError` when the cache's disk is full or its file stays locked."""
        running = self._running.get()
        flight = running.get(call.key)
        joined = flight is not None
        if flight is None:
            if self._cache and (kept := self._cache.get(call.key)):
                return kept
            flight = running[call.key] = _Flight(asyncio.ensure_future(self._fetch(call)))
            flight.task.add_done_callback(lambda done: _forget(running, call.key, done))
        flight.waiting += 1
        try:
            reply = await asyncio.shield(flight.task)
        except JudgeError as error:
            if not joined:
                raise
            unpaid = copy(error)
            unpaid.usage = Usage(cache_hits=1)
            raise unpaid from None
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                running.pop(call.key, None)
                flight.task.cancel()
        return replace(reply, usage=Usage(cache_hits=1)) if joined else reply

    def forget(self, call: Call) -> None:
        """Drop the reply to this request, so that it is asked again."""
        if self._cache:
            self._cache.drop(call.key)

    async def _fetch(self, call: Call) -> ChatReply:
        reply = await self._next.ask(call)
        if self._cache and reply.finish == "stop" and (call.schema is None or _has_form(reply, call.schema)):
            self._cache.put(call.key, reply)
        return reply


class _Flight:
    """One running call and how many wait for it."""

    def __init__(self, task: asyncio.Future[ChatReply]) -> None:
        self.task = task
        self.waiting = 0


def _forget(running: dict[bytes, _Flight], key: bytes, done: asyncio.Future[ChatReply]) -> None:
    running.pop(key, None)
    if not done.cancelled():
        done.exception()  # looked at, so that asyncio does not warn when nobody waited to the end


def _has_form(reply: ChatReply, schema: Mapping[str, Any]) -> bool:
    """Whether a reply holds what the schema wants at its top, or rows for it; else it is worth another try some day."""
    required = list(schema.get("required", ()))
    try:
        value = parse_object(reply.content)
        return value.keys() >= set(required) or bool(required and rows(value, required[0]))
    except JudgeError:
        return False
