"""The synthetic claims: deterministic, with true offsets, and labelled as their making says."""

from collections import Counter
from pathlib import Path

import pytest
from training.synthesis.rows import made, read_mix
from training.synthesis.sources import Document

MIX = Path(__file__).parents[2] / "training" / "synthesis" / "mix.toml"
TOWNS = ("Arlen", "Morwick", "Redmoor", "Skelby", "Thornbury", "Wexmoor", "Kelbrook", "Grenvik")


def _document(number: int) -> Document:
    town, other = TOWNS[number % 8], TOWNS[(number + 3) % 8]
    bridge = (
        f"The bridge of {town} was opened on 4 May {1900 + number} by the engineer Ivo Kolbe. It is {120 + number} metres "
        f"long and more than {30 + number} percent of the traffic of the county crosses it. Many of the workers came from "
        f"{other} because the wages were higher there. He said that the bridge may need repairs before the winter."
    )
    museum = (
        f"The museum of {town}, which stands near the river, holds {2000 + 7 * number} paintings and 12 statues. In "
        f"{1950 + number}, the city of {other} sold the building to {town} for $3.5 million. Selma Marsh was its first "
        f"director, and she was followed by Nilo Vance. The museum does not open on Monday, but all of the gardens do."
    )
    return Document(
        f"town-{number}", "xquad", (bridge, museum), f"How long is the bridge of {town}?", (f"{120 + number} metres",)
    )


DOCUMENTS = [_document(number) for number in range(16)]


@pytest.fixture(scope="module")
def rows():
    return list(made(DOCUMENTS, read_mix(MIX), size=150, seed=3))


def test_the_same_seed_gives_the_same_rows(rows):
    """Two runs agree row for row; another seed does not."""
    again = list(made(DOCUMENTS, read_mix(MIX), size=150, seed=3))
    assert again == rows
    assert list(made(DOCUMENTS, read_mix(MIX), size=60, seed=4)) != rows[:60]


def test_spans_lie_inside_what_they_point_into(rows):
    """Evidence lies in a passage, errors lie in the claim, and passages are few and short enough."""
    for row in rows:
        assert 1 <= len(row["contexts"]) <= 12
        assert sum(map(len, row["contexts"])) <= 6000
        for place in row["evidence"]:
            piece = row["contexts"][place["passage"]][place["start"] : place["end"]]
            assert piece
            assert piece == piece.strip()
        for start, end in row["errors"]:
            assert 0 <= start < end <= len(row["text"])


def test_the_marked_piece_is_what_the_evidence_does_not_say(rows):
    """A changed number, name or date is marked, and stands nowhere in the sentence it conflicts with."""
    seen = Counter()
    for row in rows:
        if row["slice"] in ("number", "year", "name", "percent", "unit", "date"):
            place = row["evidence"][0]
            sentence = row["contexts"][place["passage"]][place["start"] : place["end"]]
            (start, end), seen[row["slice"]] = row["errors"][0], seen[row["slice"]] + 1
            assert row["label"] == "CONTRADICTED"
            assert row["text"][start:end] not in sentence.replace(",", " ").split()
    assert seen["number"] > 1
    assert seen["name"] > 1
