"""Runs and human labels."""

from dataclasses import replace

import pytest

from everyclaim.core.errors import InputError, StoreError
from everyclaim.core.types import Label
from everyclaim.store.records import config_fingerprint
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, keep, say


def test_a_run_remembers_how_it_was_made(store: Store) -> None:
    """Components, parameters, configuration and data set come back as given."""
    run = store.create_run(
        PROVENANCE, name="v1", dataset="answers.jsonl", dataset_fingerprint="d", config={"b": [1, {"a": None}]}, total=9
    )
    assert store.run(run.id) == run
    assert run.provenance == PROVENANCE
    assert run.config == {"b": [1, {"a": None}]}
    assert (run.name, run.dataset, run.dataset_fingerprint, run.total) == ("v1", "answers.jsonl", "d", 9)
    assert (run.status, run.finished, run.kept) == ("running", None, 0)


def test_of_two_that_begin_the_same_at_once_one_is_refused(store: Store) -> None:
    """Both looked and found nothing to go on with; the second is told of the first, other data is another run."""
    same = {"dataset": "a.jsonl", "dataset_fingerprint": "1", "is_sole": True}
    first = store.create_run(PROVENANCE, **same)
    with pytest.raises(StoreError, match=f"run {first.id} with the same input is in progress"):
        store.create_run(PROVENANCE, **same)
    store.create_run(PROVENANCE, **same | {"dataset_fingerprint": "2"})
    store.finish_run(first.id, "finished")
    store.create_run(PROVENANCE, **same)
    assert len(store.runs()) == 3


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


def test_only_the_same_data_and_configuration_is_resumed(store: Store) -> None:
    """Another data set, another threshold, or a newer finished run: nothing to resume."""
    mark = config_fingerprint(PROVENANCE, {"threshold": 0.5})
    assert store.find_unfinished("a.jsonl", mark) is None
    run = store.create_run(PROVENANCE, dataset="a.jsonl", config={"threshold": 0.5})
    assert run.config_fingerprint == mark
    found = store.find_unfinished("a.jsonl", mark)
    assert found is not None
    assert found.id == run.id
    assert store.find_unfinished("b.jsonl", mark) is None
    assert store.find_unfinished("a.jsonl", config_fingerprint(PROVENANCE, {"threshold": 0.6})) is None
    assert store.find_unfinished("a.jsonl", config_fingerprint(replace(PROVENANCE, version="9"), {})) is None
    store.finish_run(run.id, "stopped")
    assert store.find_unfinished("a.jsonl", mark) is not None
    assert store.resume_run(run.id).status == "running"
    store.finish_run(run.id, "finished")
    assert store.find_unfinished("a.jsonl", mark) is None


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


def test_labels_are_kept_per_person_and_replaced_by_the_same_person(store: Store) -> None:
    """Two people may differ; one person who labels a claim again has changed their mind."""
    run = store.create_run(PROVENANCE).id
    keep(store, run, 0)
    keep(store, run, 1)
    say(store, run, "s1", "c1", Label.SUPPORTED)
    say(store, run, "s0", "c2", Label.SUPPORTED)
    say(store, run, "s0", "c2", Label.UNSUPPORTED, "Björn", "says\x00 nothing")
    say(store, run, "s0", "c2", Label.CONTRADICTED)
    labels = store.labels(run)
    assert [(x.position, x.sample_id, x.claim_id, x.annotator, x.value) for x in labels] == [
        (0, "s0", "c2", "Björn", Label.UNSUPPORTED),
        (0, "s0", "c2", "Ada", Label.CONTRADICTED),
        (1, "s1", "c1", "Ada", Label.SUPPORTED),
    ]
    assert labels[0].note == "says\x00 nothing"
