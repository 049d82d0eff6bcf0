"""Cases in which other tools report a wrong number: never here. One test per case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import everyclaim as ec

FACTS = "The pump runs at 9 bar. The tank holds 2 litres. The case is steel. The cord is 1 metre long."
SHEET = "Data sheet: pump pressure 9 bar, tank 2 litres, steel case, cord 1 metre."


@dataclass
class Replies:
    """A judge with one fixed reply, whatever it is asked."""

    verdicts: list[object]
    calls: int = 0
    spec: str = "scripted"

    async def verify(self, claims: Sequence[ec.Claim], passages: Sequence[ec.Passage], *, question: str = "") -> object:
        self.calls += 1
        return self.verdicts


def test_every_claim_merely_borderline_is_not_a_perfect_score() -> None:
    """Not backed by the context means UNSUPPORTED and counts against the score."""
    judge = Replies([ec.Verdict(f"c{i}", ec.Label.UNSUPPORTED) for i in range(1, 5)])
    assert ec.score(response=FACTS, passages=[SHEET], judge=judge).score == 0.0


@pytest.mark.parametrize("verdicts", [[], [ec.Verdict("c1", ec.Label.SUPPORTED)]], ids=["none", "one for four"])
def test_too_few_verdicts_are_a_failure_not_full_marks(verdicts: list[object]) -> None:
    """One verdict for four claims says nothing about the other three."""
    result = ec.score(response=FACTS, passages=[SHEET], judge=Replies(verdicts))
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)


@pytest.mark.parametrize("label", [-1, 7, "borderline", "1 if True else 0", None])
def test_a_label_out_of_range_is_neither_supported_nor_evaluated(label: object) -> None:
    """A verdict of −1 is no verdict, and a reply that looks like code is text."""
    judge = Replies([ec.Verdict(f"c{i}", label) for i in range(1, 5)])
    assert ec.score(response=FACTS, passages=[SHEET], judge=judge).outcome is ec.Outcome.FAILED


def test_failed_rows_do_not_vanish_from_the_headline(tmp_path: object) -> None:
    """`n scored / n total` shows what the mean leaves out, and NaN is nowhere."""
    rows = [{"response": FACTS, "contexts": [SHEET]} for _ in range(2)]
    run = ec.score_file(rows, judge=Replies([]), store=f"{tmp_path}/runs.db")
    assert (run.summary.overall.total, run.summary.overall.outcomes["failed"], run.summary.overall.score.value) == (
        2,
        2,
        None,
    )


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
