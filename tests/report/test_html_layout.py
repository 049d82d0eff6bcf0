"""Prose, tables and records of a text, with what is marked in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.types import Label
from everyclaim.report.html.layout import Mark, lay_out, quote_at, segments

TABLE = "Prices:\n\n| Model | Price |\n| --- | --- |\n| Piccola | €449 |\n| Doppia | €1,190 |\n\nAll with VAT."


def written(block):
    """All segments of a block, as lines."""
    if block.kind == "record":
        return [(indent, "".join(one.text for one in segments)) for indent, segments in block.lines]
    if block.kind == "table":
        return [["".join(one.text for one in cell) for cell in row] for row in block.rows]
    return "".join(one.text for one in block.segments)


def marked(blocks):
    """The marked text of blocks."""
    found = []
    for block in blocks:
        parts = [
            block.segments,
            *(segments for _, segments in block.lines),
            *(cell for row in block.rows for cell in row),
        ]
        found += [one.text for part in parts for one in part if one.marks]
    return found


def test_a_table_has_rows_and_cells():
    """A pipe table is shown as one, between the prose around it."""
    before, table, after = lay_out(TABLE)
    assert written(before) == "Prices:"
    assert written(table) == [["Model", "Price"], ["Piccola", "€449"], ["Doppia", "€1,190"]]
    assert written(after) == "All with VAT."


def test_markdown_is_shown_as_what_it_stands_for():
    """Emphasis, code and headings have a style and their signs are hidden; links, items and lone signs stay."""
    text = "## How to *return*\n\n**Free** for `a*b*c` and ~~30~~ days.\n- 2 * 3 * 4 at snake_case_name\n- [form](https://x.org)"
    blocks = lay_out(text, [Mark(text.index("**Free"), text.index(" days"), 1, Label.SUPPORTED)])
    parts = [part for block in blocks for part in block.segments]
    assert "".join(part.text for part in parts) == text
    hidden = [part.text for part in parts if "md-sign" in part.style]
    assert hidden == ["## ", "*", "*", "**", "**", "`", "`", "~~", "~~"]
    styled = {part.text: part.style for part in parts if part.style and "md-sign" not in part.style}
    assert styled == {
        "How to ": "md-heading", "return": "md-heading md-em", "Free": "md-strong", "a*b*c": "md-code", "30": "md-del"
    }  # fmt: skip


def test_a_long_passage_is_cut_to_what_stands_around_the_evidence():
    """What is left out is counted, and the evidence is there."""
    text = "word " * 400 + "the needle in it " + "word " * 400
    start = text.index("the needle")
    before, around, after = lay_out(text, [Mark(start, start + 10, 1, Label.SUPPORTED, "evidence")], context=50)
    assert marked([around]) == ["the needle"]
    assert len(written(around)) < 120
    assert before.hidden + len(written(around)) + after.hidden == len(text)
    assert [before.kind, after.kind] == ["cut", "cut"]


def test_no_text_is_without_end():
    """Of a text of two million characters fifty thousand are shown, and the rest is counted."""
    whole, cut = lay_out("word" * 500_000, [Mark(0, 2_000_000, 1, Label.SUPPORTED)])
    assert (len(written(whole)), cut.hidden) == (50_000, 1_950_000)


@given(st.text(alphabet='{}[]:,"\\ab1 \n|-', max_size=60))
def test_no_text_is_lost(text):
    """Whatever looks like a record or a table and is none: every letter and digit is shown, in order."""
    parts = []
    for block in lay_out(text):
        if block.kind == "record":
            parts += [line for _, line in written(block)]
        elif block.kind == "table":
            parts += [cell for row in written(block) for cell in row]
        else:
            parts.append(written(block))
    kept = [one for one in "".join(parts) if one.isalnum()]
    assert kept == [one for one in text if one.isalnum()]


HOURS = {
    "name": 'Bar "Roma"',
    "hours": {"Monday": "9:0-17:0"},
    "tags": ["a", "b"],
    "rows": [{"x": 1}, {"x": 2}],
    "none": {},
}


def test_evidence_in_a_record_is_marked_where_it_stands():
    """Offsets are those of the record as given."""
    text = json.dumps(HOURS)
    start = text.index('"Monday"')
    blocks = lay_out(text, [Mark(start, start + 20, 1, Label.SUPPORTED, "evidence")])
    assert marked(blocks) == ['"Monday": "9:0-17:0"'[:20]]


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


WIDE = "Prices.\n\n| | Piccola | Classica |\n| --- | --- | --- |\n| Price | €449 | €699 |\n| Tank | | 1.8 l |\n\nAll in euro."


@pytest.mark.parametrize(
    ("quote", "told"),
    [
        ("| Price | €449 | €699 |", "Price · Piccola: €449 · Classica: €699"),
        (
            "| Price | €449 | €699 |\n| Tank | | 1.8 l |",
            "Price · Piccola: €449 · Classica: €699; Tank · Classica: 1.8 l",
        ),
        ("€449", "€449"),
        ("Prices.", "Prices."),
    ],
)
def test_a_row_is_quoted_with_the_headings_of_its_columns(quote, told):
    """A row whose items are columns says which item each value is of; other quotes stay as they are."""
    start = WIDE.index(quote)
    assert quote_at(WIDE, start, start + len(quote)) == told
