"""The edits of the probes change one thing, to something the passages do not hold, or leave a sentence alone."""

from __future__ import annotations

import random

import pytest
from edits import edit
from hypothesis import given
from hypothesis import strategies as st

HELD = "The bridge at Soraland was opened in 1911 by Queen Ilse. It is 48 metres long and was repaired in May 1987."
FIRST, SECOND = HELD[:55], HELD[56:]
OTHERS = ["Duke Albin", "Marwick", "Torvale", "King Oder"]


@given(st.integers(0, 10_000))
def test_a_number_date_or_name_is_exchanged_for_one_that_is_nowhere_in_the_passages(seed: int) -> None:
    """Exactly one word, or one name, is another."""
    rng = random.Random(seed)
    for kind, sentence in (("number", SECOND), ("date", FIRST), ("date", SECOND), ("name", FIRST)):
        edited = edit(kind, sentence, HELD, OTHERS, rng)
        assert edited is not None
        old, new = set(sentence.split()), set(edited.split())
        assert 1 <= len(new - old) <= 2
        assert not any(word.strip(".") in HELD for word in new - old)


@pytest.mark.parametrize(
    ("sentence", "negated"),
    [
        ("The path was closed after the storm.", "The path was not closed after the storm."),
        ("The path was not closed after the storm.", "The path was closed after the storm."),
        ("The tool can read both formats.", "The tool cannot read both formats."),
        ("The keys have been returned.", "The keys have not been returned."),
        ("The rule is also in force here.", None),
        ("The path may be closed if it snows.", None),
        ("Nobody wins, and it is never fair.", None),
    ],
)
def test_a_sentence_is_negated_or_its_negation_taken_away(sentence: str, negated: str | None) -> None:
    """Sentences that stay true or become odd are left alone."""
    assert edit("negation", sentence, sentence, [], random.Random(0)) == negated
