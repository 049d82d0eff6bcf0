"""What goes wrong around a store: one clear line, and nothing lost."""

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from everyclaim.core.errors import StoreError
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, keep


def message(action: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_server_that_is_down_is_said_without_the_password() -> None:
    """The line names the place and the reason, never the password."""
    text = message(lambda: Store.open("postgresql://ada:secret@127.0.0.1:1/claims"))
    assert "ada:***@127.0.0.1:1/claims" in text
    assert "refused" in text.lower()
    assert "secret" not in text


def test_what_is_something_else_is_said_and_left_alone(tmp_path: Path) -> None:
    """A folder, a place below a file, a text file, another program's database: opening one by mistake changes nothing."""
    assert "it is a folder" in message(lambda: Store.open(tmp_path))
    rows = tmp_path / "answers.jsonl"
    rows.write_text('{"id": 1}\n' * 100)
    assert "answers.jsonl" in message(lambda: Store.open(rows / "runs.db"))
    assert "not a SQLite database" in message(lambda: Store.open(rows))
    assert rows.read_text() == '{"id": 1}\n' * 100
    place = tmp_path / "other.db"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    for open_it in (Store.open, Store.open_to_read):
        assert "tables of another application (bookmarks" in message(lambda open_it=open_it: open_it(place))


def test_a_shared_postgres_database_keeps_its_own_tables(postgres: str) -> None:
    """Another program's `runs` in the same database stays as it is."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE runs (mine TEXT)")
        with Store.open(postgres) as store:
            store.create_run(PROVENANCE, name="v1")
            assert store.run("v1").name == "v1"
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_a_damaged_file_is_said_and_not_repaired_silently(tmp_path: Path) -> None:
    """Overwritten pages are found while reading, and are an error, not an empty result."""
    place = tmp_path / "runs.db"
    with Store.open(place) as store:
        run = store.create_run(PROVENANCE).id
        keep(store, run, *range(60))
    size = place.stat().st_size
    with place.open("r+b") as file:
        file.seek(size // 4)
        file.write(os.urandom(size // 2))

    def read() -> None:
        with Store.open(place) as damaged:
            list(damaged.results(run))

    assert "runs.db" in message(read)


def test_a_locked_store_is_waited_for_and_then_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's long transaction makes one line, and what was kept stays."""
    place = tmp_path / "runs.db"
    monkeypatch.setattr("everyclaim.store.connect.LOCK_SECONDS", 0.2)
    with Store.open(place) as store:
        run = store.create_run(PROVENANCE).id
        keep(store, run, 0)
        blocker = sqlite3.connect(place, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        assert "has locked it" in message(lambda: keep(store, run, 1))
        assert len(list(store.results(run))) == 1  # reading goes on
        blocker.execute("ROLLBACK")
        blocker.close()
        keep(store, run, 1)
        assert len(list(store.results(run))) == 2


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """The sample that does not fit is not there, all before it are; a limit on the number of pages is the disk."""
    place, kept = tmp_path / "runs.db", 0
    with Store.open(place) as store:

        @sa.event.listens_for(store._engine, "checkout")
        def _limit(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute("PRAGMA max_page_count=200").close()

        run = store.create_run(PROVENANCE).id

        def fill() -> None:
            nonlocal kept
            while True:
                keep(store, run, kept, text="Tea is hot. " * 500)
                kept += 1

        assert "disk is full" in message(fill)
        assert kept > 5
        assert len(list(store.results(run))) == kept
    with Store.open(place) as store:
        assert len(list(store.results(run))) == kept


WRITER = """
    import sys
    sys.path.insert(0, sys.argv[2])
    from scored_runs import PROVENANCE, keep
    from everyclaim.store.store import Store
    with Store.open(sys.argv[1]) as store:
        run = store.create_run(PROVENANCE, name=sys.argv[3]).id
        for n in range(150):
            keep(store, run, n)
        store.finish_run(run, "finished")
"""


@pytest.mark.slow
def test_processes_write_the_same_store_at_once(place: str) -> None:
    """Three processes make the store and fill it together; each run is whole."""
    here = str(Path(__file__).parents[1])
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), place, here]
    running = [subprocess.Popen([*command, f"run{k}"], stderr=subprocess.PIPE, text=True) for k in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
    with Store.open(place) as store:
        for k in range(3):
            run = store.run(f"run{k}")
            assert (run.status, run.kept) == ("finished", 150)
            assert [r.id for r in store.results(run.id)] == [f"s{n}" for n in range(150)]


def test_a_connection_lost_in_the_middle_of_a_transaction_is_one_line(postgres: str) -> None:
    """A server that goes away is an operator's error, not a traceback, and the store works when it is back."""
    with Store.open(postgres) as store:
        run = store.create_run(PROVENANCE).id

        def lose() -> None:
            with store.writing() as mine, psycopg.connect(postgres, autocommit=True) as other:
                others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                other.execute(f"{others} AND pid <> pg_backend_pid()")
                mine.execute(sa.text("SELECT 1"))

        assert "terminating connection" in message(lose)
        keep(store, run, 0)
        assert len(list(store.results(run))) == 1


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("", "pass a file path or postgresql"),
        (":memory:", "pass a file path or postgresql"),
        ("sqlite://", "pass a file path or postgresql"),
        ("mysql://root@localhost/x", "only a file path, sqlite:/// and postgresql://"),
        ("postgresql://host:port/x", "invalid store URL"),
        ("://", "invalid store URL"),
    ],
)
def test_a_location_that_is_no_store_is_refused(location: str, expected: str) -> None:
    """A wrong URL is one line that says what to write."""
    assert expected in message(lambda: Store.open(location))
