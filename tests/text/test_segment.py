"""Blocks and sentences with true offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.segment import blocks, sentences


def kinds(text):
    return [(found.kind, text[found.start : found.end]) for found in blocks(text)]


def test_layout_is_read_into_blocks():
    """Headings, paragraphs, items, rows, code and quotes are told apart and lose their markers."""
    text = (
        "# Plan\n\nFirst line\ngoes on.\n\n- one\n  more\n2. two\n(a) three\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n> said\n> so\n\n**Notes**\n\nEnd\n===\n***\nLast."
    )
    assert kinds(text) == [
        ("heading", "Plan"),
        ("paragraph", "First line\ngoes on."),
        ("item", "one\n  more"),
        ("item", "two"),
        ("item", "three"),
        ("table_row", "| a | b |"),
        ("table_row", "| 1 | 2 |"),
        ("code", "```py\nx = 1\n```"),
        ("quote", "said\n> so"),
        ("heading", "**Notes**"),
        ("heading", "End"),
        ("paragraph", "Last."),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["The pier is long [1]. ", "( . ", "> x\n", "- a\n", "```\n", "|-", '" ', "A. ", "`", "'"]
)
def test_huge_text_is_read(piece):
    """A megabyte of anything is segmented; the work is linear."""
    text = piece * (1_000_000 // len(piece))
    found = sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(found))


LAYOUT = st.text(alphabet="aB. \n\r?!|-#>*`\"'()[]1:,“”\t\x00\ud800😀é。", max_size=80)


@given(st.one_of(st.text(max_size=200), LAYOUT))
def test_spans_are_true_ordered_and_trimmed(text):
    """Any text in: trimmed, ordered, non-overlapping, non-empty spans out."""
    last = 0
    for found in sentences(text):
        piece = text[found.start : found.end]
        assert piece
        assert piece == piece.strip()
        assert last <= found.start < found.end <= len(text)
        last = found.end


@given(st.text(alphabet='aBé. \n?!-*`"“”\t\x00😀。', max_size=80))
def test_nothing_readable_is_lost(text):
    """Every letter of the text stands in a sentence; only markers and rules are dropped."""
    covered = set()
    for found in sentences(text):
        covered.update(range(found.start, found.end))
    assert all(index in covered for index, character in enumerate(text) if character.isalpha())
