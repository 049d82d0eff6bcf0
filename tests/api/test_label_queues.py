"""Queues of what people label, from Python: how they are shared out, worked through, and what calibrate makes of it."""

import pytest

import everyclaim as ec
from everyclaim.api.labeling import LabelingSession
from everyclaim.core.types import SplitMark
from everyclaim.store.records import Picked
from everyclaim.store.store import Store


def judge(claim: ec.Claim, passages: list[str]) -> bool:
    return "wrong" not in claim.text


def split(response: str) -> list[str]:
    return [piece.strip(". ") for piece in response.split(". ")]


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "runs.db")


@pytest.fixture
def run(place):
    """Give a run of 20 answers with two claims each, of which the judge calls ten wrong."""
    rows = [
        {
            "id": str(number),
            "response": f"Fact {number} holds. Fact {number} is {'wrong' if number % 2 else 'right'}.",
            "contexts": ["Facts hold.", f"Number {number}\r\nis known\x00."],
        }
        for number in range(20)
    ]
    return ec.score_file(rows, judge=judge, decomposer=split, store=place, name="facts")


def test_everybody_has_the_shared_part_and_a_part_and_an_order_of_their_own(run, place):
    """Twenty claims for two people with a quarter shared: five for both, the rest one each, in different orders."""
    queue = ec.label_queue(run, 20, annotators=["Ada", " Bo "], overlap=0.25, by="random", seed=1)
    with Store.open(place) as store:
        keys = {name: [one.key for one in store.labelling.items(queue.id, name)] for name in queue.annotators}
    assert queue.annotators == ("Ada", "Bo")
    assert len(set(keys["Ada"]) & set(keys["Bo"])) == 5
    assert len(set(keys["Ada"]) | set(keys["Bo"])) == 20
    shared = [key for key in keys["Ada"] if key in keys["Bo"]]
    assert shared != [key for key in keys["Bo"] if key in keys["Ada"]]
    assert shared != keys["Ada"][:5]  # nobody can tell what is shared by when it comes


def test_a_second_queue_holds_nothing_of_the_first(run, place):
    """What waits in a queue, is labelled or is called a bad claim is not chosen again; in the end nothing is left."""
    first = ec.label_queue(run, 25, by="random")
    second = ec.label_queue(run, 25, by="random")
    with Store.open(place) as store:
        keys = [{one.key for one in store.labelling.items(queue.id, "annotator")} for queue in (first, second)]
    assert [len(one) for one in keys] == [25, 15]
    assert not keys[0] & keys[1]
    with pytest.raises(ec.InputError, match="no unlabelled claim left"):
        ec.label_queue(run)
    assert ec.label_queue(run, 5, answers=True).answers


def test_what_is_said_at_a_desk_is_in_the_store_at_once_and_calibrate_sees_it(run, place):
    """A label with its evidence and comment, by the passage's own characters; whatever is skipped comes last."""
    queue = ec.label_queue(run, 10, by="random")
    with Store.open(place) as store:
        desk = LabelingSession.of_queue(store, queue.id, "annotator")
        first, second, *_ = desk.left()
        desk.skip("skip-0001", first)
        assert desk.left()[-1] == first
        task = desk.task(second)
        text = task.passages[1].text
        picked = Picked(1, text.index("is"), len(text))
        desk.say("label-0001", second, ec.Label.SUPPORTED, note=" seen ", evidence=(picked, picked))
        said = desk.task(second).said
        assert (said.label, said.note, said.evidence) == (ec.Label.SUPPORTED, "seen", (picked,))
        assert desk.task(second).quoted(said.evidence)[0].quote == "is known\x00."
        assert ec.calibrate(run).used == 1
        for number, key in enumerate(desk.left()):
            desk.say(f"more-{number:04}", key, ec.Label.SUPPORTED)
        assert desk.left() == []
        assert ec.calibrate(run).used == 10
        assert ec.calibrate(run).by_way == {"random": 10}


def test_where_people_differ_somebody_settles_and_that_is_what_calibrate_takes(run, place):
    """A claim labelled in two ways, and one that only one of them calls a bad claim, come up; the settled word counts."""
    queue = ec.label_queue(run, 6, annotators=["Ada", "Bo"], overlap=1, by="random")
    with Store.open(place) as store:
        ada, bo = (LabelingSession.of_queue(store, queue.id, name) for name in queue.annotators)
        keys = ada.left()
        for number, key in enumerate(keys):
            ada.say(f"ada-{number:05}", key, ec.Label.SUPPORTED)
            word = SplitMark.NOT_A_CLAIM if number == 1 else list(ec.Label)[number == 0]
            bo.say(f"bo-{number:06}", key, word)
        desk = LabelingSession.of_disputes(store, run.id)
        assert set(desk.left()) == set(keys[:2])
        assert ec.calibrate(run).disputed == 1
        assert [(one.annotator, one.value) for one in desk.task(keys[1]).others] == [
            ("Ada", ec.Label.SUPPORTED),
            ("Bo", SplitMark.NOT_A_CLAIM),
        ]
        desk.say("settle-01", keys[0], ec.Label.CONTRADICTED)
        desk.say("settle-02", keys[1], SplitMark.NOT_A_CLAIM)
        assert desk.left() == []
        found = ec.calibrate(run)
        assert (found.disputed, found.used, found.by_way) == (0, 5, {"random": 5})
        desk.undo("settle-03")
        assert desk.left() == [keys[1]]
        assert ec.calibrate(run).used == 6


@pytest.mark.parametrize("names", [[], [""], [str(n) for n in range(101)], ["Adjudicated"], ["x" * 100], ["a\x1b[2Jb"]])
def test_names_that_cannot_be_told_apart_or_shown_are_refused(run, names):
    """Who labels has a name that fits on a line, and is not the one who settles."""
    with pytest.raises(ec.ConfigError):
        ec.label_queue(run, annotators=names)
