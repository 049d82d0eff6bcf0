"""Nothing hides: what was skipped although it says something is a warning, is counted, and is not validated."""

from __future__ import annotations

import json

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.core.wire import result_from_json, result_to_json

SHELF = ["The kettle is red. It was made in Graz in 2019."]
CLAIM = "The kettle is red."


class Skipping:
    """A decomposer that takes the first sentence as a claim, if it may, and skips the rest for a reason."""

    spec = "skipping"

    def __init__(self, reason: str) -> None:
        self.reason = reason

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        start = len(CLAIM) if response.startswith(CLAIM) else 0
        claims = (Claim("c1", CLAIM, Span(0, start), CLAIM),) if start else ()
        rest = response[start:].strip()
        left = (Skipped(rest, Span(len(response) - len(rest), len(response)), self.reason),)
        return Decomposition(claims, left, abstained=not claims and self.reason == "abstention")


def test_a_skipped_sentence_with_a_number_or_a_name_is_a_warning() -> None:
    """The piece is marked in the result and in its JSON; what is one: `benchmarks/accuracy/readings.py`."""
    result = ec.score(response=f"{CLAIM} It was made in Linz.", passages=SHELF, decomposer=Skipping("meta"))
    assert "a sentence skipped as 'meta' contains a number or a name and was not checked" in result.warnings
    assert [piece.unchecked for piece in result.skipped] == [True]
    assert result_to_json(result)["skipped"][0]["unchecked"] is True
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


@pytest.mark.parametrize(
    ("response", "reason"),
    [(f"{CLAIM} It was made in Linz.", "meta"), ("It was made in Linz.", "abstention"), ("Ask Acme.", "instruction")],
)
def test_a_guard_does_not_validate_what_was_not_checked(response: str, reason: str) -> None:
    """And says which sentence; nothing is generated anew for it."""
    answer = ec.Guard(None, decomposer=Skipping(reason)).answer("What of it?", SHELF, response=response)
    assert not answer.checked
    assert len(answer.attempts) == 1
    assert "not checked" in answer.warnings[0]
