"""The lexical verifier, through its public class."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.types import Claim, Label, Passage, Span
from everyclaim.verify.lexical import LexicalVerifier

HARBOUR = (
    "The harbour museum opened in 1962 in a former rope factory. It shows forty model ships and a diving bell. "
    "Entry is free on Mondays. The curator, Ada Holm, bought the diving bell from a salvage firm in 1971. "
    "A storm damaged the roof in 1987, and repairs took eighteen months."
)


def judge(claim, *texts, question="", threshold=0.5):
    """One verdict on one claim."""
    passages = [text if isinstance(text, Passage) else Passage(f"p{i}", text) for i, text in enumerate(texts)]
    claims = [Claim("c1", claim, Span(0, len(claim)), claim)]
    (verdict,) = asyncio.run(LexicalVerifier(threshold).verify(claims, passages, question=question))
    return verdict


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Aspirin may reduce inflammation.", "Aspirin reduces inflammation."),
        ("Aspirin reduces inflammation.", "Aspirin may reduce inflammation."),
    ],
)
def test_hedge_on_one_side_is_flagged(claim, passage):
    """A hedge that only one side has is flagged, whichever side it is; the policy above decides what follows."""
    assert "hedge_mismatch" in judge(claim, passage).flags


def test_evidence_is_really_there():
    """Evidence points at the sentence that says it, by true offsets."""
    verdict = judge("Ada Holm bought the diving bell in 1971.", "Tickets cost 4 euros.", HARBOUR)
    place = verdict.evidence[0]
    assert place.passage_id == "p1"
    assert HARBOUR[place.start : place.end] == place.quote
    assert place.quote.startswith("The curator, Ada Holm")


def test_evidence_may_be_spread_over_passages():
    """A claim that needs two passages is supported by both, and both are shown."""
    verdict = judge(
        "The harbour museum opened in 1962 and its roof was damaged by a storm in 1987.",
        "The harbour museum opened in 1962 in a former rope factory.",
        "Tickets cost 4 euros.",
        "The roof of the museum was damaged by a storm in 1987.",
    )
    assert verdict.label is Label.SUPPORTED
    assert {place.passage_id for place in verdict.evidence} == {"p0", "p2"}


def test_copies_and_order_of_passages_change_nothing():
    """The same passage twice is the same evidence, and passages have no order."""
    claims = ["The museum opened in 1962.", "The museum opened in 1972.", "The museum sells postcards."]
    noise = "Ferries leave every twenty minutes from the north quay."
    for claim in claims:
        alone = judge(claim, HARBOUR, noise)
        again = judge(claim, HARBOUR, HARBOUR, noise)
        turned = judge(claim, noise, HARBOUR)
        assert alone.probabilities == again.probabilities
        assert alone.label is turned.label


@given(st.text(max_size=120), st.lists(st.text(max_size=200), max_size=4))
def test_any_text_gets_a_verdict_that_adds_up(claim, texts):
    """Whatever the texts hold: probabilities sum to 1, support is called above one half, quotes are where they say."""
    verdict = judge(claim, *texts)
    assert verdict.probabilities is not None
    assert abs(sum(verdict.probabilities) - 1) < 1e-9
    assert all(0 <= value <= 1 for value in verdict.probabilities)
    assert (verdict.label is Label.SUPPORTED) == (verdict.probabilities.supported > 0.5)
    for place in verdict.evidence:
        assert texts[int(place.passage_id[1:])][place.start : place.end] == place.quote
