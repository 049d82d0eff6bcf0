"""A watch over a SQL query, in a SQLite file and on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from real_stores import place, postgres, postgres_server  # noqa: F401 - fixtures
from watching import watched

from everyclaim.core.errors import ConfigError, SourceError

QUERY = "SELECT * FROM answers"
Write = Callable[..., None]


@pytest.fixture
def url(place: str) -> str:  # noqa: F811
    """Give the URL of a database with a table of answers."""
    url = place if "://" in place else f"sqlite:///{place}"
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    kind = "TIMESTAMPTZ" if engine.dialect.name == "postgresql" else "TEXT"
    with engine.begin() as connection:
        connection.execute(
            sa.text(f"CREATE TABLE answers (id INTEGER, at {kind}, question TEXT, answer TEXT, contexts TEXT)")
        )
    engine.dispose()
    return url


@pytest.fixture
def write(url: str) -> Write:
    """Return what adds an answer at a time."""

    def add(number: int, at: datetime | None, answer: str | None = "It is red.") -> None:
        engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        when: Any = at
        if engine.dialect.name == "sqlite":
            when = at and at.isoformat(sep=" ", timespec="seconds")
        with engine.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO answers VALUES (:id, :at, 'Which?', :answer, '[\"It is red.\"]')"),
                {"id": number, "at": when, "answer": answer},
            )
        engine.dispose()

    return add


NOW = datetime.now(UTC).replace(microsecond=0)


def look(url: str, store: Path, **options: Any) -> Any:
    return watched(f"sql:{url}", store, **{"query": QUERY, "watermark": "at"} | options)


def test_a_row_that_comes_late_is_read_and_one_from_the_future_hides_none(url: str, store: Path, write: Write) -> None:
    """Committed after a later one was read; and a clock that is ahead."""
    write(1, NOW - timedelta(minutes=1))
    write(2, NOW + timedelta(days=400))
    assert look(url, store).judged == 2
    write(3, NOW - timedelta(minutes=30))
    write(4, NOW + timedelta(seconds=1))
    assert look(url, store).judged == 2
    write(5, NOW - timedelta(hours=5))
    assert look(url, store).found == 0, "later than lateness"
    assert look(url, store, lateness=6 * 3600).judged == 1


@pytest.mark.parametrize(
    "query", ["DELETE FROM answers", "SELECT * FROM answers; DELETE FROM answers", "DROP TABLE answers", "SELEKT 1"]
)
def test_nothing_is_written(url: str, store: Path, write: Write, query: str) -> None:
    """What is no SELECT is refused by the database, in one line."""
    write(1, NOW)
    with pytest.raises(SourceError):
        look(url, store, query=query)
    assert look(url, store).judged == 1


def test_wrong_names_are_told_with_the_nearest(url: str, store: Path) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigError, match=r"no column 'att'.*did you mean 'at'"):
        look(url, store, watermark="att")
    with pytest.raises(ConfigError, match=r"no column 'nr'"):
        look(url, store, key="nr")
    with pytest.raises(ConfigError, match="needs query, such as"):
        watched(f"sql:{url}", store, query=QUERY)


def test_a_password_is_never_told(store: Path) -> None:
    """Neither in the name of the watch nor in an error."""
    with pytest.raises(SourceError) as told:
        look("postgresql://ada:hunter2@127.0.0.1:1/db?connect_timeout=1", store)
    assert "hunter2" not in str(told.value)
    with pytest.raises(ConfigError) as wrong:
        look("nonsense hunter2", store)
    assert "hunter2" not in str(wrong.value)
