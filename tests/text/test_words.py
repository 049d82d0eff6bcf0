"""Words: normalised text, opposites, what a sentence leans on, English without a model, quotes where they stand."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.cues import opposites
from everyclaim.text.locate import locate
from everyclaim.text.tokens import normalise


def test_normalising_folds_what_does_not_change_meaning_and_nothing_else():
    """Quotes, dashes, case, ligatures, white space; never a fraction or an exponent into a number."""
    assert normalise("“The\u00a0 ﬁrst”—so\u00adlong\n")[0] == '"the first"-solong '
    assert normalise("cafe\u0301")[0] == normalise("café")[0]
    assert (normalise("2½")[0], normalise("10²")[0]) == ("2 1/2", "10^2")


def test_the_table_of_opposites_is_the_one_the_judges_are_fitted_to():
    """1,688 pairs; another table is another judge, and is fitted anew."""
    found = [(word, other) for word, others in sorted(opposites().items()) for other in sorted(others) if word < other]
    assert len(found) == 1688
    assert hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16] == "fc7871a8d6231502"
    assert {("decreas", "increas"), ("buy", "sold")} <= {*found, *((b, a) for a, b in found)}


def test_a_slip_is_found_deep_inside_a_long_text():
    """Alignment windows are chosen by the quote's words, so a needle in a megabyte is found."""
    filler = "Nothing of interest happened on that day in the village by the river. " * 8000
    text = filler + "The committee approved the new regulation on offshore drilling near Arlen. " + filler
    found = locate("The comittee aproved the new regulations on offshore drilling near Arlen", text)
    assert found.method == "fuzzy"
    span = text[found.start : found.end]
    assert span == "The committee approved the new regulation on offshore drilling near Arlen"


WORDS = st.lists(st.text(alphabet="abcXYZ019.,-’é \n", min_size=1, max_size=7), min_size=1, max_size=30)


@given(st.data(), WORDS)
def test_any_verbatim_stretch_of_words_is_found_exactly(data, words):
    """Whatever is cut out of a text at white space is found, and what is found reads the same."""
    words = [part for word in words for part in word.split()] or ["a"]
    text = "  ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = "  ".join(words[first : last + 1])
    match = locate(quote, text)
    assert match is not None
    assert match.method == "exact"
    assert text[match.start : match.end] == quote
