"""Finding a quote in a text: always a true span, never one that says something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.text.locate import locate

PASSAGE = (
    "The bridge was built in 1889 by “Gustave Arno” ( an engineer ) . It 's not safe , said Jones . The tower is 330 "
    "metres tall and was repaired in 1,000 days. Smith did n't attend—the ﬁnal meeting. It was a party for art. "
    "Over the years, the **old** harbour has been used as a fish market, a customs house and a museum of ships."
)


def quoted(quote, text=PASSAGE, **options):
    match = locate(quote, text, **options)
    return None if match is None else (text[match.start : match.end], match.method)


@pytest.mark.parametrize(
    ("quote", "span", "method"),
    [
        ("built in 1889", "built in 1889", "exact"),
        ("THE  bridge was\nbuilt", "The bridge was built", "normalised"),
        ('by "Gustave Arno" (an engineer).', "by “Gustave Arno” ( an engineer ) .", "normalised"),
        ("It's not safe, said Jones", "It 's not safe , said Jones", "normalised"),
        ("Smith didn't attend - the final meeting", "Smith did n't attend—the ﬁnal meeting", "normalised"),
        ("the old harbour", "the **old** harbour", "normalised"),
        ("“The bridge was built in 1889.”", "The bridge was built in 1889", "normalised"),
        ("art", "art", "exact"),
        ("the bridge was buit in 1889 by Gustav Arno", "The bridge was built in 1889 by “Gustave Arno", "fuzzy"),
        ("the tower was 330 metres tall", "The tower is 330 metres tall", "fuzzy"),
        ("Over the years ... a fish market", "Over the years, the **old** harbour has been used as a fish market", "normalised"),
        ("harbour has been used as […] a museum of ships.", "harbour has been used as a fish market, a customs house and a museum of ships", "normalised"),
    ],
)  # fmt: skip
def test_a_quote_is_found_where_it_stands(quote, span, method):
    """White space, case, quotes, dashes, spacing, emphasis, ellipses and small slips do not hide a quote."""
    assert quoted(quote) == (span, method)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "  ",
        "The tower is 331 metres tall",
        "The tower is 30 metres tall",
        "000 days",
        "It's safe, said Jones",
        "It's ... safe",
        "said Keller. The tower is 330 metres tall",
        "the tower is not 330 metres tall",
        "repaired in two thousand days",
        "An entirely different statement about something else",
    ],
)
def test_what_the_text_does_not_say_is_not_found(quote):
    """A changed number, name or negation is not a near match, and an empty quote is nowhere."""
    assert locate(quote, PASSAGE) is None


def test_a_slip_is_found_deep_inside_a_long_text():
    """Alignment windows are chosen by the quote's words, so a needle in a megabyte is found."""
    filler = "Nothing of interest happened on that day in the village by the river. " * 8000
    text = filler + "The committee approved the new regulation on offshore drilling near Arlen. " + filler
    span, method = quoted("The comittee aproved the new regulations on offshore drilling near Arlen", text)
    assert method == "fuzzy"
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


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The kettle is blue", "The kettle is red. It holds 2 litres."),
        ("the bridge was opened by miners", "In spring the bridge was opened by monks."),
        ("sold the old mill to farmers", "They sold the old mill to neighbours."),
    ],
)
def test_a_short_quote_with_another_word_is_another_quote(quote: str, text: str) -> None:
    """Five words out of six are alike in most of their letters, and say something else."""
    assert locate(quote, text) is None
