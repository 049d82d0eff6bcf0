"""Runs: begun once, found, deleted."""

import pytest

from everyclaim.core.errors import InputError
from everyclaim.core.types import Label
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, keep, say


def test_a_run_is_found_by_id_name_and_beginning_of_its_id(store: Store) -> None:
    """The newest run of a name is meant; a beginning needs four characters and must be the only one."""
    old, new = store.create_run(PROVENANCE, name="v1"), store.create_run(PROVENANCE, name="v1")
    assert store.run(old.id).id == old.id
    assert store.run("v1").id == new.id
    assert store.run(new.id[:8]).id == new.id
    with pytest.raises(InputError, match="is empty"):
        store.run("")
    for wanted in ("v", new.id[:3], "v1 ", "%", "____"):
        with pytest.raises(InputError, match="no run"):
            store.run(wanted)


def test_deleting_a_run_leaves_the_others(store: Store) -> None:
    """Samples, claims and tags go with their run, and only with it; labels stay with the text."""
    one, two = store.create_run(PROVENANCE).id, store.create_run(PROVENANCE).id
    for run in (one, two):
        keep(store, run, 0)
        say(store, run, "s0", "c1", Label.SUPPORTED)
    store.delete_run(one)
    assert [run.id for run in store.runs()] == [two]
    assert list(store.results(one)) == store.labels(one) == []
    assert len(list(store.results(two))) == len(store.labels(two)) == 1
    with pytest.raises(InputError, match="no run"):
        store.delete_run(one)
