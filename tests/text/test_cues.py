"""Cues: the small words that change what is claimed, and words that mean the opposite."""

import hashlib
import json

import pytest

from everyclaim.text.antonyms import pairs
from everyclaim.text.cues import antonyms, cues
from everyclaim.text.tokens import stem


def read(text):
    return [(cue.kind, cue.text) for cue in cues(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aspirin may reduce pain in most patients.", [("hedge", "may"), ("quantifier", "most")]),
        ("Aspirin reduces pain.", []),
        ("It does not always help.", [("negation", "not"), ("booster", "always")]),
        ("It isn’t clear, they do n't say and can't go.", [("negation", "n’t"), ("negation", "n't"), ("negation", "n't")]),
        ("It fails to work without power.", [("negation", "fails to"), ("negation", "without")]),
        ("If it rains, stay unless it stops.", [("conditional", "If"), ("conditional", "unless")]),
        ("It was larger than the oldest one.", [("comparative", "larger"), ("comparative", "than"), ("comparative", "oldest")]),
        ("No more than 5 dogs", [("comparative", "No more than")]),
        ("There is no doubt.", [("booster", "no doubt")]),
        ("Not only cats", []),
        ("It took about three hours.", [("hedge", "about")]),
        ("It is about cats.", []),
        ("In May 2020 and No. 5", []),
        ("May it rain", [("hedge", "May")]),
        ("It appears to be safe and is believed to work.", [("hedge", "appears to"), ("hedge", "is believed")]),
        ("Only some of the users saw all of it.", [("quantifier", "Only"), ("quantifier", "some of"), ("quantifier", "all of")]),
        ("He dont know and they werent told.", [("negation", "dont"), ("negation", "werent")]),
        ("Above all, 15 in all made an all-time record.", []),
        ("All of it, in all 3 states", [("quantifier", "All of")]),
        ("The notable knot is nothing", [("negation", "nothing")]),
        ("", []),
    ],
)  # fmt: skip
def test_cues_are_found_as_their_longest_reading(text, expected):
    """A phrase counts once; a word that only looks like a cue does not count."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("word", "opposite"),
    [
        ("increased", "decreases"),
        ("rose", "fell"),
        ("bought", "sold"),
        ("imports", "exported"),
        ("before", "after"),
        ("northern", "southern"),
        ("won", "lost"),
        ("allowed", "prohibits"),
        ("includes", "excluding"),
        ("first", "last"),
        ("opened", "closed"),
        ("hot", "cold"),
        ("parents", "children"),
        ("cause", "prevented"),
        ("legal", "illegal"),
        ("approved", "rejected"),
    ],
)
def test_opposites_are_known_in_any_form(word, opposite):
    """Antonyms are found for inflected and irregular forms, in both directions."""
    opposites = {stem(opposite), *(["child"] if opposite == "children" else [])}
    assert opposites & antonyms(word)
    assert any(stem(word) in antonyms(form) for form in (opposite, *opposites))


def test_the_table_of_opposites_is_the_one_the_judges_are_fitted_to() -> None:
    """1,688 pairs; another table is another judge, and is fitted anew."""
    found = list(pairs())
    assert len(found) == 1688
    assert hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16] == "fc7871a8d6231502"
    assert {("decreas", "increas"), ("buy", "sold")} <= {*found, *((b, a) for a, b in found)}
