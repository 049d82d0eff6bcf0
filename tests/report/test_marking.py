"""A text cut by its marks: nothing lost, nothing doubled, whatever the marks are like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.types import Label
from everyclaim.report.html.marking import Mark, segments

TEXTS = st.text(max_size=40)
OFFSETS = st.integers(-5, 50)
MARKS = st.lists(st.builds(Mark, OFFSETS, OFFSETS, st.integers(1, 5), st.sampled_from(Label)), max_size=8)


@given(TEXTS, MARKS)
def test_segments_join_to_the_text_and_know_what_covers_them(text, marks):
    """Overlapping, nested, empty, reversed and outlying marks alike."""
    found = segments(text, marks)
    assert "".join(one.text for one in found) == text
    for one in found:
        assert text[one.start : one.end] == one.text
        for place in range(one.start, one.end):
            assert set(one.marks) == {mark for mark in marks if mark.start <= place < mark.end}


def test_the_innermost_mark_is_what_a_click_means():
    """A short claim inside a long one is the one that is meant; both are named."""
    outer, inner = Mark(0, 20, 1, Label.SUPPORTED), Mark(4, 9, 2, Label.CONTRADICTED)
    middle = segments("A claim within a claim", [inner, outer])[1]
    assert (middle.text, middle.innermost, middle.claims) == ("aim w", inner, "1 2")


def test_a_claim_comes_before_evidence_under_it():
    """Where a reference's claim found its evidence in the answer, the answer's own claim stays the one to open."""
    claim, evidence = Mark(0, 20, 1, Label.SUPPORTED), Mark(4, 9, 2, Label.SUPPORTED, "evidence")
    assert segments("A claim within a claim", [evidence, claim])[1].innermost is claim


def test_a_window_keeps_the_offsets_of_the_whole():
    """A part of a text is cut with the same marks."""
    found = segments("0123456789", [Mark(2, 5, 1, Label.SUPPORTED)], 3, 8)
    assert [(one.text, one.start, bool(one.marks)) for one in found] == [("34", 3, True), ("567", 5, False)]
