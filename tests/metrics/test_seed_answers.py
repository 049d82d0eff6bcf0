"""Whole answers about things people know, scored against a reference: the shipped judge, and a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.api.session import Session
from everyclaim.core.types import Label, Sample
from everyclaim.engine import score_sample

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
