"""Cases in which other tools report a wrong number: never here. One test per case."""

from __future__ import annotations

import pytest

import everyclaim as ec

FACTS = "The pump runs at 9 bar. The tank holds 2 litres. The case is steel. The cord is 1 metre long."
SHEET = "Data sheet: pump pressure 9 bar, tank 2 litres, steel case, cord 1 metre."


def test_every_claim_merely_borderline_is_not_a_perfect_score() -> None:
    """Not backed by the context means UNSUPPORTED and counts against the score."""
    assert ec.score(response=FACTS, passages=[SHEET], judge=lambda claim, passages: "UNSUPPORTED").score == 0.0


def test_failed_rows_do_not_vanish_from_the_headline(tmp_path: object) -> None:
    """`n scored / n total` shows what the mean leaves out, and NaN is nowhere."""
    rows = [{"response": FACTS, "contexts": [SHEET]} for _ in range(2)]
    run = ec.score_file(rows, judge=lambda claim, passages: None, store=f"{tmp_path}/runs.db")
    group = run.summary.overall
    assert (group.total, group.outcomes["failed"], group.score.value) == (2, 2, None)


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize("strategy", ["joint", "each"])
@pytest.mark.parametrize(
    ("claim", "other", "conflict"),
    [
        ("The tank of the machine holds 2 litres.", "The tank of the machine holds 3 litres.", True),
        ("The warranty lasts 24 months.", "The warranty lasts 12 months.", True),
        ("The library opens at 9 am.", "The library opens at 10 am.", True),
        ("The library opens at 9 am.", "The swimming pool opens at 7 am.", False),
        ("The ladder weighs 12 kg.", "The tool box weighs 8 kg and has three drawers.", False),
        ("Paris is the capital of France.", "Rome is the capital of Italy.", False),
        ("The Eiffel Tower is 330 metres tall.", "Berlin's television tower is 368 metres tall.", False),
        ("Breakfast is served from 7 to 10.", "Dinner is served from 6 to 9 in the evening.", False),
    ],
)
def test_passages_conflict_where_they_differ_on_the_same_thing(judge, strategy, claim, other, conflict) -> None:
    """One passage supports, another states another value: the verdict says both; a passage on another thing does not."""
    verdict = ec.score(response=claim, passages=[other, claim], judge=judge, strategy=strategy).claims[0].verdict
    assert (verdict.label, verdict.conflict) == (ec.Label.SUPPORTED, conflict)
    assert (other in verdict.rationale) == (conflict and strategy == "joint")
