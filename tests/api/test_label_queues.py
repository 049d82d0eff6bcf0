"""Queues of what people label, from Python: how they are shared out, worked through, and what calibrate makes of it."""

import pytest

import everyclaim as ec
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
