"""Texts with what is marked in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.types import Label
from everyclaim.report.html.layout import Mark, lay_out, segments


def written(block):
    return "".join(one.text for one in block.segments)


def marked(blocks):
    """The marked text of blocks."""
    return [one.text for block in blocks for one in block.segments if one.marks]


def test_a_long_passage_is_cut_to_what_stands_around_the_evidence():
    """What is left out is counted, and the evidence is there."""
    text = "word " * 400 + "the needle in it " + "word " * 400
    start = text.index("the needle")
    before, around, after = lay_out(text, [Mark(start, start + 10, 1, Label.SUPPORTED, "evidence")], context=50)
    assert marked([around]) == ["the needle"]
    assert len(written(around)) < 120
    assert before.hidden + len(written(around)) + after.hidden == len(text)


def test_no_text_is_without_end():
    """Of a text of two million characters fifty thousand are shown, and the rest is counted."""
    whole, cut = lay_out("word" * 500_000, [Mark(0, 2_000_000, 1, Label.SUPPORTED)])
    assert (len(written(whole)), cut.hidden) == (50_000, 1_950_000)


OFFSETS = st.integers(-5, 50)
MARKS = st.lists(st.builds(Mark, OFFSETS, OFFSETS, st.integers(1, 5), st.sampled_from(Label)), max_size=8)


@given(st.text(max_size=40), MARKS)
def test_segments_join_to_the_text_and_know_what_covers_them(text, marks):
    """Overlapping, nested, empty, reversed and outlying marks alike."""
    found = segments(text, marks)
    assert "".join(one.text for one in found) == text
    for one in found:
        assert text[one.start : one.end] == one.text
        for place in range(one.start, one.end):
            assert set(one.marks) == {mark for mark in marks if mark.start <= place < mark.end}
