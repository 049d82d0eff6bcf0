"""The claim × passage diagnosis: the paper's metrics, their identities, and what is undefined."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_pairs import Bars, Says

from everyclaim.api.session import Session
from everyclaim.core.types import Outcome, Passage, Result, Sample
from everyclaim.engine import score_sample


def diagnose(response: str, reference: str, *passages: str, **options: Any) -> Result:
    shelf = tuple(Passage(f"p{i}", text) for i, text in enumerate(passages, 1))
    chosen: Any = {"metric": "ragchecker", "decomposer": Bars(), "judge": Says()} | options
    return asyncio.run(score_sample(Session(chosen).metric, Sample("1", response, shelf, "", reference)))


def test_a_matrix_counted_by_hand() -> None:
    """Response a b x y z; reference a b c d; one passage with reference claims, one without, one with nothing."""
    result = diagnose("a | b | x | y | z", "a | b | c | d", "a c x", "y q", "k")
    assert dict(result.components) == {
        "precision": pytest.approx(2 / 5),
        "recall": pytest.approx(2 / 4),
        "f1": pytest.approx(4 / 9),
        "claim_recall": pytest.approx(2 / 4),  # a and c were retrieved
        "context_precision": pytest.approx(1 / 3),  # only the first passage holds any
        "context_utilization": pytest.approx(1 / 2),  # of a and c, the response has a
        "faithfulness": pytest.approx(3 / 5),  # a, x, y
        "hallucination": pytest.approx(1 / 5),  # z
        "self_knowledge": pytest.approx(1 / 5),  # b
        "noise_sensitivity_relevant": pytest.approx(1 / 5),  # x, beside a and c
        "noise_sensitivity_irrelevant": pytest.approx(1 / 5),  # y
    }
    assert (result.outcome, result.score, result.warnings) == (Outcome.SCORED, result.components["f1"], ())


@pytest.mark.parametrize("strategy", ["joint", "each", "ranked"])
def test_every_passage_is_judged_alone_whatever_the_strategy(strategy: str) -> None:
    """The matrix has a cell per claim and passage, so no check ever sees two of them."""
    judge = Says()
    result = diagnose("a | x", "a | b", "a", "b", "k", judge=judge, strategy=strategy)
    assert {len(ids) for ids in judge.asked} == {1}
    assert result.components["claim_recall"] == 1.0


def letters(most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from("abcdef"), min_size=1, max_size=most, unique=True)


PASSAGES = st.lists(st.lists(st.sampled_from("abcdef")).map(" ".join), max_size=4)


@given(letters(6), letters(6), PASSAGES)
def test_the_identities_of_the_paper_hold(mine: list[str], theirs: list[str], passages: list[str]) -> None:
    """Every claim of the response is grounded, made up or known; every wrong one is noise or made up."""
    parts = diagnose("|".join(mine), "|".join(theirs), *passages).components
    assert all(part is None or 0 <= part <= 1 for part in parts.values())
    faithful, made_up, known = (parts[name] for name in ("faithfulness", "hallucination", "self_knowledge"))
    noise = parts["noise_sensitivity_relevant"], parts["noise_sensitivity_irrelevant"]
    if faithful is None or made_up is None or known is None or noise[0] is None or noise[1] is None:
        assert not any(text.strip() for text in passages)
        return
    assert faithful + made_up + known == pytest.approx(1)
    assert 1 - (parts["precision"] or 0) == pytest.approx(noise[0] + noise[1] + made_up)
