"""Words that say the same in another form are no reason of a verdict."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.core.types import Verdict


def judged(claim: str, *passages: str, judge: str = "lexical") -> Verdict:
    return ec.verify_claims(claim, list(passages), judge=judge)[0].verdict


def test_a_value_that_stands_elsewhere_does_not_differ() -> None:
    """The campaign's $300 is no other price of the jet, whose price stands in the passage beside."""
    campaign = "He noted that critics of the campaign seeking $300 to buy the jet are wrong. He is a pastor."
    claim = "The jet is worth $65 million, and critics of the campaign to buy the jet are wrong."
    beside = "The jet, a Gulfstream, sells for $65 million."
    assert "the passage says $300, the claim says $65 million" not in judged(claim, campaign, beside).rationale
    assert "the passage says $300, the claim says $65 million" in judged(claim, campaign).rationale


@pytest.mark.parametrize("claim", ["The bridge will open before May.", "The bridge is to open before May."])
def test_a_contraction_without_its_apostrophe_denies(claim: str) -> None:
    """A missing apostrophe changes nothing in what is said, and next to nothing in the verdict."""
    plain, typed = (judged(claim, f"The bridge {word} open before May.").probabilities for word in ("won't", "wont"))
    assert plain is not None
    assert typed is not None
    assert typed.supported == pytest.approx(plain.supported, abs=0.01)


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
def test_a_decimal_comma_reads_as_a_point(judge: str) -> None:
    """Whichever way a passage writes it, a number is read alike, and the evidence keeps what is written."""
    claims = ["The bolt is 3.5 mm thick.", "The bolt is 5.3 mm thick."]
    around = "The document was prepared by a small team. The bolt is {} mm thick. Readers may write to the publisher."
    with_comma, with_point = (
        [found.verdict for found in ec.verify_claims(claims, around.format(number), judge=judge)]
        for number in ("3,5", "3.5")
    )
    assert [one.probabilities for one in with_comma] == [one.probabilities for one in with_point]
    assert with_comma[0].evidence[0].quote == "The bolt is 3,5 mm thick."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("To avoid stains, blot the spill at once.", "To prevent stains, blot the spill at once."),
        ("Blotting helps to avoid stains.", "Blotting helps against stains."),
        ("You can skip the second coat.", "The second coat can be skipped."),
    ],
)
def test_what_something_is_good_for_forbids_nothing(claim, passage):
    """Where stains are avoided, that is an aim."""
    rationale = ec.verify_claims(claim, passage)[0].verdict.rationale
    assert "the passage does not" not in rationale


@pytest.mark.parametrize(
    ("claim", "passage", "reason"),
    [
        (
            "A car costs 380 kr.",
            "A car up to 6 metres costs 420 kr, a bicycle 60 kr.",
            "the passage says 420 kr, the claim says 380 kr",
        ),
        (
            "At 18 °dH the water is hard.",
            "Hard water (above 14 °dH): descale every 6 weeks.",
            "the passage says 14 °dH, the claim says 18 °dH",
        ),
        ("Swelling peaks on day 5.", "Swelling peaks on day 2.", "the passage says day 2, the claim says day 5"),
        (
            "The policy also applies to contractors.",
            "The policy does not apply to contractors.",
            "the passage says 'not apply', the claim does not",
        ),
        (
            "The caves were mapped in 1974 by Pietro Lindqvist.",
            "The caves were mapped in 1974 by Petra Lindqvist.",
            "the passage says 'Petra Lindqvist', the claim says 'Pietro Lindqvist'",
        ),
        (
            "Aurora-3 flew on an Ariane rocket from Kourou.",
            "Aurora-3 was launched on 14 March 2021 on a Vega rocket from Kourou. It orbits at 617 km.",
            "the passage says 'Vega', the claim says 'Ariane'",
        ),
        (
            "The buttons are wooden.",
            "Cast on 96 stitches. The sleeves are knitted in the round. Wash by hand.",
            "not mentioned in the passages: 'The buttons are wooden'",
        ),
        ("Brush the wound.", "Do not rinse for 24 hours. Eat soft food.", "not mentioned in the passages: 'Brush the wound'"),
    ],
)  # fmt: skip
def test_a_reason_names_what_stands_in_the_place_of_the_claims_words(claim: str, passage: str, reason: str) -> None:
    """Numbers with what they count, a denial with what it denies, names whole; of another matter nothing is named."""
    assert judged(claim, passage, judge="embedded").rationale == reason
