"""Keeping samples and results, and reading them back."""

import json
from dataclasses import replace

import pytest
import sqlalchemy as sa

from everyclaim.core.errors import StoreError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Outcome
from everyclaim.core.wire import fingerprint, result_to_json
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, a_failure, a_result, a_sample, keep


def rows(store: Store, table: str) -> int:
    prefix = "everyclaim." if store.location.startswith("postgresql") else ""
    with store._engine.connect() as connection:
        return connection.execute(sa.text(f"SELECT count(*) FROM {prefix}{table}")).scalar_one()


def test_a_result_comes_back_byte_for_byte(store: Store) -> None:
    """Whatever a result holds is read back equal, and its JSON is the same text."""
    run = store.create_run(PROVENANCE).id
    sample = a_sample(tags={"z": "1", "a": "ü"})
    result = a_result(sample, score=1 / 3)
    store.save_all(run, [Kept(0, fingerprint(sample), sample, result)])
    (back,) = store.results(run)
    assert back == result
    assert json.dumps(result_to_json(back)) == json.dumps(result_to_json(result))
    assert [kept.sample for kept in store.records(run)] == [sample]
    assert list(store.records(run)) == [Kept(0, fingerprint(sample), sample, result)]


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "a\ud800b",
        "\ud83d\ude00",
        "\x1a0000",
        "\x1a",
        "שלום 👩‍👩‍👧",
        "{} %s %(a)s :b '\" \\ \\u0000",
        "\r\n\x85\u2028",
    ],
)
def test_any_text_survives(store: Store, text: str) -> None:
    """NUL, lone surrogates, the escape character itself: nothing is lost in any field."""
    run = store.create_run(replace(PROVENANCE, parameters={text: text}), name=text, dataset=text, config={"k": text})
    sample = replace(a_sample(tags={text: text}, text=f"Tea {text}"), id=f"id{text}", question=text, model=text)
    result = replace(a_result(sample), reason=text, warnings=(text,))
    store.save_all(run.id, [Kept(0, fingerprint(sample), sample, result)])
    assert list(store.records(run.id)) == [Kept(0, fingerprint(sample), sample, result)]
    assert [kept.sample for kept in store.find(run.id, sample.id)] == [sample]
    assert store.run(text) == store.run(run.id)
    assert store.run(run.id).config == {"k": text}


def test_results_come_in_input_order_whatever_the_order_of_saving(store: Store) -> None:
    """Samples complete in any order; reading follows the input, across chunks."""
    run = store.create_run(PROVENANCE).id
    numbers = [(n * 71) % 199 for n in range(199)]
    for first in range(0, 199, 17):
        keep(store, run, *numbers[first : first + 17])
    assert [result.id for result in store.results(run)] == [f"s{n}" for n in range(199)]


def test_saving_again_changes_nothing(store: Store) -> None:
    """The same sample at the same place is kept once, also within one batch, with its claims and tags."""
    run = store.create_run(PROVENANCE).id
    keep(store, run, 0, 1)
    same = [Kept(2, fingerprint(a_sample(2)), a_sample(2), a_result(a_sample(2)))] * 2
    store.save_all(run, same)
    keep(store, run, 1, 2)
    store.save_all(run, [Kept(0, fingerprint(a_sample(0)), a_sample(0), a_failure(a_sample(0)))])
    assert [result.outcome for result in store.results(run)] == [Outcome.SCORED] * 3
    assert (rows(store, "samples"), rows(store, "claims"), rows(store, "tags")) == (3, 6, 3)


def test_another_sample_at_a_kept_place_is_refused(store: Store) -> None:
    """A run whose data changed is not mixed: the batch is refused whole, with the reason."""
    run = store.create_run(PROVENANCE).id
    keep(store, run, 0)
    batch = [Kept(n, fingerprint(a_sample(n + 8)), a_sample(n + 8), a_result(a_sample(n + 8))) for n in (1, 0)]
    with pytest.raises(StoreError, match="another sample at row 0: the data changed"):
        store.save_all(run, batch)
    assert len(list(store.results(run))) == 1


def test_claims_and_slices_are_plain_sql(store: Store) -> None:
    """Rates per label and per slice need no JSON."""
    run = store.create_run(PROVENANCE).id
    keep(store, run, 0, 1)
    prefix = "everyclaim." if store.location.startswith("postgresql") else ""
    query = (
        f"SELECT t.value, c.label, count(*), min(c.contradicted) FROM {prefix}claims c JOIN {prefix}tags t"
        " ON t.run_id = c.run_id AND t.position = c.position WHERE t.name = 'source' AND c.conflict GROUP BY 1, 2"
    )
    with store._engine.connect() as connection:
        assert connection.execute(sa.text(query)).all() == [("kitchen", "CONTRADICTED", 2, 0.7)]


def test_failed_samples_can_be_forgotten(store: Store) -> None:
    """After an outage only the failed samples are scored again."""
    run = store.create_run(PROVENANCE).id
    keep(store, run, 0, 2)
    store.save_all(run, [Kept(1, fingerprint(a_sample(1)), a_sample(1), a_failure(a_sample(1)))])
    assert store.forget_failed(run) == 1
    assert sorted(store.kept(run, 0, 10)) == [0, 2]
    assert (rows(store, "claims"), rows(store, "tags")) == (4, 2)
