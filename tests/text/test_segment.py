"""Blocks and sentences with true offsets."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.segment import blocks, sentences


def read(text, language="en"):
    return [text[found.start : found.end] for found in sentences(text, language)]


def kinds(text):
    return [(found.kind, text[found.start : found.end]) for found in blocks(text)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It weighs 900 g.", "It was made in 1990."),
        ("The tank holds 5 l.", "The pump is new."),
        ("Heat to 93 °C.", "This takes a minute."),
        ("The part costs 3 euros per cm.", "It is steel."),
    ],
)
def test_a_unit_at_the_end_ends_its_sentence(first, second):
    """`900 g.` is neither an initial nor an abbreviation."""
    assert read(f"{first} {second}") == [first, second]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Marsh met Prof. Lane at noon.",
        "Use soft fruit, e.g. ripe plums.",
        "She moved to the U.S. Army base.",
        "The trail is approx. 5 km long.",
        "It stands at No. 5 Mill Lane.",
        "The valve is shown in Fig. 2 below.",
        "The tank holds 2.8 litres.",
        "The book by J. R. Lane sold well.",
        "See Vol. 3, pp. 5-7 for the plan.",
        "It opened on Jan. 5 at the pier.",
        "They met at St. Mark's Square.",
        "He stopped (why? nobody knows) and left.",
        "This line is wrapped\nover two lines.",
    ],
)
def test_one_sentence_stays_one(text):
    """Abbreviations, initials, decimals, brackets and wrapped lines end no sentence."""
    assert read(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained... Then it stopped.", ["It rained...", "Then it stopped."]),
        ("The pier is long .  It is old .", ["The pier is long .", "It is old ."]),
        ("`` It is late . '' He went home .", ["`` It is late . ''", "He went home ."]),
        ('"Stop!" she cried. He went on.', ['"Stop!" she cried.', "He went on."]),
        ("(This is a note.) The text goes on.", ["(This is a note.)", "The text goes on."]),
        ('"The pier opened. The mayor spoke."', ['"The pier opened.', 'The mayor spoke."']),
        ("Is it open? Yes! It is.", ["Is it open?", "Yes!", "It is."]),
        ("They live in the U.S. The house is old.", ["They live in the U.S.", "The house is old."]),
    ],
)
def test_sentences_are_split(text, expected):
    """Ellipses, tokenised text, quotes and brackets do not hide a boundary."""
    assert read(text) == expected


@pytest.mark.parametrize("mark", ["[1]", "[2, 3]", "[1][2]", "[4-6]", "(1)"])
def test_citation_stays_with_the_sentence_before(mark):
    """A citation mark after the full stop belongs to the sentence it supports."""
    assert read(f"The pier is long. {mark} It is old.") == [f"The pier is long. {mark}", "It is old."]
    assert read(f"It is old. {mark}") == [f"It is old. {mark}"]


def test_other_languages_have_their_own_full_stops():
    """The language chooses sentencex's rules; ideographic full stops end sentences."""
    assert read("桥很长。它很旧。", "zh") == ["桥很长。", "它很旧。"]
    assert read("पुल लंबा है। यह पुराना है।", "hi") == ["पुल लंबा है।", "यह पुराना है।"]
    assert read("Er wohnt z.B. in Ulm. Es ist alt.", "de") == ["Er wohnt z.B. in Ulm.", "Es ist alt."]


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


def test_a_fence_left_open_hides_nothing():
    """Text behind an unclosed code fence is read as text."""
    assert ("paragraph", "The pier is long.") in kinds("```\n\nThe pier is long.")


def test_short_lines_without_full_stop_stand_alone():
    """An address or a list of facts without bullets is not glued into one sentence."""
    assert read("Name: Ada\nCity: Ulm") == ["Name: Ada", "City: Ulm"]


def test_wild_characters_keep_offsets_true():
    """NUL, lone surrogates, emoji and right-to-left text neither crash nor shift offsets."""
    assert read("\x00 The pier \ud800 is long. 😀 It is old. الجسر قديم. انتهى.") == [
        "\x00 The pier \ud800 is long.",
        "😀 It is old.",
        "الجسر قديم.",
        "انتهى.",
    ]


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
