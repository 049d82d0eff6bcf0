"""What a passage asks, supposes, denies, doubts or forbids supports no claim; what it asserts still does.

`standing.tsv`: `-` or `+` (whether the passage supports the claim, as the embedded judge must say), passage, claim. `~`:
right pairs that the judge does not see through, held to not being blanked out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import everyclaim as ec

PAIRS = [line.split("\t") for line in Path(__file__).with_name("standing.tsv").read_text("utf-8").splitlines()]
FILLER = "The museum is in Leeds. Parking is free on Sundays. "


def judged(passage: str, claim: str, judge: str = "embedded") -> ec.Verdict:
    (found,) = ec.verify_claims(claim, [passage], judge=judge)
    return found.verdict


@pytest.mark.parametrize(("passage", "claim"), [pair[1:] for pair in PAIRS if pair[0] == "-"])
@pytest.mark.parametrize("judge", ["embedded", "lexical"])
def test_what_is_not_asserted_supports_nothing(passage: str, claim: str, judge: str) -> None:
    """Alone, and among other sentences."""
    for text in (passage, FILLER + passage):
        verdict = judged(text, claim, judge)
        assert verdict.label is not ec.Label.SUPPORTED, verdict
        assert verdict.probabilities is not None
        assert verdict.probabilities.supported < 0.5


@pytest.mark.parametrize(("passage", "claim"), [pair[1:] for pair in PAIRS if pair[0] == "+"])
def test_what_is_asserted_supports(passage: str, claim: str) -> None:
    """Also a question that is answered with yes, a claim that stands as the passage does, what nobody doubts."""
    assert judged(passage, claim).label is ec.Label.SUPPORTED


@pytest.mark.parametrize(("passage", "claim"), [pair[1:] for pair in PAIRS if pair[0] in "+~"])
def test_what_is_asserted_is_read(passage: str, claim: str) -> None:
    """No reason says that it is only mentioned."""
    assert "the passage only" not in judged(passage, claim).rationale
    assert "this is not so" not in judged(passage, claim).rationale


def test_the_list_is_long_in_both_directions() -> None:
    """So that a rule for one wording does not pass for a rule."""
    assert len(PAIRS) >= 100
    assert sum(pair[0] == "-" for pair in PAIRS) >= 60
    assert sum(pair[0] != "-" for pair in PAIRS) >= 35


@pytest.mark.parametrize(
    ("passage", "told", "mode"),
    [
        ("Is the moon made of cheese?", "the passage only asks this: 'Is the moon made of cheese?'", "other"),
        (
            f"{FILLER}It is a myth that the moon is made of cheese.",
            "says that this is not so: 'It is a myth",
            "negation",
        ),
        ("Suppose the moon is made of cheese.", "the passage only supposes this", "hedge_mismatch"),
    ],
)
def test_the_reason_quotes_the_sentence_and_so_does_the_evidence(passage: str, told: str, mode: str) -> None:
    """At its place in the passage."""
    verdict = judged(passage, "The moon is made of cheese.")
    assert told in verdict.rationale
    assert verdict.failure_mode == mode
    (evidence,) = verdict.evidence
    assert passage[evidence.start : evidence.end] == evidence.quote
    assert "cheese" in evidence.quote
    assert "Parking" not in evidence.quote


def test_another_sentence_that_asserts_it_is_still_found() -> None:
    """In the same passage or another one, with its own place as evidence."""
    asked, told = "Is the moon made of cheese?", "Experts agree: the moon is made of cheese."
    (found,) = ec.verify_claims("The moon is made of cheese.", [asked, told])
    assert found.verdict.label is ec.Label.SUPPORTED
    assert [evidence.passage_id for evidence in found.verdict.evidence] == ["p2"]


@pytest.mark.parametrize("unit", ["if a ", "whether ", "it is false that ", "claim that the claim that ", "no no no "])
def test_hostile_passages_take_no_time(unit: str) -> None:
    """A sentence without an end is not searched for ever."""
    assert judged(unit * 20_000, "The moon is made of cheese.").label is ec.Label.UNSUPPORTED
