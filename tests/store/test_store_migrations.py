"""Stores made by other versions."""

import pytest
import sqlalchemy as sa

from everyclaim.core.errors import StoreError
from everyclaim.store.store import Store


def test_a_store_of_a_newer_version_is_not_touched(place: str) -> None:
    """One line says to upgrade."""
    with Store.open(place) as store:
        prefix = "everyclaim." if place.startswith("postgresql") else ""
        with store._engine.begin() as connection:
            connection.execute(sa.text(f"INSERT INTO {prefix}schema_migrations VALUES (99, 'later', '9.0')"))
    with pytest.raises(StoreError, match=r"made by a newer everyclaim \(schema 99, .*upgrade"):
        Store.open(place)
