"""Stores made by other versions."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from everyclaim.core.errors import StoreError
from everyclaim.core.types import Label
from everyclaim.store.store import Store
from everyclaim.store.tables import METADATA
from scored_runs import PROVENANCE, a_result, a_sample, say


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Give a store as the first schema made it."""
    place = tmp_path / "old.db"
    connection = sqlite3.connect(place)
    connection.executescript((Path(__file__).parent / "schema1.sql").read_text())
    connection.close()
    return place


def test_a_store_of_the_first_schema_is_upgraded_in_place(old: Path) -> None:
    """Everything in it is still there, and what came later works on it."""
    with Store.open(old) as store:
        run = store.run("old")
        assert (run.status, run.provenance, run.kept) == ("finished", PROVENANCE, 1)
        then = replace(a_result(a_sample()), components={}, reference_claims=(), details={})  # as results were
        first, second = then.claims
        flagged = replace(second, verdict=replace(second.verdict, flags=("hedge_mismatch",)))  # as the flag was called
        then = replace(then, claims=(first, flagged))
        assert [(k.sample, k.result) for k in store.records(run.id)] == [(a_sample(), then)]
        say(store, run.id, "s0", "c1", Label.SUPPORTED)
    with Store.open(old) as store:
        assert len(store.labels(run.id)) == 1


def test_labels_of_an_older_store_are_kept_and_belong_to_the_text(old: Path) -> None:
    """An earlier schema kept a label by its place in a run; the upgrade keys it by what the claim says."""
    connection = sqlite3.connect(old)
    connection.executescript(
        """
        CREATE TABLE labels ("id" TEXT PRIMARY KEY, "run_id" TEXT NOT NULL, "position" BIGINT NOT NULL,
            "sample_id" TEXT NOT NULL, "claim_id" TEXT NOT NULL, "label" TEXT NOT NULL, "annotator" TEXT NOT NULL,
            "note" TEXT NOT NULL, "created" TEXT NOT NULL);
        CREATE INDEX labels_place ON labels ("run_id", "position");
        INSERT INTO schema_migrations VALUES (2, '2026-01-01', '0.1.0');
        INSERT INTO labels SELECT 'a', id, 0, 's0', 'c2', 'CONTRADICTED', 'Ada', 'no', '2026-01-01' FROM runs;
        INSERT INTO labels SELECT 'b', id, 7, 's7', 'c2', 'SUPPORTED', 'Ada', 'gone', '2026-01-01' FROM runs;
        """
    )
    connection.commit()
    connection.close()
    with Store.open(old) as store:
        found = store.labels(store.run("old").id)
        assert [(x.sample_id, x.claim_id, x.value, x.note) for x in found] == [("s0", "c2", Label.CONTRADICTED, "no")]
        again = store.create_run(PROVENANCE).id
        store.save(again, 0, "f", a_sample(), a_result(a_sample()))
        assert [x.key for x in store.labels(again)] == [found[0].key]
    left = sqlite3.connect(old)
    assert left.execute("SELECT note FROM labels").fetchall() == [("gone",)]
    left.close()


def test_the_tables_are_as_the_code_describes_them(store: Store) -> None:
    """The steps and the table descriptions agree on every column, its order, and whether it may be missing."""
    schema = "everyclaim" if store.location.startswith("postgresql") else None
    inspector = sa.inspect(store._engine)
    for table in METADATA.tables.values():
        found = {column["name"]: column["nullable"] for column in inspector.get_columns(table.name, schema=schema)}
        described = {column.name: column.nullable for column in table.c}
        keys = {column.name for column in table.primary_key}
        assert list(found) == list(described)
        assert {k: v for k, v in found.items() if k not in keys} == {
            k: v for k, v in described.items() if k not in keys
        }


def test_a_store_of_a_newer_version_is_not_touched(place: str) -> None:
    """One line says to upgrade."""
    with Store.open(place) as store:
        prefix = "everyclaim." if place.startswith("postgresql") else ""
        with store._engine.begin() as connection:
            connection.execute(sa.text(f"INSERT INTO {prefix}schema_migrations VALUES (99, 'later', '9.0')"))
    with pytest.raises(StoreError, match=r"made by a newer everyclaim \(schema 99, .*upgrade"):
        Store.open(place)
