"""Tokens, stems and normalised text."""

import pytest

from everyclaim.text.tokens import normalise, tokenize


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


def test_normalising_folds_what_does_not_change_meaning():
    """Quotes, dashes, case, ligatures, white space and invisible characters do not count."""
    assert normalise("“The\u00a0 ﬁrst”—so\u00adlong\n")[0] == '"the first"-solong '
    assert normalise("cafe\u0301")[0] == normalise("café")[0]


def test_normalising_never_melts_a_fraction_or_exponent_into_a_number():
    """2½ is not 21/2 and 10² is not 102."""
    assert normalise("2½")[0] == "2 1/2"
    assert normalise("10²")[0] == "10^2"
