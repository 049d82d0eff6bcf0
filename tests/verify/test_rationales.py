"""The reason of a verdict says nothing false about the passages, and reads well."""

from __future__ import annotations

import pytest

import everyclaim as ec

HEAP = (
    "--max-old-space-size=SIZE (in MiB): sets the max memory size of V8's old memory section. On a machine with 2 GiB of "
    "memory, consider setting this to 1536. Set via NODE_OPTIONS."
)


def reason(claim: str, *passages: str) -> str:
    return ec.verify_claims(claim, list(passages))[0].verdict.rationale


@pytest.mark.parametrize(
    ("claim", "passage", "wanted"),
    [
        ("The tank holds 2 litres.", "It is red. The tank holds 2 litres.", "supported by: «The tank holds 2 litres.»"),
        ("The tank holds 3 litres.", "The tank holds 2 litres.", "the passage says 2 litres, the claim says 3 litres"),
        (
            "A courier collects it.",
            "The tank holds 2 litres.",
            "not mentioned in the passages: 'A courier collects it'",
        ),
        (
            "Clean it once a week.",
            "Clean it once a month.",
            "the passage says once a month, the claim says once a week",
        ),
        ("It is open until 18 on Sundays.", "It is open Mon-Fri 7-21, Sat/Sun: 9-18.", "supported by: «It is open"),
        (
            "The tower of Skarv lighthouse is 31 metres tall.",
            "Skarv lighthouse stands on the western skerry. Its round tower is 31 metres tall.",
            "supported by: «Its round tower is 31 metres tall.»",
        ),
    ],
)
def test_a_reason_quotes_the_support_or_says_what_differs(claim: str, passage: str, wanted: str) -> None:
    """It never speaks of shares of words, nor lists small words that are missing."""
    assert reason(claim, passage).startswith(wanted)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Dogs may not enter the hut.", "Dogs are not allowed in the hut."),
        ("Guests may not smoke in the rooms.", "Smoking is forbidden in the rooms."),
        ("Guests may smoke in the rooms.", "Smoking is forbidden in the rooms."),
    ],
)
def test_may_is_no_doubt_where_the_other_side_forbids(claim: str, passage: str) -> None:
    """Nor is a ban said to be missing where a word such as "forbidden" states it."""
    said = reason(claim, passage)
    assert "certain" not in said
    assert "the passage does not" not in said


def test_no_word_is_said_to_be_missing_that_a_passage_holds() -> None:
    """The text 5000mAh holds its number, and a record its keys, however they are cut into words."""
    record = '{"order_id": 10023, "items": [{"sku": "A1", "qty": 2, "price": 49.99}], "currency": "USD"}'
    said = reason("Order 10023 contains 3 items and costs 149.97 USD in total.", record)
    assert "'items'" not in said
    assert "'5000'" not in reason("电池容量为5000毫安时。", "电池：5000mAh。")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The method allows $5 per square foot, up to 300 square feet, i.e. a maximum of $1,500.",
            "The method is $5/sq. ft. of the portion used, not exceeding 300 sq. ft.",
        ),
        (
            "A Classica costs €699, and the Macina is reduced when you order it with a machine.",
            "No machine includes a grinder. The Macina grinder costs €189, or €159 when ordered together with a machine.",
        ),
    ],
)
def test_a_negation_is_a_reason_only_where_it_denies_what_the_other_side_says(claim: str, passage: str) -> None:
    """Words such as "not exceeding" deny nothing of "up to", and "no machine includes" nothing of a price."""
    assert "the claim does not" not in reason(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("--max-old-space-size=4096 sets V8's heap to 4 GB (4096 MiB).", HEAP),
        ('Set `NODE_OPTIONS="--max-old-space-size=8192"`.', HEAP),
        ("Lift out the battery; it weighs 14.5 kg.", "To replace the battery: undo the four M6 bolts of the cover."),
    ],
)
def test_what_is_quoted_has_whole_brackets_and_no_stray_punctuation(claim: str, passage: str) -> None:
    """A quoted stretch begins and ends with a word, and closes what it opens."""
    said = reason(claim, passage)
    assert said.count("(") == said.count(")")
    assert "'; it" not in said
    assert "`'" not in said


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Il contratto è stato firmato il 3 marzo 2021.", "Il contratto è stato firmato il 03/03/2021."),
        ("Der Vertrag endet am 3. März 2021.", "Der Vertrag endet am 03.03.2021."),
        ("El contrato termina el 3 de marzo de 2021.", "El contrato termina el 03/03/2021."),
        ("Le contrat se termine le 1er février 2021.", "Le contrat se termine le 01/02/2021."),
        ("The bank cut its rate by 25bp in June.", "In June the bank cut its rate by 25 basis points."),
    ],
)
def test_an_equal_date_or_unit_in_another_spelling_is_never_the_reason(claim: str, passage: str) -> None:
    """Months of other languages and "bp" are read as what they are."""
    verdict = ec.verify_claims(claim, [passage])[0].verdict
    assert verdict.label == "SUPPORTED", verdict.rationale
