"""Tokens, stems and normalised text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.tokens import STOPWORDS, normalise, stem, tokenize

ANY_TEXT = st.text(alphabet=st.characters(), max_size=120)


@pytest.mark.parametrize(
    ("text", "norms"),
    [
        ("Rome has 2.8 million people.", "rome has 2.8 million people"),
        ("It cost $1,000 (20% off)", "it cost $ 1,000 20 % off"),
        ("the 20th of May", "the 20th of may"),
        ("Einstein’s house, it's", "einstein house it"),
        ("They don’t and do n't", "they don't and do n't"),
        ("in the U.S. and USA", "in the us and usa"),
        ("GPT-4 well-known", "gpt 4 well known"),
        ("½ cup of café ﬁsh", "1/2 cup of café fish"),
        ("東京 is big", "東 京 is big"),
        ("O'Brien", "o'brien"),
    ],
)
def test_text_becomes_words_numbers_and_symbols(text, norms):
    """Punctuation is dropped, clitics are cut off, what remains is folded for comparison."""
    assert " ".join(token.norm for token in tokenize(text)) == norms


@given(ANY_TEXT)
def test_tokens_stand_where_they_say(text):
    """Every token is the text at its offsets, in order, without overlap, and never blank."""
    at = 0
    for token in tokenize(text):
        assert at <= token.start < token.end
        assert text[token.start : token.end] == token.text
        assert token.norm
        at = token.end


@given(ANY_TEXT)
def test_normalised_text_keeps_the_way_back(text):
    """There is one offset per character and one past the end, and they never decrease."""
    normal, offsets = normalise(text)
    assert len(offsets) == len(normal) + 1
    assert offsets[-1] == len(text)
    assert all(a <= b for a, b in pairwise(offsets))
    assert "  " not in normal


def test_normalising_folds_what_does_not_change_meaning():
    """Quotes, dashes, case, ligatures, white space and invisible characters do not count."""
    assert normalise("“The\u00a0 ﬁrst”—so\u00adlong\n")[0] == '"the first"-solong '
    assert normalise("cafe\u0301")[0] == normalise("café")[0]


def test_normalising_never_melts_a_fraction_or_exponent_into_a_number():
    """2½ is not 21/2 and 10² is not 102."""
    assert normalise("2½")[0] == "2 1/2"
    assert normalise("10²")[0] == "10^2"


def test_stems_join_forms_of_a_word():
    """Inflected forms share a stem; numbers and short words stay as they are."""
    assert stem("increases") == stem("increased") == stem("increasing")
    assert stem("20th") == "20th"
    assert {"the", "of"} <= STOPWORDS
