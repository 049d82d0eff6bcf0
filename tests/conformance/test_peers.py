"""Passages that differ on the same thing are a conflict, and others are none."""

from __future__ import annotations

import pytest

import everyclaim as ec


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize("strategy", ["joint", "each"])
@pytest.mark.parametrize(
    ("claim", "other", "conflict"),
    [
        ("The tank of the machine holds 2 litres.", "The tank of the machine holds 3 litres.", True),
        ("The library opens at 9 am.", "The swimming pool opens at 7 am.", False),
        ("The ladder weighs 12 kg.", "The tool box weighs 8 kg and has three drawers.", False),
    ],
)
def test_passages_conflict_where_they_differ_on_the_same_thing(judge, strategy, claim, other, conflict) -> None:
    """One passage supports, another states another value: the verdict says both; a passage on another thing does not."""
    verdict = ec.score(response=claim, passages=[other, claim], judge=judge, strategy=strategy).claims[0].verdict
    assert (verdict.label, verdict.conflict) == (ec.Label.SUPPORTED, conflict)
    assert (other in verdict.rationale) == (conflict and strategy == "joint")
