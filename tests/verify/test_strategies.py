"""Several passages, one judge: what each strategy asks, and how verdicts combine (rules 6 and 7)."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from everyclaim.core.types import Claim, Label, Passage, Span, Verdict
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.verify import Each, Ranked
from scripted_judge import ScriptedJudge

S, U, C = Label.SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED


def table(says: dict[str, Label]) -> ScriptedJudge:
    """Return a judge that says of each single passage what the table says, and of several together nothing."""
    return ScriptedJudge(lambda claim, shelf: Verdict(claim.id, says[shelf[0].id] if len(shelf) == 1 else U))


def claim(text: str = "The lamp dims.", claim_id: str = "c1") -> Claim:
    return Claim(claim_id, text, Span(0, len(text)), text)


def passages(*ids: str) -> list[Passage]:
    return [Passage(i, f"Passage {i} speaks of lamps.") for i in ids]


@pytest.mark.parametrize(
    ("labels", "expected", "conflict"),
    [
        ((S, U), S, False),
        ((U, C), C, False),
        ((U, U), U, False),
        ((S, C), S, True),
        ((S, C, U), S, True),
        ((C, C), C, False),
    ],
)
def test_supported_by_any_then_contradicted_by_any_and_a_conflict_is_said(
    labels: tuple[Label, ...], expected: Label, conflict: bool
) -> None:
    """The most favourable judgement never turns a contradiction into a mere unsupported; order does not matter."""
    for order in permutations(labels):
        names = [f"p{i}" for i in range(len(order))]
        judge = table(dict(zip(names, order, strict=True)))
        verdict = asyncio.run(Each(judge, Bm25Ranker()).verify([claim()], passages(*names)))[0]
        assert (verdict.label, verdict.conflict) == (expected, conflict)
        assert [p.label for p in verdict.per_passage] == list(order)


def test_ranked_asks_the_most_relevant_passage_first_and_stops_at_the_first_support() -> None:
    """Three passages, the second holds the words of the claim: one call."""
    shelf = [
        Passage("a", "Returns are free within thirty days."),
        Passage("b", "The lamp dims when you hold the switch."),
        Passage("c", "Our office is closed on Sunday."),
    ]
    judge = table({"a": U, "b": S, "c": U})
    verdict = asyncio.run(Ranked(judge, Bm25Ranker()).verify([claim()], shelf))[0]
    assert verdict.label is S
    assert [passage.id for shown in judge.seen for passage in shown.passages] == ["b"]
