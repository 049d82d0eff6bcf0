"""Whole answers about things people know, scored against a reference: the shipped judge, and a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.api.components import build_metric
from everyclaim.core.protocols import Message
from everyclaim.core.spec import Spec
from everyclaim.core.types import Label, Outcome, Sample
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.engine import score_sample
from everyclaim.testing import ScriptedChat, play, request_data
from everyclaim.verify.llm import LlmVerifier

TOWER = "The Eiffel Tower is located in Paris."
TOWER_AND_HEIGHT = "The Eiffel Tower is located in Paris. It has a height of 1000ft."


def by_label(claims: Sequence[ec.JudgedClaim]) -> dict[str, str]:
    return {claim.text: claim.verdict.label.value for claim in claims}


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


@pytest.mark.parametrize(("mode", "score"), [("precision", 1.0), ("recall", 0.5), ("f1", 0.67)])
def test_the_eiffel_tower_in_every_mode(mode: str, score: float) -> None:
    """The mode says which part is the score."""
    metric = f"factual_correctness?mode={mode}"
    result = ec.score(response=TOWER, reference=TOWER_AND_HEIGHT, metric=metric)
    assert (round(result.score or 0, 2), result.provenance.metric) == (score, metric)


def test_the_eiffel_tower_with_its_height_in_the_answer_only() -> None:
    """The other way round, precision and recall change places."""
    result = ec.score(response=TOWER_AND_HEIGHT, reference=TOWER, metric="factual_correctness")
    assert (result.components["precision"], result.components["recall"]) == (0.5, 1.0)


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


def test_the_first_super_bowl_under_its_old_name_needs_a_judge_that_knows() -> None:
    """That the AFL–NFL game is the first Super Bowl stands nowhere; a model may know it."""
    sample = Sample("1", FIRST_BOWL, (), "", "The AFL–NFL World Championship Game was played on January 15, 1967.")

    def knowing(messages: Sequence[Message]) -> str:
        reply = json.loads(play(messages))
        for row in reply.get("verdicts", ()):
            row.update(label="SUPPORTED", mode="none")
        return json.dumps(reply)

    metric = build_metric({"metric": "factual_correctness", "judge": LlmVerifier(ScriptedChat(knowing))})
    assert asyncio.run(score_sample(metric, sample)).score == 1.0


GINGERBREAD = (
    "Gingerbread is a spiced bake. It is sweetened with honey or molasses. "
    "The bakers of Nuremberg formed a guild in 1643. Nuremberg calls its gingerbread Lebkuchen."
)


def test_gingerbread_with_a_wrong_year_and_an_invention() -> None:
    """Two facts of the answer hold, a changed year is contradicted, an invented origin is merely not there."""
    answer = (
        "Gingerbread is sweetened with honey or molasses. Nuremberg calls its gingerbread Lebkuchen. "
        "The bakers of Nuremberg formed a guild in 1743. Gingerbread was invented by Portuguese sailors."
    )
    result = ec.score(response=answer, reference=GINGERBREAD, metric="factual_correctness")
    assert list(by_label(result.claims).values()) == ["SUPPORTED", "SUPPORTED", "CONTRADICTED", "UNSUPPORTED"]
    assert dict(result.details) == {"true_positives": 2, "false_positives": 2, "false_negatives": 2}
    assert result.score == 0.5


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

BY_MODEL: dict[tuple[str, str], dict[str, list[str]]] = {
    ("high", "high"): {
        EINSTEIN: [
            "Albert Einstein was a physicist.",
            "Albert Einstein was from Ulm.",
            "Albert Einstein developed the theory of relativity.",
        ],
        CURIE: [
            "Marie Curie lived 1867–1934.",
            "Marie Curie was a chemist from Warsaw.",
            "Marie Curie won two Nobel Prizes.",
            "Marie Curie founded an institute in Paris.",
        ],
        BABBAGE: [
            "Charles Babbage was a mathematician.",
            "Charles Babbage was an inventor.",
            "Charles Babbage was an economist.",
        ],
    },
    ("high", "low"): {
        EINSTEIN: ["Albert Einstein was a physicist.", "Albert Einstein developed the theory of relativity."],
        CURIE: ["Marie Curie won two Nobel Prizes."],
        BABBAGE: ["Charles Babbage was a mathematician.", "Charles Babbage was an inventor."],
    },
    ("low", "high"): {EINSTEIN: [EINSTEIN], CURIE: [CURIE], BABBAGE: [BABBAGE]},
    ("low", "low"): {
        EINSTEIN: ["Albert Einstein developed the theory of relativity."],
        CURIE: ["Marie Curie won two Nobel Prizes."],
        BABBAGE: ["Charles Babbage was a mathematician and an inventor."],
    },
}


def splitting(messages: Sequence[Message]) -> str:
    """Play a model that does what the wording of the request asks: it reads the setting off the instructions."""
    data = request_data(messages)
    if "claims" in data:
        return play(messages)
    told = messages[0].content
    degrees = (
        "high" if "It holds one fact." in told else "low",
        "high" if "leave out no fact" in told else "low",
    )
    rows = [{"id": k, "claims": BY_MODEL[degrees][text], "skip": "none"} for k, text in data["sentences"].items()]
    return json.dumps({"sentences": rows})


SETTINGS = list(BY_MODEL)


def of_pioneers(spec: str, **options: Any) -> ec.Result:
    metric = build_metric({"metric": spec, **options})
    return asyncio.run(score_sample(metric, Sample("1", PIONEERS, (), "", PIONEERS)))


@pytest.mark.parametrize(("atomicity", "coverage"), SETTINGS)
def test_a_model_splits_as_the_metric_says(atomicity: str, coverage: str) -> None:
    """The setting reaches the prompt for response and reference alike, and the result says so."""
    chat = ScriptedChat(splitting)
    result = of_pioneers(
        f"factual_correctness?atomicity={atomicity}&coverage={coverage}",
        judge=LlmVerifier(chat),
        decomposer=LlmDecomposer(chat),
    )
    said = [claim for claims in BY_MODEL[atomicity, coverage].values() for claim in claims]
    assert result.outcome is Outcome.SCORED
    assert [c.text for c in result.claims] == [c.text for c in result.reference_claims]
    assert sorted(c.text for c in result.claims) == sorted(said)  # in order of their places in the text
    assert f"atomicity={atomicity}/coverage={coverage}" in result.provenance.parameters["split_prompt"]
    assert Spec.parse(result.provenance.decomposer).options == {
        "atomicity": atomicity,
        "coverage": coverage,
    }


BABBAGES = [f"Charles Babbage was {what}." for what in ("a mathematician", "an inventor", "an economist")]
EMBEDDED = {
    ("high", "high"): [
        "Albert Einstein was a physicist from Ulm.",
        "Albert Einstein developed the theory of relativity.",
        "Marie Curie (1867–1934) won two Nobel Prizes.",
        "Marie Curie was a chemist from Warsaw.",
        "Marie Curie founded an institute in Paris.",
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


@pytest.mark.parametrize(("atomicity", "coverage"), SETTINGS)
def test_the_embedded_decomposer_splits_as_the_metric_says(atomicity: str, coverage: str) -> None:
    """Clauses or sentences, with asides or without; a text compared with itself is right at every setting."""
    result = of_pioneers(f"factual_correctness?atomicity={atomicity}&coverage={coverage}")
    assert [c.text for c in result.claims] == EMBEDDED[atomicity, coverage]
    assert result.score == 1.0
    left_out = [piece.text for piece in result.skipped if piece.reason == "minor"]
    assert bool(left_out) == (coverage == "low")
