"""The synthetic claims: deterministic, with true offsets, and labelled as their making says."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from training.synthesis import edit_names, edit_numbers
from training.synthesis.edits import Pool
from training.synthesis.questions import statement
from training.synthesis.rewrites import REWRITES, detokenized, rounded
from training.synthesis.rows import made, read_mix
from training.synthesis.sources import Document
from training.synthesis.tables import invented, reads, rendered

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
    return list(made(DOCUMENTS, read_mix(MIX), size=300, seed=3))


def test_the_same_seed_gives_the_same_rows(rows):
    """Two runs agree row for row; another seed does not."""
    again = list(made(DOCUMENTS, read_mix(MIX), size=300, seed=3))
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


def test_supported_rows_have_evidence_and_no_errors(rows):
    """What is supported says where it is, and nothing of it is wrong."""
    for row in rows:
        if row["label"] == "SUPPORTED":
            assert row["evidence"], row
            assert not row["errors"]


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


def test_a_document_is_changed_where_the_claim_stays(rows):
    """The claim of an edited document is a sentence of the real one, and its error is not in the edited sentence."""
    originals = {text for document in DOCUMENTS for text in document.texts}
    found = [row for row in rows if row["slice"] in ("number_document", "name_document", "year_document")]
    assert found
    for row in found:
        assert any(row["text"] in text for text in originals)
        assert not any(row["text"] in text for text in row["contexts"])


def test_a_left_out_sentence_is_in_no_passage(rows):
    """The claim's sentence is gone from the contexts of the unsupported row, and there in its twin's."""
    left = [row for row in rows if row["slice"] == "left_out"]
    assert left
    for row in left:
        assert row["label"] == "UNSUPPORTED"
        assert row["text"] not in " ".join(row["contexts"])


def test_labels_keep_to_the_shares_of_the_mix(rows):
    """Close to 45 of 100 rows are supported, whatever the kinds could make."""
    labels = Counter(row["label"] for row in rows)
    assert 0.35 < labels["SUPPORTED"] / len(rows) < 0.55
    assert labels["CONTRADICTED"] > labels["UNSUPPORTED"] / 2


def test_rows_are_plain_json(rows):
    """A row survives being written and read."""
    assert json.loads(json.dumps(rows[0])) == rows[0]


def test_two_names_change_places_only_around_a_verb_with_sides():
    """Beating is not being beaten; meeting is the same either way."""
    pool = Pool("Then Alice Kolbe met Bertil Vance.", ("Alice Kolbe", "Bertil Vance"), ())
    edit = edit_names.role("In 1999 Alice Kolbe defeated Bertil Vance in the final.", pool, random.Random(0))
    assert edit is not None
    assert edit.text == "In 1999 Bertil Vance defeated Alice Kolbe in the final."
    assert [edit.text[s:e] for s, e in edit.errors] == ["Bertil Vance", "Alice Kolbe"]
    assert edit_names.role("In 1999 Alice Kolbe met Bertil Vance in the park.", pool, random.Random(0)) is None


def test_a_bounded_number_is_left_alone():
    """Over 200 follows from over 300, so neither takes the other's place."""
    pool = Pool("", (), ())
    assert edit_numbers.number("The hall holds over 300 people today.", pool, random.Random(1)) is None


@pytest.mark.parametrize(
    ("rewrite", "before", "after"),
    [
        ("parenthesis", "The town (pop. 900) lies on a hill.", "The town lies on a hill."),
        ("connective", "However, the town lies on a hill.", "The town lies on a hill."),
        ("fronted", "In 1989, the town built a new bridge.", "The town built a new bridge in 1989."),
        ("contraction", "They do not open on Sunday.", "They don't open on Sunday."),
        ("digits", "The town has seven bridges today.", "The town has 7 bridges today."),
    ],
)
def test_rewrites_keep_the_meaning(rewrite, before, after):
    """Each rewrite does its one thing."""
    assert REWRITES[rewrite](before, random.Random(0)) == after


def test_rounded_numbers_hold():
    """A rounded claim holds: near for about, below for more than, above for less than."""
    for seed in range(40):
        claim = rounded("The city has 1,234,567 inhabitants in total.", random.Random(seed))
        assert claim is not None
        value = float(claim.split(" million")[0].split()[-1])
        if "more than" in claim or "over" in claim:
            assert value < 1.234567
        elif "less than" in claim or "nearly" in claim:
            assert value > 1.234567
        else:
            assert abs(value - 1.234567) < 0.06


def test_tokenized_text_is_put_together():
    """The spacing of tokenized text goes; plain text stays as it is."""
    assert detokenized("The `` one - year '' plan cost $ 1 , 200 .") == 'The "one-year" plan cost $1,200.'
    assert detokenized("Plain text, with (brackets), stays.") == "Plain text, with (brackets), stays."


def test_questions_become_statements_where_a_pattern_fits():
    """The answer's span in the statement is true; odd questions give nothing."""
    claim, (start, end) = statement("Where was Ivo Kolbe born?", "Arlen")
    assert claim == "Ivo Kolbe was born in Arlen."
    assert claim[start:end] == "Arlen"
    assert statement("Why?", "because of rain") is None


def test_claims_from_tables_agree_with_their_cells():
    """Cells stand where they are said to stand, and right claims name the row and the cell."""
    for seed in range(60):
        rng = random.Random(seed)
        table = invented(rng)
        texts, places = rendered(table, rng)
        for row, spans in zip(table.rows, places, strict=True):
            for cell, (passage, start, end) in zip(row, spans, strict=True):
                assert texts[passage][start:end].strip('"') == cell
        first = reads(table, rng)[0]
        assert first.label == "SUPPORTED"
        assert all(table.rows[r][c].lower() in first.claim.lower() for r, c in first.cells)
