"""The lexical verifier, through its public class, and the evaluator of its model."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.core.types import Claim, Label, Passage, Span
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.lexical import LexicalVerifier

HARBOUR = (
    "The harbour museum opened in 1962 in a former rope factory. It shows forty model ships and a diving bell. "
    "Entry is free on Mondays. The curator, Ada Holm, bought the diving bell from a salvage firm in 1971. "
    "A storm damaged the roof in 1987, and repairs took eighteen months."
)


VERIFIERS = (LexicalVerifier(), EmbeddedVerifier())


def judge(claim, *texts, verifier=None):
    """One verdict on one claim."""
    passages = [text if isinstance(text, Passage) else Passage(f"p{i}", text) for i, text in enumerate(texts)]
    claims = [Claim("c1", claim, Span(0, len(claim)), claim)]
    (verdict,) = asyncio.run((verifier or LexicalVerifier()).verify(claims, passages))
    return verdict


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


@given(st.text(max_size=120), st.lists(st.text(max_size=200), max_size=4), st.sampled_from(VERIFIERS))
def test_any_text_gets_a_verdict_that_adds_up(claim, texts, verifier):
    """Whatever the texts hold: probabilities sum to 1, support is called above one half, quotes are where they say."""
    verdict = judge(claim, *texts, verifier=verifier)
    assert verdict.probabilities is not None
    assert abs(sum(verdict.probabilities) - 1) < 1e-9
    assert all(0 <= value <= 1 for value in verdict.probabilities)
    assert (verdict.label is Label.SUPPORTED) == (verdict.probabilities.supported > 0.5)
    for place in verdict.evidence:
        assert texts[int(place.passage_id[1:])][place.start : place.end] == place.quote


def test_an_answer_has_a_probability_that_does_not_punish_length():
    """It falls with every doubtful claim, and a long answer of sure claims is not doubted for its length."""
    sure = "The Classica takes 35 minutes to descale."
    passages = [sure + " It weighs 4 kg. The tank holds 2 litres. It was made in Turin in 1998."]
    good = ec.score(response=passages[0], passages=passages)
    bad = ec.score(response=sure + " It weighs 9 kg. The tank is red. It was made in Peru.", passages=passages)
    short = ec.score(response=sure, passages=passages)
    assert 0 <= bad.probability < 0.3 < good.probability <= 1
    assert good.probability > 0.5 * short.probability
    assert ec.score(response="Hello!", passages=passages).probability is None


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Aspirin may reduce inflammation.", "Aspirin reduces inflammation."),
        ("Aspirin reduces inflammation.", "Aspirin may reduce inflammation."),
    ],
)
def test_hedge_on_one_side_is_flagged(claim, passage):
    """A hedge that only one side has is flagged; under `strict` the claim fails, and its probabilities say so, too."""
    assert "certainty_differs" in judge(claim, passage).flags
    strict = ec.score(response=claim, passages=[passage], strict=True)
    assert strict.score == 0
    assert strict.probability < 0.15 > strict.claims[0].verdict.probabilities.supported


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Cats may not go into the restaurant.", "Pets may not enter the restaurant."),
        ("You can bring two suitcases.", "Foot passengers may bring two suitcases."),
        ("Dogs are allowed in the lounge.", "Dogs may enter the lounge."),
        ("The engine has to be off.", "Drivers must switch the engine off; nobody may stay on the car deck."),
    ],
)
def test_permission_is_no_doubt(claim, passage):
    """A modal verb that permits, or that is about something else, does not make a side less certain."""
    assert "certainty_differs" not in judge(claim, passage).flags
