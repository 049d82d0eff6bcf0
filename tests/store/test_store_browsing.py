"""Pages of answers, on SQLite and on PostgreSQL: filters, orders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everyclaim.analysis.gate import worst
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.core.wire import fingerprint
from everyclaim.store import browsing
from everyclaim.store.browsing import AnswerFilter
from scored_runs import PROVENANCE, a_failure, a_result, a_sample, say


@pytest.fixture
def run(store):
    """Ten answers, each with a supported and a contradicted claim; the third failed, the scores repeat."""
    made = store.create_run(PROVENANCE)
    batch = []
    for number in range(10):
        tags = {"source": "kitchen" if number % 2 else "cellar", "odd": "a%b_c"} if number else {}
        sample = replace(a_sample(number, text="Tea_is 100% hot." if number == 7 else "Tea is hot."), tags=tags)
        result = a_failure(sample) if number == 3 else a_result(sample, score=(number % 4) / 4)
        batch.append(Kept(number, fingerprint(sample), sample, result))
    store.save_all(made.id, batch)
    return made.id


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (AnswerFilter(), list(range(10))),
        (AnswerFilter(label=Label.CONTRADICTED), [0, 1, 2, 4, 5, 6, 7, 8, 9]),
        (AnswerFilter(label=Label.UNSUPPORTED), []),
        (AnswerFilter(label=Label.SUPPORTED, conflict=True), []),  # of one claim both
        (AnswerFilter(mode=FailureMode.ENTITY_SWAP, conflict=True), [0, 1, 2, 4, 5, 6, 7, 8, 9]),
        (AnswerFilter(outcome=Outcome.FAILED), [3]),
        (AnswerFilter(slice="source=kitchen"), [1, 3, 5, 7, 9]),
        (AnswerFilter(slice="source="), [0]),
        (AnswerFilter(slice="odd=a%25b_c", outcome=Outcome.FAILED), [3]),
        (AnswerFilter(slice="model=writer-1"), list(range(10))),
        (AnswerFilter(slice="model="), []),
        (AnswerFilter(q="WHAT ABOUT 4"), [4]),
        (AnswerFilter(q="100%"), [7]),
        (AnswerFilter(q="a_is"), [7]),
        (AnswerFilter(q="%"), [7]),
        (AnswerFilter(q="\x00"), []),
        (AnswerFilter(order="worst"), [0, 4, 8, 1, 5, 9, 2, 6, 7, 3]),
    ],
)
def test_the_answers_that_are_wanted(store, run, wanted, places):
    """Filters hold together, signs of a pattern are plain text, and the worst come first, those without a score last."""
    assert browsing.positions(store, run, wanted) == places
    assert browsing.positions(store, run, wanted, 4) == places[:4]
    assert [row.position for row in browsing.answers_at(store, run, places)] == places


def test_the_worst_go_by_score_and_then_by_probability(store):
    """As in the report; also answers without a finding."""
    made = store.create_run(PROVENANCE)
    for number, (score, probability) in enumerate([(0.25, 0.4), (0.8, 0.02), (0.25, None), (1.0, 0.01), (0.25, 0.1)]):
        sample = a_sample(number)
        result = replace(a_result(sample, score=score), probability=probability)
        if score == 1.0:
            result = replace(result, claims=result.claims[:1], reference_claims=())
        store.save_all(made.id, [Kept(number, fingerprint(sample), sample, result)])
    places = browsing.positions(store, made.id, AnswerFilter(order="worst"))
    shown = browsing.answers_at(store, made.id, places)
    assert [(row.position, row.probability) for row in shown] == [(4, 0.1), (0, 0.4), (2, None), (1, 0.02), (3, 0.01)]
    assert [one.position for one in worst(store.records(made.id), 9)] == [4, 0, 2, 1]


def test_what_a_list_shows_of_an_answer(store, run):
    """A row counts its claims by label and holds the beginnings of its texts alone."""
    sample = replace(a_sample(10), response="x" * 5_000_000)
    store.save_all(run, [Kept(10, fingerprint(sample), sample, a_failure(sample))])
    first, *_, last = browsing.answers_at(store, run, range(11))
    assert first.labels == {Label.SUPPORTED: 1, Label.UNSUPPORTED: 0, Label.CONTRADICTED: 1}
    assert first.claims == 2
    assert (last.outcome, last.score, len(last.response)) == (Outcome.FAILED, None, browsing.SHOWN + 1)


def test_the_stamp_of_labels_changes_with_them(store, run):
    """A label anew and a label changed make another stamp."""
    stamps = [browsing.labels_stamp(store)]
    for label in (Label.SUPPORTED, Label.CONTRADICTED):
        say(store, run, "s0", "c1", label)
        stamps.append(browsing.labels_stamp(store))
    assert len(set(stamps)) == 3
