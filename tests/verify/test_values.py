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
MISSED = 0.01  # share of wrong twins that may be called supported


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
def judged(judge: str, several: bool, step: int) -> tuple[tuple[Pair, Verdict, Verdict], ...]:
    """Judge both claims of every so many pairs against the passage, alone or among other sentences."""
    found = []
    for pair in pairs()[::step]:
        passage = BEFORE + pair.passage + AFTER if several else pair.passage
        equal, wrong = ec.verify_claims([pair.equal, pair.wrong], [passage], judge=judge)
        found.append((pair, equal.verdict, wrong.verdict))
    return tuple(found)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("several", "step"), [(False, 8), *(pytest.param(one, 1, marks=pytest.mark.slow) for one in (False, True))]
)
def test_an_equal_value_contradicts_nothing_and_another_value_is_not_supported(judge, several, step):
    """A spelling is never the reason of a CONTRADICTED, and the wrong twin of hardly any pair is missed."""
    found = judged(judge, several, step)
    against = [f"{pair.equal}: {equal.rationale}" for pair, equal, _ in found if equal.label is Label.CONTRADICTED]
    supported = [f"{pair.passage} | {pair.wrong}" for pair, _, wrong in found if wrong.label is Label.SUPPORTED]
    assert len(found) * step >= 280
    assert len(against) <= MOST * len(found), against
    assert not [said for said in against if "claim says" in said]
    assert len(supported) <= max(1, MISSED * len(found)), supported


@pytest.mark.parametrize("judge", JUDGES)
def test_a_decimal_comma_reads_as_a_point(judge):
    """Whichever way a passage writes it, a number is read alike, and the evidence keeps what is written."""
    claims = ["The bolt is 3.5 mm thick.", "The bolt is 5.3 mm thick."]
    around = "The document was prepared by a small team. The bolt is {} mm thick. Readers may write to the publisher."
    with_comma, with_point = (
        [found.verdict for found in ec.verify_claims(claims, around.format(number), judge=judge)]
        for number in ("3,5", "3.5")
    )
    assert [one.probabilities for one in with_comma] == [one.probabilities for one in with_point]
    assert with_comma[0].evidence[0].quote == "The bolt is 3,5 mm thick."
