"""Factual correctness: precision over response claims, recall over reference claims; whole answers that people know."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_pairs import Bars, Says

import everyclaim as ec
from everyclaim.api.session import Session
from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Label, Outcome, Result, Sample
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


@pytest.mark.parametrize(("beta", "expected"), [("1", 4 / 7), ("2", 10 / 19), ("0.5", 5 / 8)])
def test_beta_weighs_recall(beta: str, expected: float) -> None:
    """Precision 2/3 and recall 1/2: the larger beta, the nearer to recall."""
    result = score("a | b | x", "a | c b", f"factual_correctness?beta={beta}")
    assert result.score == pytest.approx(expected)
    assert list(result.components) == ["precision", "recall", f"f{beta}"]


@pytest.mark.parametrize("spec", ["factual_correctness", "ragchecker"])
def test_a_broken_judge_gives_no_number(spec: str) -> None:
    """The outcome is failed, with the judge's reason."""
    result = score("a", "a", spec, judge=Says(broken=True))
    assert (result.outcome, result.score, result.reason) == (Outcome.FAILED, None, "bad_reply: nothing usable")


def test_an_option_that_the_decomposer_has_not_is_refused() -> None:
    """Before anything is scored."""
    with pytest.raises(ConfigError, match="the decomposer 'bars' has no option coverage"):
        score("a", "a", "factual_correctness?coverage=low")


LETTERS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


@given(LETTERS, LETTERS, st.floats(0.1, 10))
def test_the_parts_are_bounded_and_order_changes_nothing(mine: list[str], theirs: list[str], beta: float) -> None:
    """Each in [0, 1]; F-beta lies between precision and recall; claims may come in any order."""
    spec = f"factual_correctness?beta={beta}"
    result = score("|".join(mine), "|".join(theirs), spec)
    precision, recall, f = (part or 0.0 for part in result.components.values())
    assert 0 <= min(precision, recall) <= f + 1e-12
    assert f - 1e-12 <= max(precision, recall) <= 1
    again = score("|".join(reversed(mine)), "|".join(reversed(theirs)), spec)
    assert again.components == result.components


TOWER = "The Eiffel Tower is located in Paris."
TOWER_AND_HEIGHT = "The Eiffel Tower is located in Paris. It has a height of 1000ft."


def test_the_eiffel_tower_without_its_height() -> None:
    """All that is said is right, half of what should be said is there."""
    result = ec.score(response=TOWER, reference=TOWER_AND_HEIGHT, metric="factual_correctness")
    assert (result.components["precision"], result.components["recall"], round(result.score or 0, 2)) == (
        1.0,
        0.5,
        0.67,
    )
    assert [c.text for c in result.reference_claims if c.verdict.label is not Label.SUPPORTED] == [
        "The Eiffel Tower has a height of 1000ft."
    ]


FIRST_BOWL = "The first superbowl was held on Jan 15, 1967"


@pytest.mark.parametrize(
    ("reference", "precision"),
    [
        ("The first superbowl was held on January 15, 1967.", 1.0),
        ("The first superbowl was held on January 15, 1967. It took place at the Coliseum in Los Angeles.", 1.0),
        ("The first superbowl was held on January 22, 1967.", 0.0),
    ],
    ids=["same date", "same date and a place", "another date"],
)
def test_the_first_super_bowl_by_its_date(reference: str, precision: float) -> None:
    """A short month is the month; another day is not the day."""
    result = ec.score(response=FIRST_BOWL, reference=reference, metric="factual_correctness?mode=precision")
    assert result.score == precision


def test_sourdough_diagnosed_claim_by_passage() -> None:
    """One claim is known, one is noise of a good passage, one of a bad passage, one is made up."""
    result = ec.score(
        response=(
            "Sourdough bread rises with a starter of wild yeast and bacteria. A rye starter smells of vinegar. "
            "Baguettes are baked with commercial yeast. Sourdough was first baked in Chile."
        ),
        reference="Sourdough bread rises with a starter of wild yeast and bacteria. The starter is fed with flour and water.",
        passages=[
            "Sourdough bread rises with a starter of wild yeast and bacteria. A rye starter smells of vinegar.",
            "The starter is fed with flour and water every day.",
            "Baguettes are baked with commercial yeast.",
        ],
        metric="ragchecker",
        judge="lexical",  # whether words of one passage support another's is told better by comparing them
    )
    assert {name: None if part is None else round(part, 2) for name, part in result.components.items()} == {
        "precision": 0.25,
        "recall": 0.33,
        "f1": 0.29,
        "claim_recall": 1.0,
        "context_precision": 0.67,
        "context_utilization": 0.33,
        "faithfulness": 0.75,
        "hallucination": 0.25,
        "self_knowledge": 0.0,
        "noise_sensitivity_relevant": 0.25,
        "noise_sensitivity_irrelevant": 0.25,
    }
    assert result.details["relevant"] == ["p1", "p2"]


# ---- how fine, and how much: atomicity × coverage

EINSTEIN = "Albert Einstein was a physicist from Ulm who developed the theory of relativity."
CURIE = "Marie Curie (1867–1934), a chemist from Warsaw, won two Nobel Prizes and founded an institute in Paris."
BABBAGE = "Charles Babbage was a mathematician, an inventor and an economist."
PIONEERS = f"{EINSTEIN} {CURIE} {BABBAGE}"


def of_pioneers(spec: str, **options: Any) -> ec.Result:
    metric = Session({"metric": spec, **options}).metric
    return asyncio.run(score_sample(metric, Sample("1", PIONEERS, (), "", PIONEERS)))


BABBAGES = [f"Charles Babbage was {what}." for what in ("a mathematician", "an inventor", "an economist")]
EMBEDDED = {
    ("high", "high"): [
        "Albert Einstein was a physicist from Ulm.",
        "Albert Einstein developed the theory of relativity.",
        "Marie Curie (1867–1934) won two Nobel Prizes.",
        "Marie Curie was a chemist from Warsaw.",
        "Marie Curie (1867–1934) founded an institute in Paris.",
        *BABBAGES,
    ],
    ("high", "low"): [
        "Albert Einstein was a physicist from Ulm.",
        "Albert Einstein developed the theory of relativity.",
        "Marie Curie won two Nobel Prizes.",
        "Marie Curie founded an institute in Paris.",
        *BABBAGES,
    ],
    ("low", "high"): [EINSTEIN, CURIE, BABBAGE],
    ("low", "low"): [
        EINSTEIN,
        "Marie Curie won two Nobel Prizes and founded an institute in Paris.",
        BABBAGE,
    ],
}


@pytest.mark.parametrize(("atomicity", "coverage"), EMBEDDED)
def test_the_embedded_decomposer_splits_as_the_metric_says(atomicity: str, coverage: str) -> None:
    """Clauses or sentences, with asides or without; a text compared with itself is right at every setting."""
    result = of_pioneers(f"factual_correctness?atomicity={atomicity}&coverage={coverage}")
    assert [c.text for c in result.claims] == EMBEDDED[atomicity, coverage]
    assert result.score == 1.0
    left_out = [piece.text for piece in result.skipped if piece.reason == "minor"]
    assert bool(left_out) == (coverage == "low")
