"""What the network is given to read: the sentences that matter, within the budget, and where they are from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.verify.embedded.premise import choose
from everyclaim.verify.lexical.alignment import align, gather
from everyclaim.verify.lexical.analysis import read
from everyclaim.verify.lexical.vectors import shipped_vectors


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
