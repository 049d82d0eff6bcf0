"""NLI faithfulness: the mean of 1, 0.5 and 0 over the sentences."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import pkgutil
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
import everyclaim.metrics
from everyclaim.metrics.faithfulness import WORTH

LABELS = st.lists(st.sampled_from(list(ec.Label)), min_size=1, max_size=12)
SHELF = ["The lamp is old."]


def text_of(order: Sequence[int]) -> str:
    return " ".join(f"Lamp {i} shines brightly." for i in order)


def score(labels: Sequence[ec.Label], order: Sequence[int] | None = None) -> ec.Result:
    response = text_of(range(len(labels)) if order is None else order)

    def judge(claim: ec.Claim, passages: object) -> ec.Label:
        return labels[int(claim.text.split()[1])]

    return asyncio.run(ec.ascore(response=response, passages=SHELF, judge=judge, metric="nli"))


@given(LABELS)
def test_the_score_is_the_mean_worth_of_the_labels_and_its_parts_are_their_shares(labels: list[ec.Label]) -> None:
    """1, 0.5 and 0; the three shares sum to one and give the score back."""
    result = score(labels)
    assert result.score == pytest.approx(sum(WORTH[label] for label in labels) / len(labels))
    parts = result.components
    assert sum(parts.values()) == pytest.approx(1)
    assert result.score == pytest.approx(parts["entailed"] + 0.5 * parts["neutral"])
    assert [claim.verdict.label for claim in result.claims] == labels


def test_sentences_stay_whole_and_questions_and_greetings_are_skipped() -> None:
    """The unit is the sentence, not the clause; its span is true."""
    response = "Hello! The lamp is old and was made in Vienna. Do you like it?"
    result = ec.score(response=response, passages=SHELF, metric="nli")
    assert [response[c.span.start : c.span.end] for c in result.claims] == ["The lamp is old and was made in Vienna."]
    assert [s.reason for s in result.skipped] == ["greeting", "question"]
    assert len(ec.score(response=response, passages=SHELF, metric="nli?unit=claim").claims) == 2


MODULES = [module.name for module in pkgutil.iter_modules(everyclaim.metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_metric_run(name):
    """What a docstring promises is what comes out."""
    assert doctest.testmod(importlib.import_module(f"everyclaim.metrics.{name}")).failed == 0
