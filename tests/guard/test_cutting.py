"""Claims are taken out of answers, and what is left are sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.guard import cut

SENTENCES = [
    "The lamp is red.",
    "It was made in 1950.",
    "However, the rug is blue.",
    "Anna likes tea.",
    "She was born in Oslo.",
]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8), st.data())
def test_nothing_that_failed_is_left_and_nothing_else_gets_lost(parts: list[str], data: st.DataObject) -> None:
    """Sentence by sentence, whatever the order: facts that failed are gone, the others are there as often as before."""
    answer = " ".join(parts)
    claims = ec.extract_claims(answer).claims
    failed = data.draw(st.sets(st.sampled_from([claim.id for claim in claims])))
    found = cut(answer, claims, failed)
    facts = ["red", "1950", "blue", "tea", "Oslo"]
    kept = [claim.text for claim in claims if claim.id not in failed]
    assert (found is None) == (not kept)
    if found:
        assert [found.text.count(fact) for fact in facts] == [sum(fact in text for text in kept) for fact in facts]
