"""One answer through the public calls: what goes in, what comes out, and the examples people try first."""

from __future__ import annotations

import asyncio

import pytest

import everyclaim as ec
from everyclaim.core.types import Evidence

S, U, C = ec.Label.SUPPORTED, ec.Label.UNSUPPORTED, ec.Label.CONTRADICTED
EINSTEIN = "Albert Einstein (born 14 March 1879 in Ulm, Germany) was a theoretical physicist."


def labels(response: str, *passages: str, **options: object) -> list[ec.Label]:
    return [c.verdict.label for c in ec.score(response=response, passages=list(passages), **options).claims]


def test_the_tower_is_half_supported() -> None:
    """One claim of two is in the passage."""
    result = ec.score(
        response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
        passages=["The Eiffel Tower was built in 1889 in Paris."],
    )
    assert result.score == 0.5
    assert result.claims[0].verdict.evidence[0] == Evidence("p1", 0, 44, "The Eiffel Tower was built in 1889 in Paris.")


def test_a_wrong_date_does_not_spoil_the_right_place() -> None:
    """Place and date of one sentence are two claims: one supported, one contradicted."""
    assert labels("Einstein was born in Germany on 20th March 1879.", EINSTEIN) == [S, C]


def test_scoring_works_inside_a_running_event_loop() -> None:
    """A notebook's loop does not get in the way."""

    async def notebook() -> tuple[float | None, float | None]:
        inside = ec.score(response="It rains.", passages=["It rains."])
        awaited = await ec.ascore(response="It rains.", passages=["It rains."])
        return inside.score, awaited.score

    assert asyncio.run(notebook()) == (1.0, 1.0)


def test_given_claims_are_judged_without_decomposition() -> None:
    """One verdict per claim, in order; compound claims stay as given."""
    judged = ec.verify_claims(["The tank holds 2 litres.", "It floats and it sings."], ["The tank holds 2 litres."])
    assert [(c.id, c.text) for c in judged] == [("c1", "The tank holds 2 litres."), ("c2", "It floats and it sings.")]
    assert judged[0].verdict.label is S


@pytest.mark.parametrize("claims", ["", ["  "], [3]])
def test_an_empty_claim_is_refused(claims: object) -> None:
    """There is nothing to judge."""
    with pytest.raises(ec.InputError, match="empty"):
        ec.verify_claims(claims, ["x"])
