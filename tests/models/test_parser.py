"""The parser that ships: words with their places, and a tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.models.local.parser import parse


def relations(text):
    """Each word's relation and head, by their texts."""
    tokens = parse([text])[0]
    return {(t.text, t.relation, tokens[t.head].text if t.head >= 0 else "") for t in tokens}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The museum opened in 1956.",
            {("museum", "nsubj", "opened"), ("1956", "obl", "opened"), ("opened", "root", "")},
        ),
        ("The bridge was built by Dorman Long.", {("bridge", "nsubj:pass", "built"), ("was", "aux:pass", "built")}),
        ("Aspirin reduces inflammation and lowers fever.", {("lowers", "conj", "reduces"), ("fever", "obj", "lowers")}),
        ("Rome, which is old, is big.", {("old", "acl:relcl", "Rome"), ("Rome", "nsubj", "big")}),
        ("--port N Port to listen on.", {("--", "punct", "Port"), ("port", "root", "")}),  # an arc over the root
    ],
)
def test_who_does_what(text, expected):
    """Relations are those of Universal Dependencies."""
    assert expected <= relations(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It doesn't cost $5.", ["It", "does", "n't", "cost", "$", "5", "."]),
        ("Anna's U.S. trip, 2.8 km", ["Anna", "'s", "U.S.", "trip", ",", "2.8", "km"]),
        (
            "You cannot re-use 1,000 well-known ones",
            ["You", "can", "not", "re-use", "1,000", "well", "-", "known", "ones"],
        ),
    ],
)
def test_words(text, expected):
    """Words are cut as the treebank cuts them."""
    assert [token.text for token in parse([text])[0]] == expected


@given(st.text(max_size=80))
def test_any_text_has_a_tree(text):
    """Every word has its true place and one head, one is the root, and nothing goes in circles."""
    tokens = parse([text])[0]
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert sum(token.head < 0 for token in tokens) == bool(tokens)
    for start in range(len(tokens)):
        place, steps = start, 0
        while tokens[place].head >= 0:
            place, steps = tokens[place].head, steps + 1
            assert steps <= len(tokens)
