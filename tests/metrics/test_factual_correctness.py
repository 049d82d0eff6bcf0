"""Factual correctness: precision over response claims, recall over reference claims."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scripted_pairs import Bars, Says

from everyclaim.api.session import Session
from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Outcome, Result, Sample
from everyclaim.engine import score_sample


def score(response: str, reference: str | None, spec: str = "factual_correctness", **options: Any) -> Result:
    chosen: Any = {"metric": spec, "decomposer": Bars(), "judge": Says()} | options
    return asyncio.run(score_sample(Session(chosen).metric, Sample("1", response, (), "", reference)))


def test_both_directions_are_counted_in_their_own_units() -> None:
    """Two of three response claims are in the reference; one of two reference claims is in the response."""
    result = score("a | b | x", "a | c b")
    assert result.components == {"precision": 2 / 3, "recall": 1 / 2, "f1": pytest.approx(4 / 7)}
    assert result.score == result.components["f1"]
    assert dict(result.details) == {"true_positives": 2, "false_positives": 1, "false_negatives": 1}


@pytest.mark.parametrize("spec", ["factual_correctness", "ragchecker"])
def test_a_broken_judge_gives_no_number(spec: str) -> None:
    """The outcome is failed, with the judge's reason."""
    result = score("a", "a", spec, judge=Says(broken=True))
    assert (result.outcome, result.score, result.reason) == (Outcome.FAILED, None, "bad_reply: nothing usable")


def test_an_option_that_the_decomposer_has_not_is_refused() -> None:
    """Before anything is scored."""
    with pytest.raises(ConfigError, match="the decomposer 'bars' has no option coverage"):
        score("a", "a", "factual_correctness?coverage=low")


# ---- how fine, and how much: atomicity × coverage


@pytest.mark.parametrize(("atomicity", "claims"), [("high", 2), ("low", 1)])
@pytest.mark.parametrize("coverage", ["high", "low"])
def test_the_embedded_decomposer_splits_as_the_metric_says(atomicity: str, coverage: str, claims: int) -> None:
    """Clauses or sentences, with asides or without; a text compared with itself is right at every setting."""
    text = "Marie Curie (1867–1934), a chemist from Warsaw, won two Nobel Prizes and founded an institute in Paris."
    spec = f"factual_correctness?atomicity={atomicity}&coverage={coverage}"
    result = score(text, text, spec, decomposer="embedded", judge="embedded")
    assert (result.score, len(result.claims) >= claims) == (1.0, True)
    assert len(result.claims) == 1 or atomicity == "high"
    assert any(piece.reason == "minor" for piece in result.skipped) == (coverage == "low")
