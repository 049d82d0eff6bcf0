"""Rows of a SQL query, read in the order of a column that grows: a time, or a number."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from everyclaim.core.errors import ConfigError, MissingExtraError, SourceError
from everyclaim.core.hiding import hidden
from everyclaim.core.nearest import did_you_mean
from everyclaim.monitor.watching.rows import Rows
from everyclaim.monitor.watching.source import Batch, Found, Loaded, Return, Unreadable

_ROWS = 200  # in one batch
_COLON = re.compile(r"(?<![:\\]):(?=\w)")
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: a SELECT, the column that grows, the column that tells rows apart, and how late a row may come."""

    select: str
    watermark: str
    key: str = "id"
    lateness: timedelta = timedelta(hours=1)  # of a watermark that is a time


class SqlQuery:
    """A query that is asked again and again for what is new. Nothing is ever written."""

    takes_scores = False
    title = "sql"

    def __init__(self, url: str, query: Query, rows: Rows) -> None:
        self._query = query
        self._rows = rows
        try:
            parsed = sa.engine.make_url(url)
        except (exc.ArgumentError, ValueError):
            # It may hold a password, so it is not repeated.
            raise ConfigError("the URL of the database cannot be read: write sql:postgresql://user@host/name") from None
        backend = parsed.get_backend_name()
        self._url = parsed.set(drivername=_DRIVERS[parsed.drivername]) if parsed.drivername in _DRIVERS else parsed
        self._shown = parsed.set(username=None, password=None, query={}).render_as_string()
        asked = sha256(f"{query.select}\0{query.watermark}\0{query.key}".encode()).hexdigest()[:12]
        self.name = f"sql:{self._shown}#{asked}"
        self._engine = _engine(self._url, backend)

    async def open(self) -> None:
        """Ask for the columns, so that a wrong name is told at once."""
        await asyncio.to_thread(self._check)

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self._engine.dispose)

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Nothing is written to a database that is watched."""
        return {one.answer: True for one in results}

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the rows behind the watermark, and for a time also those that came late."""
        reached = _restored(checkpoint["watermark"]) if checkpoint else None
        after = None if reached is None else (_earlier(reached, self._query.lateness), None)
        while True:
            rows = await asyncio.to_thread(self._fetch, after)
            if not rows:
                return
            last = rows[-1]
            after = (last[self._query.watermark], last[self._query.key])
            now = _now_like(after[0])
            reached = after[0] if reached is None else max(reached, after[0])
            if now is not None:  # a clock that is ahead must not hide what follows
                reached = min(reached, now)
            yield Batch([self._found(row) for row in rows], {"watermark": _kept(reached)})
            if len(rows) < _ROWS:
                return

    def _found(self, row: Mapping[str, Any]) -> Found:
        key = str(row[self._query.key])
        made = self._rows.sample(row, key)
        if isinstance(made, Unreadable):
            made = Unreadable(f"row {key[:60]!r}: {made.reason}")

        async def load() -> Loaded:
            return made

        return Found(key, load)

    def _check(self) -> None:
        with self._reading() as connection:
            columns = list(connection.execute(self._select(sa.text("1 = 0"))).keys())
        for name in (self._query.watermark, self._query.key):
            if name not in columns:
                raise ConfigError(
                    f"the query has no column {name!r}; its columns are: {', '.join(columns)}"
                    f"{did_you_mean(name, columns)}"
                )

    def _fetch(self, after: tuple[Any, Any] | None) -> list[Mapping[str, Any]]:
        """Return the next rows: those behind the last one, or from a watermark on where there is no last one."""
        watermark: sa.ColumnClause[Any] = sa.column(self._query.watermark)
        key: sa.ColumnClause[Any] = sa.column(self._query.key)
        wanted: sa.ColumnElement[bool] = sa.and_(watermark.is_not(None), key.is_not(None))
        if after is not None and after[1] is None:
            wanted = sa.and_(wanted, watermark >= sa.bindparam(None, after[0]))
        elif after is not None:
            same = sa.and_(watermark == sa.bindparam(None, after[0]), key > sa.bindparam(None, after[1]))
            wanted = sa.and_(wanted, sa.or_(watermark > sa.bindparam(None, after[0]), same))
        query = self._select(wanted).order_by(watermark, key).limit(_ROWS)
        with self._reading() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _select(self, wanted: Any) -> sa.Select[Any]:
        text = _COLON.sub(r"\\:", self._query.select.strip().rstrip(";"))  # it has no parameters
        inner = sa.text(text).columns().subquery("watched")
        return sa.select(sa.text("*")).select_from(inner).where(wanted)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except exc.DBAPIError as error:
            told = " ".join(str(error.orig).split())[:300]
            raise SourceError(f"{self.name}: {hidden(told)}") from None
        except exc.SQLAlchemyError as error:
            raise SourceError(f"{self.name}: {hidden(' '.join(str(error).split())[:300])}") from None


