"""The parser that ships: words with their places, and a tree."""

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.models.local.parser import parse


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
