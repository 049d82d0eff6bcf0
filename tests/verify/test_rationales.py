"""The reason of a verdict says nothing false about the passages, and reads well."""

from __future__ import annotations

import pytest

import everyclaim as ec

HEAP = (
    "--max-old-space-size=SIZE (in MiB): sets the max memory size of V8's old memory section. On a machine with 2 GiB of "
    "memory, consider setting this to 1536. Set via NODE_OPTIONS."
)
WHEEL = (
    "AMM TASK 32-41-11-400-801. Install the wheel. Tighten the axle nut to 180 lb-ft (244 N.m) while you turn the wheel. "
    "Loosen the nut. Tighten again to 75 lb-ft (102 N.m). Do an inspection every 600 flight hours or 12 months, "
    "whichever comes later."
)


def reason(claim: str, *passages: str) -> str:
    return ec.verify_claims(claim, list(passages))[0].verdict.rationale


@pytest.mark.parametrize(
    ("claim", "passage", "wanted"),
    [
        ("The tank holds 2 litres.", "It is red. The tank holds 2 litres.", "supported by: «The tank holds 2 litres.»"),
        ("The tank holds 3 litres.", "The tank holds 2 litres.", "the passage says 2 litres, the claim says 3 litres"),
        ("A courier collects it.", "The tank holds 2 litres.", "not mentioned in the passages: 'courier'"),
    ],
)
def test_a_reason_quotes_the_support_or_says_what_differs(claim: str, passage: str, wanted: str) -> None:
    """It never speaks of shares of words, nor lists small words that are missing."""
    assert reason(claim, passage).startswith(wanted)


def test_no_word_is_said_to_be_missing_that_a_passage_holds() -> None:
    """The text 5000mAh holds its number, and a record its keys, however they are cut into words."""
    record = '{"order_id": 10023, "items": [{"sku": "A1", "qty": 2, "price": 49.99}], "currency": "USD"}'
    said = reason("Order 10023 contains 3 items and costs 149.97 USD in total.", record)
    assert "'items'" not in said
    assert "'5000'" not in reason("电池容量为5000毫安时。", "电池：5000mAh。")


def test_a_word_that_the_reason_names_already_is_not_named_again() -> None:
    """Every word is said to be missing once."""
    said = reason(
        "It interacts with warfarin.", "Adults take 1 tablet every 4 to 6 hours, not more than 8 in 24 hours."
    )
    assert said.count("'warfarin'") == 1
    assert "It interacts with warfarin" not in said


def test_lone_letters_of_an_abbreviation_are_not_listed_as_words() -> None:
    """What is left of "w/o" tells nothing."""
    said = reason("Do not exceed 3 days w/o advice.", "Consult a doctor if symptoms persist for more than 3 days.")
    assert "'o'" not in said
    assert "'w'" not in said


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


def test_a_negation_of_the_very_words_stays_a_reason() -> None:
    """Silence about it would hide why the claim fails."""
    said = reason(
        "The case is waterproof and costs 20 euros in Leeds.", "The case is not waterproof. It costs 25 euros."
    )
    assert "'not'" in said


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


def test_a_script_without_blanks_is_quoted_by_the_claim_and_not_by_the_letter() -> None:
    """One character of Chinese is no word that could be missing."""
    said = reason(
        "公司成立于二〇一〇年，总部位于深圳。", "本产品自购买之日起享受24个月保修。公司于2012年成立，总部设在深圳。"
    )
    assert "'一'" not in said
    assert "'〇'" not in said


def test_whichever_comes_first_is_no_number() -> None:
    """The order of two limits is not a value that a passage has to state."""
    said = reason(
        "The inspection interval is 600 FH or 12 months, whichever occurs first.",
        WHEEL,
    )
    assert "states first" not in said


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
