"""Sentences that point back to what was said before."""

import pytest

from everyclaim.text.anaphora import leaned_on, leans, points


@pytest.mark.parametrize(
    "text",
    ["It is red.", "They were built.", "However, she left.", "In addition, this helps.", "Its bakers had a guild."],
)
def test_a_beginning_that_points_back_is_seen(text):
    """Also behind a linking word."""
    assert leans(text)
    assert points(text)


def test_what_is_leaned_on_is_the_nearest_sentence_that_stands():
    """Its names, else its first content words; nothing before the first."""
    texts = [
        "It began.",
        "Lebkuchen comes from Nuremberg.",
        "It is sweet.",
        "It keeps.",
        "Rye flour is dark.",
        "They mill it.",
    ]
    found = list(leaned_on(texts))
    assert found[0] == found[1] == found[4] == ""
    assert "Nuremberg" in found[2]
    assert found[2] == found[3]
    assert "rye" in found[5].lower()
