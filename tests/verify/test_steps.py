"""Words that number the steps of an answer, beside passages that number none."""

from __future__ import annotations

import pytest

import everyclaim as ec

STEPS = "Unplug the machine. Rinse the tank with warm water. Descale it with citric acid."


def supported(claim: str, passage: str = STEPS, judge: str = "embedded") -> float:
    return ec.verify_claims(claim, passage, judge=judge)[0].verdict.probabilities.supported


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize(
    "claim",
    [
        "First, unplug the machine.", "First unplug the machine.", "Second, rinse the tank with warm water.",
        "Secondly, rinse the tank.", "Step 3: descale it with citric acid.", "Finally, descale it with citric acid.",
    ],
)  # fmt: skip
def test_a_word_that_numbers_a_step_is_no_ordinal_of_the_passage(claim, judge):
    """What is left is all that the claim says, and where it differs is told by the places of the claim as given."""
    assert supported(claim, judge=judge) > 0.9
    wrong = ec.verify_claims(claim.replace(".", " on Mondays."), STEPS, judge=judge)[0]
    assert wrong.verdict.probabilities.supported < 0.9
    assert "First" not in wrong.verdict.rationale
    at = wrong.verdict.difference.claim if wrong.verdict.difference else None
    assert at is None or "Mondays" in wrong.text[at.start : at.end]


@pytest.mark.parametrize(
    "claim",
    [
        "First Street is closed.",
        "First class costs 40 euros.",
        "The first machine is unplugged.",
        "Spain finished first.",
    ],
)
def test_an_ordinal_that_says_which_one_stays(claim):
    """It is part of what is claimed: the passages must state it."""
    passage = claim.lower().replace("first", "second").capitalize()
    assert supported(claim, claim) > supported(claim, passage) + 0.3
