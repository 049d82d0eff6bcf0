"""Names: found by their shape, compared the way people shorten them."""

import pytest

from everyclaim.text.names import covered, names
from everyclaim.text.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Norling was a Danish botanist who worked in Tarvik, New Jersey.", ["Ada Norling", "Danish", "Tarvik", "New Jersey"]),
        ("The World Health Organization (WHO) said so.", ["World Health Organization", "WHO"]),
        ("In Lisbon, the Arno Tower was built by Gustave Arno's company in March 1889.", ["Lisbon", "Arno Tower", "Gustave Arno"]),
        ("He bought an iPhone 15 and used GPT-4 on Windows 11.", ["iPhone 15", "GPT-4", "Windows 11"]),
        ("Joost van der Meer, Carla da Silva and J. R. R. Holm met.", ["Joost van der Meer", "Carla da Silva", "J. R. R. Holm"]),
        ("the University of Lund and the Bank of England", ["University of Lund", "Bank of England"]),
        ("Department of Health and Human Services", ["Department of Health and Human Services"]),
        ("Smith and Jones met Queen Ingrid II in the U.S. on Monday.", ["Smith", "Jones", "Queen Ingrid II", "U.S."]),
        ("Mr. Smith said the bridge was safe.", ["Smith"]),
        ("Jean-Paul O'Brien’s book", ["Jean-Paul O'Brien"]),
        ("In Norway 5 people died. Apollo 11 landed.", ["Norway", "Apollo 11"]),
        ("AT&T bought Procter & Gamble", ["AT&T", "Procter & Gamble"]),
        ("İpek Ünal lives in Łódź", ["İpek Ünal", "Łódź"]),
    ],
)  # fmt: skip
def test_names_are_found(text, found):
    """People with particles and initials, organisations, acronyms, products with numbers."""
    assert [name.text for name in names(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "Add the flour. Mix well. Bake at 350 degrees F.",
        "The dough rises. Let the dough rise.",
        "Dogs bark; the dogs are loud.",
        "1. Stir the soup\n2. Serve it",
        "5 Ways To Improve Your Sleep Every Night",
        "ada norling was a botanist in tarvik",
        "I think I'm right. It's on Monday in March.",
        "WHAT TO DO WHEN THE BREAD DOES NOT RISE\nwhat to do when the bread does not rise",
        "",
    ],
)
def test_common_words_are_no_names(text):
    """Sentence openings, headings, shouted and lower-cased text, months and pronouns are no names."""
    assert names(text) == []


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("Ada Norling", "Norling", True),
        ("Norling", "Ada Norling", True),
        ("A. Norling", "Ada Norling", True),
        ("Ada Berta Norling", "Ada Norling", True),
        ("Hans Norling", "Ada Norling", False),
        ("World Health Organization", "WHO", True),
        ("WHO", "World Health Organization", True),
        ("USA", "United States of America", True),
        ("U.S.", "United States", True),
        ("Müller", "Muller", True),
        ("Meller", "Müller", False),
        ("Dr. Smith", "Smith", True),
        ("John Smith", "John Brown", False),
        ("New York", "New Jersey", False),
        ("New York", "York", False),
        ("GPT-4", "GPT-3", False),
        ("GPT-4", "GPT4", True),
    ],
)
def test_a_name_is_covered_by_its_shorter_and_longer_forms(name, other, expected):
    """Surnames, initials, acronyms and diacritics are the same name; another spelling or first name is not."""
    assert covered(name, [other]) is expected
    assert covered(name, tokenize(f"it was said that {other} did it")) is expected
