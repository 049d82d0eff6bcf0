"""Equal values are equal: 320 pairs of passage and claim by kind and domain, each with a wrong twin, through the API."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import everyclaim as ec
from everyclaim.core.types import Label, Verdict

FILES = ("kinds.txt", "domains.txt")
JUDGES = ("embedded", "lexical")
BEFORE = "The document was prepared by a small editorial team. "
AFTER = " Readers may write to the publisher with corrections. A list of sources is given at the end."
MOST = 0.02  # share of equal pairs whose wording, not whose value, a judge may still take amiss


class Pair(NamedTuple):
    """A passage, a claim that says the same in another spelling, and one that says another value."""

    kind: str
    passage: str
    equal: str
    wrong: str


@cache
def pairs() -> tuple[Pair, ...]:
    """Read the lists."""
    found, kind = [], ""
    for name in FILES:
        for line in (Path(__file__).parent / "values" / name).read_text("utf-8").splitlines():
            if line.startswith("## "):
                kind = line[3:]
            elif line and not line.startswith("#"):
                found.append(Pair(kind, *line.split(" | ")))
    return tuple(found)


@cache
def judged(judge: str, several: bool) -> tuple[tuple[Pair, Verdict, Verdict], ...]:
    """Judge both claims of every pair against the passage, alone or among other sentences."""
    found = []
    for pair in pairs():
        passage = BEFORE + pair.passage + AFTER if several else pair.passage
        equal, wrong = ec.verify_claims([pair.equal, pair.wrong], [passage], judge=judge)
        found.append((pair, equal.verdict, wrong.verdict))
    return tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("judge", JUDGES)
def test_an_equal_value_contradicts_nothing(judge, several):
    """A value in another spelling is never the reason of a CONTRADICTED, and hardly any such claim is called so."""
    found = judged(judge, several)
    against = [f"{pair.equal}: {equal.rationale}" for pair, equal, _ in found if equal.label is Label.CONTRADICTED]
    assert len(found) >= 280
    assert len(against) <= MOST * len(found), against
    assert not [said for said in against if "claim says" in said]


@pytest.mark.parametrize("judge", JUDGES)
def test_a_value_that_differs_is_named_whole_with_both_spellings(judge):
    """The words of a verdict give the passage's value and the claim's, neither of them cut."""
    passage = "The village of Harrow has 5,940 residents. Its mill was built on 14 March 1879 and holds 1.8 L of oil."
    for claim, theirs, ours in (
        ("The village of Harrow has 5,490 residents.", "5,940 residents", "5,490 residents"),
        ("Its mill was built on 20th March 1879.", "14 March 1879", "20th March 1879"),
        ("Its mill holds 1.9 litres of oil.", "1.8 L", "1.9 litres"),
        ("Its mill holds about 3 litres of oil.", "1.8 L", "about 3 litres"),
    ):
        (found,) = ec.verify_claims(claim, passage, judge=judge)
        assert f"the passage says {theirs}, the claim says {ours}" in found.verdict.rationale


@pytest.mark.parametrize(
    ("passage", "claim", "said"),
    [
        ("The population is 2,314,000.", "The population is 2.3 million.", "the passage says 2,314,000, which the claim rounds to 2.3 million"),
        ("The race is run over 26.2 miles.", "The race is run over 42.2 km.", "the passage says 26.2 miles, which equals 42.2 km"),
        ("The stadium seats 49,870 people.", "The stadium seats nearly 50,000 people.", "the passage says 49,870, the claim says nearly 50,000"),
        ("The bottle holds 1.8 L.", "The bottle holds 1.8 litres.", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("judge", JUDGES)
def test_rounding_conversion_and_about_are_named_as_such(judge, passage, claim, said):
    """Where the values agree without being the same, the words of the verdict say how; a mere spelling is not named."""
    (found,) = ec.verify_claims(claim, passage, judge=judge)
    assert found.verdict.label is Label.SUPPORTED
    assert said in found.verdict.rationale
    assert said or "says" not in found.verdict.rationale


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("passage", "claim", "value"),
    [
        ("The tower is 330 metres tall and stands by the river.", "The tower weighs 7,300 tonnes.", "7,300 tonnes"),
        ("The tower is 330 metres tall and stands by the river.", "The tower is 125 metres wide.", "125 metres"),
        ("The shop opens at 9 am.", "The shop closes at 6 pm.", "6 pm"),
        ("She was born in 1931 in Lund.", "She died in 1994 in Lund.", "1994"),
    ],
)
def test_a_value_of_something_else_does_not_differ(judge, passage, claim, value):
    """What the passages give no value of the same kind and property for is not mentioned, rather than different."""
    (found,) = ec.verify_claims(claim, passage, judge=judge)
    assert found.verdict.label is not Label.SUPPORTED
    assert "claim says" not in found.verdict.rationale
    assert value in found.verdict.rationale


def test_a_value_in_brackets_is_what_stands_before_it_once_more():
    """A conversion that the claim adds needs no source where it is right; a wrong one has none."""
    passage = "Heat the oven to 350 F and bake the sausages for approximately 30 minutes with the top removed."
    right, wrong = (
        one.verdict
        for one in ec.verify_claims(
            [
                "Bake the sausages for 30 minutes at 350°F (175°C).",
                "Bake the sausages for 30 minutes at 350°F (195°C).",
            ],
            [passage],
        )
    )
    assert right.label == Label.SUPPORTED
    assert "not stated" not in right.rationale
    assert wrong.label != Label.SUPPORTED
    assert "195" in wrong.rationale


MISSED = 0.01  # share of wrong twins that may be called supported


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("judge", JUDGES)
def test_another_value_is_never_supported(judge, several):
    """The wrong twin of hardly any pair is missed."""
    found = judged(judge, several)
    supported = [f"{pair.passage} | {pair.wrong}" for pair, _, wrong in found if wrong.label is Label.SUPPORTED]
    assert len(supported) <= MISSED * len(found), supported


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Name: Piccola; Capacity: 1.8 l; Price: €89; Colour: blue", "It costs €98."),
        ("Name: Piccola; Capacity: 1.8 l; Price: €89; Colour: blue", "It holds 2.8 litres."),
        ("Riders must be at least 16 years old.", "Riders must be at least 14 years old."),
        ("Riders must be at least 16 years old.", "Riders must be at least 18 years old."),
        ("The lamp was lit for the first time on 3 May 1877 by its keeper.", "The light was first lit on 3 May 1879."),
        ("The lamp was lit for the first time on 3 May 1877 by its keeper.", "The light was first lit in 1879."),
    ],
)
def test_an_amount_a_year_or_a_bound_that_no_passage_states_is_not_supported(passage, claim):
    (judged,) = ec.verify_claims(claim, [passage])
    assert judged.verdict.label != Label.SUPPORTED
