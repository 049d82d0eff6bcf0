"""Ranking passages for a claim."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.types import Passage
from everyclaim.retrieve import Bm25Ranker


def test_the_passage_that_shares_rare_words_comes_first() -> None:
    """Inflected forms count, words that are everywhere do not."""
    shelf = [
        Passage("a", "The shop sells bread."),
        Passage("b", "The shop refunds damaged kettles."),
        Passage("c", "The shop opens at nine."),
    ]
    assert Bm25Ranker().rank("A damaged kettle is refunded by the shop.", shelf)[0] == 1


@given(st.text(), st.lists(st.text(max_size=40), max_size=6))
def test_every_passage_is_ranked_exactly_once_whatever_the_text(query: str, texts: list[str]) -> None:
    """Ranking is a permutation, and ties keep the given order."""
    order = Bm25Ranker().rank(query, [Passage(str(i), text) for i, text in enumerate(texts)])
    assert sorted(order) == list(range(len(texts)))
