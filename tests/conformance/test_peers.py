"""Cases in which other tools report a wrong number: never here. One test per case."""

from __future__ import annotations

import pytest

import everyclaim as ec


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
