"""Dates and times beside the periods that passages give: what lies inside does not differ from the ends."""

from __future__ import annotations

import pytest

import everyclaim as ec

GARDEN = "The garden is open from April to October."
MUSEUM = "The museum is open from 9 am to 5 pm, Tuesday to Sunday."
FERRY = "The ferry runs daily between May and September."
OFFER = "The offer is valid until 31 March 2025."
SKI = "The lift runs from November to March."


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (GARDEN, "The garden is open in June."), (MUSEUM, "The museum is open on Wednesday."),
        (MUSEUM, "The museum is open at noon."), (SKI, "The lift runs in January."),
    ],
)  # fmt: skip
def test_what_lies_inside_a_period_is_supported(passage: str, claim: str) -> None:
    (verdict,) = (judged.verdict for judged in ec.verify_claims([claim], [passage]))
    assert verdict.label == "SUPPORTED"


@pytest.mark.parametrize(
    ("passage", "claim", "period"),
    [
        (GARDEN, "Yes, it is open in December.", "April to October"), (MUSEUM, "It is open on Monday.", "Tuesday to Sunday"),
        (MUSEUM, "The museum is open at 6 pm.", "9 am to 5 pm"), (FERRY, "The ferry runs in November.", "between May and September"),
        (OFFER, "The offer is valid on 2 April 2025.", "until 31 March 2025"), (SKI, "The lift runs in July.", "November to March"),
    ],
)  # fmt: skip
def test_what_lies_outside_a_period_is_not_and_the_period_is_named(passage: str, claim: str, period: str) -> None:
    (verdict,) = (judged.verdict for judged in ec.verify_claims([claim], [passage]))
    assert verdict.label != "SUPPORTED"
    assert verdict.rationale.startswith(f"the passage says {period}, the claim says")
    (evidence, *_) = verdict.evidence
    assert evidence.quote in passage
