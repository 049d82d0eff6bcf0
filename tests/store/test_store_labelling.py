"""Queues of what people label, their marks, and what they did, on every kind of database."""

import threading
from typing import Any

import pytest
import sqlalchemy as sa

from everyclaim.core.errors import InputError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, SplitMark
from everyclaim.store.labels import About, Act
from everyclaim.store.records import Annotation, Picked, QueueItem, answer_key_of, claim_key
from everyclaim.store.store import Store
from everyclaim.store.tables import LABEL_HISTORY
from scored_runs import PROVENANCE, a_result, a_sample, keep

MILK = "Milk is white."


@pytest.fixture
def run(store: Store) -> str:
    """Give a run of three samples with two claims each."""
    made = store.create_run(PROVENANCE, name="three").id
    keep(store, made, 0, 1, 2)
    return made


def about(place: int, who: str = "Ada") -> About:
    answer = answer_key_of(a_sample(place))
    return About(claim_key(answer, MILK), who, answer)


def said(place: int, value: Label | SplitMark, who: str = "Ada", **more: object) -> Annotation[Any]:
    answer = answer_key_of(a_sample(place))
    return Annotation(value, who, answer, claim_key(answer, MILK), **more)  # type: ignore[arg-type, misc]


def queue_of(store: Store, run: str, who: tuple[str, ...] = ("Ada", "Björn")) -> str:
    own = [QueueItem(place, 1, about(place).key) for place in range(3)]
    orders = {name: own[number:] + own[:number] for number, name in enumerate(who)}
    made = store.labelling.make_queue(run, orders, name="milk", chosen=f"random:{run}", answers=False, overlap=1.0)
    return made.id


def history(store: Store, *wanted: sa.ColumnElement[bool]) -> list[Any]:
    with store.reading() as connection:
        return list(connection.execute(sa.select(LABEL_HISTORY).where(*wanted).order_by(LABEL_HISTORY.c.number)))


def test_everyone_goes_through_a_queue_in_an_order_of_their_own(store: Store, run: str) -> None:
    """What one person labels, marks or skips is theirs, is seen at once, and changes nothing for another."""
    queue, labelling = queue_of(store, run), store.labelling
    labelling.annotate(Act("a1", run, queue), said(0, Label.SUPPORTED))
    mark = said(1, SplitMark.UNDER_SPLIT, note="two things")
    labelling.annotate(Act("a2", run, queue), mark)
    labelling.skip(Act("a3", run, queue), about(2))
    assert [(one.position, one.label, one.mark, one.skipped) for one in labelling.items(queue, "Ada")] == [
        (0, Label.SUPPORTED, None, None),
        (1, None, SplitMark.UNDER_SPLIT, None),
        (2, None, None, 3),
    ]
    assert [one.position for one in labelling.items(queue, "Björn") if not one.is_done] == [1, 2, 0]
    [found] = labelling.queues(run)
    assert (found.name, found.answers, found.overlap, found.annotators) == ("milk", False, 1.0, ("Ada", "Björn"))
    ada = found.progress["Ada"]
    assert (ada.total, ada.labelled, ada.marked, ada.skipped, ada.done, ada.left) == (3, 1, 1, 1, 2, 1)
    assert found.progress["Björn"].done == 0
    assert [(one.claim_id, one.value, one.note) for one in labelling.marks(run)] == [
        ("c2", SplitMark.UNDER_SPLIT, "two things")
    ]
    assert [(one.claim_id, one.value) for one in store.labels(run)] == [("c2", Label.SUPPORTED)]


def test_undo_goes_back_step_by_step_and_the_history_keeps_every_step(store: Store, run: str) -> None:
    """A label comes back with its note and evidence, a skip is lifted, and nothing is left to undo in the end."""
    queue, labelling = queue_of(store, run), store.labelling
    picked = (Picked(1, 0, 4), Picked(1, 8, 13))
    labelling.annotate(Act("a1", run, queue), said(0, Label.UNSUPPORTED, note="n\x00", evidence=picked))
    labelling.annotate(Act("a2", run, queue), said(0, Label.SUPPORTED))
    labelling.skip(Act("a3", run, queue), about(1))
    labelling.withdraw(Act("a4", run, queue), about(0))
    assert store.labels(run) == []
    undone = [labelling.undo(Act(f"u{step}", run, queue), "Ada") for step in range(3)]
    assert [one and one.about.key for one in undone] == [about(0).key, about(1).key, about(0).key]
    [label] = store.labels(run)
    assert (label.value, label.note, label.evidence) == (Label.UNSUPPORTED, "n\x00", picked)
    assert not any(one.skipped for one in labelling.items(queue, "Ada"))
    labelling.undo(Act("u3", run, queue), "Ada")
    assert store.labels(run) == []
    assert labelling.undo(Act("u4", run, queue), "Ada") is None
    done = history(store, LABEL_HISTORY.c.claim_key == about(0).key)
    assert [(one.action, one.undone) for one in done][:3] == [("label", "u3"), ("label", "u2"), ("withdraw", "u0")]


def test_a_queue_goes_with_its_run_and_labels_and_marks_stay(store: Store, run: str) -> None:
    """Nobody is led to a run that is gone; another run over the same texts has what was said."""
    queue, labelling = queue_of(store, run), store.labelling
    labelling.annotate(Act("a1", run, queue), said(0, Label.SUPPORTED))
    store.add_labels(run, [said(1, SplitMark.GOOD)])
    store.finish_run(run, "finished")
    store.delete_run(run)
    with pytest.raises(InputError, match="no queue"):
        labelling.queue(queue)
    again = store.create_run(PROVENANCE).id
    store.save_all(again, [Kept(0, "f", a_sample(1), a_result(a_sample(1)))])
    assert [one.value for one in labelling.marks(again)] == [SplitMark.GOOD]
    with pytest.raises(InputError, match="no run"):
        labelling.annotate(Act("a2", run), said(0, Label.SUPPORTED))


def test_two_people_at_once_lose_nothing(store: Store, run: str) -> None:
    """Both write through connections of their own; every action is kept, numbered per person."""
    queue, errors = queue_of(store, run), []

    def work(who: str) -> None:
        try:
            for step in range(10):
                act = Act(f"{who}{step}", run, queue)
                store.labelling.annotate(act, said(step % 3, list(Label)[step % 3], who))
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    people = [threading.Thread(target=work, args=(who,)) for who in ("Ada", "Björn")]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert errors == []
    for who in ("Ada", "Björn"):
        numbers = [one.number for one in history(store, LABEL_HISTORY.c.annotator == who)]
        assert numbers == list(range(1, 11))
    assert len(store.labels(run)) == 6