def _engine(url: sa.URL, backend: str) -> sa.Engine:
    """Return an engine that only reads, as far as the kind of database lets us say so."""
    try:
        if backend == "sqlite":
            place = f"{Path(url.database or '').absolute().as_uri()}?mode=rw"  # rw, and not rwc: none is made
            engine = sa.create_engine(
                "sqlite+pysqlite://",
                creator=lambda: sqlite3.connect(place, uri=True, check_same_thread=False),
                poolclass=sa.NullPool,
                hide_parameters=True,
            )
            sa.event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA query_only=ON").close())
            return engine
        if backend == "postgresql":
            options = {"postgresql_readonly": True}
            return sa.create_engine(url, execution_options=options, hide_parameters=True, pool_pre_ping=True)
        return sa.create_engine(url, hide_parameters=True, pool_pre_ping=True)
    except ImportError as error:
        if backend == "postgresql":
            raise MissingExtraError("Watching a PostgreSQL database", "postgres") from None
        raise ConfigError(f"the driver for {backend} is not installed: {error}") from None
    except exc.ArgumentError as error:
        raise ConfigError(f"the URL of the database: {error}") from None


def _earlier(reached: Any, lateness: timedelta) -> Any:
    """Return where to read again from, for rows that came late; numbers are given out in order."""
    if isinstance(reached, datetime):
        return reached - lateness
    if isinstance(reached, date):
        return reached - max(lateness, timedelta(days=1))
    if isinstance(reached, str) and (when := _time_in(reached)) is not None:
        return _written_like(when - lateness, reached)
    return reached


def _now_like(value: Any) -> Any:
    """Return the present time in the form of a watermark, None for one that is no time."""
    if isinstance(value, datetime):
        now = datetime.now(UTC)
        return now.astimezone(value.tzinfo) if value.tzinfo else now.replace(tzinfo=None)
    if isinstance(value, str) and (when := _time_in(value)) is not None:
        now = datetime.now(UTC)
        return _written_like(now.astimezone(when.tzinfo) if when.tzinfo else now.replace(tzinfo=None), value)
    return None


def _time_in(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if len(text) > len("2026-01-01") else None
    except ValueError:
        return None


def _written_like(when: datetime, example: str) -> str:
    """Write a time as another one is written, so that they compare as texts."""
    text = when.isoformat(sep=example[10] if not example[10].isalnum() or example[10] == "T" else " ")
    return text.replace("+00:00", "Z") if example.endswith("Z") else text


def _kept(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"time": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return {"number": str(value)}


def _restored(kept: Any) -> Any:
    if isinstance(kept, dict) and "time" in kept:
        return datetime.fromisoformat(kept["time"])
    if isinstance(kept, dict) and "date" in kept:
        return date.fromisoformat(kept["date"])
    if isinstance(kept, dict):
        number = kept["number"]
        return int(number) if number.lstrip("-").isdigit() else float(number)
    return kept
