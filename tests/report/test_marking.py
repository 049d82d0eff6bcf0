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
