"""Rows of a SQL query, read in the order of a column that grows: a time, or a number. Nothing is ever written."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from everyclaim.core.errors import ConfigError, MissingExtraError, OptionError, SourceError
from everyclaim.core.plaintext import did_you_mean, digest, hidden
from everyclaim.monitor.watch.source import AnswerSource, Batch, Found, Rows

_ROWS = 200  # in one batch
_COLON = re.compile(r"(?<![:\\]):(?=\w)")
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


class SqlQuery(AnswerSource):
    """A SELECT that is asked again and again for what is new.

    `watermark` is the column that grows, `key` the one that tells rows apart, `lateness` the seconds that a row may
    come late by where the watermark is a time.
    """

    title = "sql"

    def __init__(
        self, url: str, rows: Rows, *, query: str = "", watermark: str = "", key: str = "id", lateness: float = 3600.0
    ) -> None:
        if not query or not watermark:
            raise OptionError(
                "sql needs `query`, such as 'SELECT id, at, question, answer, contexts FROM answers', "
                "and `watermark`, its growing column, such as 'at'"
            )
        try:
            parsed = sa.engine.make_url(url)
        except (exc.ArgumentError, ValueError):
            # It may hold a password, so it is not repeated.
            raise ConfigError("invalid database URL: write sql:postgresql://user@host/name") from None
        self._rows, self._select, self._watermark, self._key = rows, query, watermark, key
        self._lateness = timedelta(seconds=lateness)
        asked = digest(f"{query}\0{watermark}\0{key}", 12)
        shown = parsed.set(username=None, password=None, query={}).render_as_string()
        self.name = f"sql:{shown}#{asked}"
        self._engine = _engine(parsed.set(drivername=_DRIVERS.get(parsed.drivername, parsed.drivername)))

    async def open(self) -> None:
        """Ask for the columns, so that a wrong name is told at once."""
        await asyncio.to_thread(self._check)

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self._engine.dispose)

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the rows behind the watermark, and for a time also those that came late."""
        reached = _from_json(checkpoint["watermark"]) if checkpoint else None
        after = None if reached is None else (_earlier(reached, self._lateness), None)
        while rows := await asyncio.to_thread(self._fetch, after):
            after = (rows[-1][self._watermark], rows[-1][self._key])
            reached = after[0] if reached is None else max(reached, after[0])
            if (now := _now_like(after[0])) is not None:  # a clock that is ahead must not hide what follows
                reached = min(reached, now)
            keys = [str(row[self._key]) for row in rows]
            made = [self._rows.sample(row, key, f"row {key[:60]!r}") for row, key in zip(rows, keys, strict=True)]
            yield Batch(list(map(Found, keys, made)), {"watermark": _to_json(reached)})
            if len(rows) < _ROWS:
                return

    def _check(self) -> None:
        with self._reading() as connection:
            columns = list(connection.execute(self._rows_where(sa.text("1 = 0"))).keys())
        for name in (self._watermark, self._key):
            if name not in columns:
                known = f"its columns are: {', '.join(columns)}{did_you_mean(name, columns)}"
                raise ConfigError(f"the query has no column {name!r}; {known}")

    def _fetch(self, after: tuple[Any, Any] | None) -> list[Mapping[str, Any]]:
        """Return the next rows: those behind the last one, or from a watermark on where there is no last one."""
        watermark: sa.ColumnClause[Any] = sa.column(self._watermark)
        key: sa.ColumnClause[Any] = sa.column(self._key)
        wanted: sa.ColumnElement[bool] = sa.and_(watermark.is_not(None), key.is_not(None))
        if after is not None:
            reached, last = after
            at: sa.BindParameter[Any] = sa.bindparam(None, reached)
            behind: sa.ColumnElement[bool] = watermark >= at
            if last is not None:
                behind = sa.or_(watermark > at, sa.and_(watermark == at, key > sa.bindparam(None, last)))
            wanted = sa.and_(wanted, behind)
        with self._reading() as connection:
            query = self._rows_where(wanted).order_by(watermark, key).limit(_ROWS)
            return [dict(row) for row in connection.execute(query).mappings()]

    def _rows_where(self, wanted: Any) -> sa.Select[Any]:
        text = _COLON.sub(r"\\:", self._select.strip().rstrip(";"))  # it has no parameters
        inner = sa.text(text).columns().subquery("watched")
        return sa.select(sa.text("*")).select_from(inner).where(wanted)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except exc.SQLAlchemyError as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
            raise SourceError(f"{self.name}: {hidden(reason)}") from None


def _engine(url: sa.URL) -> sa.Engine:
    """Return an engine that only reads, as far as the kind of database lets us say so."""
    backend = url.get_backend_name()
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
        options = {"postgresql_readonly": True} if backend == "postgresql" else {}
        return sa.create_engine(url, execution_options=options, hide_parameters=True, pool_pre_ping=True)
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
    when = _time_in(reached)
    return reached if when is None else _written_like(when - lateness, reached)


def _now_like(value: Any) -> Any:
    """Return the present time in the form of a watermark, None for one that is no time."""
    when = value if isinstance(value, datetime) else _time_in(value)
    if when is None:
        return None
    now = datetime.now(UTC)
    now = now.astimezone(when.tzinfo) if when.tzinfo else now.replace(tzinfo=None)
    return now if isinstance(value, datetime) else _written_like(now, value)


def _time_in(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and len(value) > len("2026-01-01") else None
    except ValueError:
        return None


def _written_like(when: datetime, example: str) -> str:
    """Write a time as another one is written, so that they compare as texts."""
    text = when.isoformat(sep=example[10] if not example[10].isalnum() or example[10] == "T" else " ")
    return text.replace("+00:00", "Z") if example.endswith("Z") else text


def _to_json(value: Any) -> Any:
    if isinstance(value, date):
        return {"time" if isinstance(value, datetime) else "date": value.isoformat()}
    return value if isinstance(value, str | int | float) else {"number": str(value)}


def _from_json(kept: Any) -> Any:
    match kept:
        case {"time": text}:
            return datetime.fromisoformat(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case {"number": text}:
            return int(text) if text.lstrip("-").isdigit() else float(text)
    return kept
