"""What the network is given to read: the sentences that matter, within the budget, and where they are from."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.verify.embedded.premise import STEP, Premise, choose
from everyclaim.verify.lexical.alignment import align, gather
from everyclaim.verify.lexical.analysis import read
from everyclaim.verify.lexical.vectors import shipped_vectors

FILLER = [f"The {word} section describes matters of general administration." for word in ("first", "second", "third")]
NEEDLE = "Refunds are paid within fourteen days of the return."


def chosen(claim: str, passages: list[str], tokens: int) -> Premise:
    """Choose as the verifier does."""
    vectors = shipped_vectors()
    source = gather([read(text, vectors) for text in passages], vectors)
    return choose(source, align(read(claim, vectors), source, vectors), tokens)


@pytest.mark.parametrize("position", [0, 7, 15])
def test_the_sentence_that_matters_is_found_at_every_position(position: int) -> None:
    """A small budget keeps the one sentence that speaks of the claim."""
    sentences = [FILLER[i % 3].replace("section", f"section {i}") for i in range(16)]
    sentences.insert(position, NEEDLE)
    premise = chosen("Refunds take fourteen days.", [" ".join(sentences)], 40)
    assert NEEDLE in premise.text
    assert len(premise.text) < 300


def test_the_order_of_passages_makes_no_difference() -> None:
    """What matters most is read first, wherever it stands; within a passage sentences keep their order."""
    passages = [FILLER[0], f"{FILLER[1]} {NEEDLE}", "Tea is served at noon."]
    for tokens in (20, 200):
        texts = {chosen("Refunds take fourteen days.", list(order), tokens).text for order in permutations(passages)}
        assert len(texts) == 1
        assert texts.pop().split(STEP)[0].endswith(NEEDLE)


@given(st.lists(st.text("abc de.F1é\n", min_size=1, max_size=120), min_size=1, max_size=4), st.integers(1, 60))
def test_every_part_is_verbatim(passages: list[str], tokens: int) -> None:
    """Whatever is read can be traced to its place."""
    vectors = shipped_vectors()
    readings = [read(text, vectors) for text in passages]
    source = gather(readings, vectors)
    claim = read("abc de F1", vectors, every_word=True)
    if not source.places:
        return
    premise = choose(source, align(claim, source, vectors), tokens)
    assert premise.parts
    for part in premise.parts:
        length = part.end - part.start
        assert premise.text[part.at : part.at + length] == passages[part.reading][part.start : part.end]
        assert premise.place(part.at, part.at + length) == (part.reading, part.start, part.end)
