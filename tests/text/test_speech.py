"""Reported speech: the speaker and what was said are kept apart."""

import pytest

from everyclaim.text.speech import reports


def read(text):
    return [(report.speaker, text[slice(*report.content_span)]) for report in reports(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smith said the bridge was safe.", [("Smith", "the bridge was safe")]),
        ("According to the Health Office, smoking kills.", [("the Health Office", "smoking kills")]),
        ("Smoking kills, according to Dr. A. Keller.", [("Dr. A. Keller", "Smoking kills")]),
        ('"The bridge is safe. Really," said Jones, the mayor.', [("Jones", "The bridge is safe. Really")]),
        ("“It is safe,” Jones said.", [("Jones", "It is safe")]),
        ("The bridge was safe, Jones said.", [("Jones", "The bridge was safe")]),
        ("The bridge is safe, said the mayor of Arlen on Monday.", [("the mayor of Arlen", "The bridge is safe")]),
        ("The company announced a merger.", [("The company", "a merger")]),
        ("Mary Holm, a spokeswoman for the agency, told reporters that it would rain.", [("Mary Holm", "it would rain")]),
        ("He told Jones the bridge was safe.", [("He", "the bridge was safe")]),
        ("Researchers found that rats dream. She added salt.", [("Researchers", "rats dream")]),
        ("As Jones said, the bridge is safe.", [("Jones", "the bridge is safe")]),
        ("The mayor attended and Jones said it was safe.", [("Jones", "it was safe")]),
        ("Smith and Jones said it was fine.", [("Smith and Jones", "it was fine")]),
        ("Smith has repeatedly argued that taxes help; critics say they do not.", [("Smith", "taxes help"), ("critics", "they do not")]),
        ("The report stated: “Costs rose. Profits fell.” Nothing else.", [("The report", "Costs rose. Profits fell")]),
        ("It was reported by Jones that the bridge fell.", [("Jones", "the bridge fell")]),
        ("The minister said in a statement that it was over.", [("The minister", "it was over")]),
        ("It is said that cats swim. The claims were false.", []),
        ("The bridge is safe.", []),
        ("Guidelines emphasize that it is no diagnosis.", [("Guidelines", "it is no diagnosis")]),
        ("Pamphlets saying “Leave” were found in the car.", []),
        ("Police found pamphlets thrown into it, written in Urdu, saying “Leave”.", []),
        ("His words, “It is what it is,” suggests a sense of calm.", []),
        ("", []),
    ],
)  # fmt: skip
def test_speaker_and_content_are_read(text, expected):
    """The usual ways of reporting speech each give the noun phrase of the speaker and what was said."""
    assert read(text) == expected


@pytest.mark.parametrize("title", ["Dr", "Hon", "Sgt", "Lt", "Col"])
def test_the_full_stop_of_a_title_ends_no_speaker(title):
    """Every title that is known to one reader of text is known to all."""
    (found,) = reports(f"According to {title}. Miller, the bridge is closed.")
    assert found.speaker == f"{title}. Miller"
