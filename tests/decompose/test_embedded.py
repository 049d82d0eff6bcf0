"""The embedded decomposer: where claims stand, and lists and tables. Single texts: `benchmarks/accuracy/readings.py`."""

import asyncio
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.decompose.embedded import EmbeddedDecomposer


def decompose(text, question="", **options):
    return asyncio.run(EmbeddedDecomposer(**options).decompose(text, question=question))


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Does the warranty cover rust?", "**No**\n\nThanks!", "The warranty does not cover rust."),
        ("Can I return the pump I bought in 2019?", "Yes!", "You can return the pump you bought in 2019."),
        ("Can I pay on the boat?", "You can.", "You can pay on the boat."),
        ("Can I buy the bran for my hens?", "No.", "You cannot buy the bran for your hens."),
        ("Does it have a lift?", "It doesn't.", "It does not have a lift."),
    ],
)
def test_a_lone_yes_or_no_is_what_it_says_to_the_users_question(question, answer, said):
    """With the question it is a statement, and the check of splits knows that; without one it says nothing."""
    found = ec.extract_claims(answer, question=question)
    assert [claim.text for claim in found.claims] == [said]
    assert found.kept_whole == 0
    assert not ec.extract_claims(answer, question="How long does it take?").claims


def test_list_items_keep_their_lead_in():
    """A fragment is completed by the lead-in; a full sentence stands alone with the lead-in as context."""
    found = decompose(
        "The symptoms include:\n- fever\n- a dry cough [1]\n\nThe battery has two modes:\n1. Eco saves power.\n2. Turbo"
    )
    assert [claim.text for claim in found.claims] == [
        "The symptoms include fever",
        "The symptoms include a dry cough",
        "The battery has two modes:",
        "Eco saves power.",
        "The battery has two modes: Turbo",
    ]
    assert found.claims[3].sentence == "The battery has two modes:\nEco saves power."
    assert [piece.reason for piece in found.skipped] == ["lead_in"]


def test_table_rows_are_read_with_their_header():
    """Each cell is a claim that names its row and column; the header and the ruling are not claims."""
    found = decompose("| Plan | Price | Users |\n|---|---|---|\n| Basic | $5 | 3 |\n| Pro | **$9** | |")
    assert [claim.text for claim in found.claims] == [
        "Plan: Basic; Price: $5.",
        "Plan: Basic; Users: 3.",
        "Plan: Pro; Price: $9.",
    ]
    assert found.claims[0].sentence == "| Plan | Price | Users |\n| Basic | $5 | 3 |"
    assert [piece.reason for piece in found.skipped] == ["table_header"]


def test_nested_items_keep_what_they_stand_under():
    """An item goes with what it stands under; a statement above stays a statement of its own."""
    found = decompose(
        "- Dose, adults: 5 mg\n- Dose, children\n  - under 6: none\n  - over 6:\n    * 2 mg a day\n"
        "- The kit has two parts.\n  - a pump\n- The tank is red."
    )
    assert [claim.text for claim in found.claims] == [
        "Dose, adults: 5 mg",
        "Dose, children: under 6: none",
        "Dose, children: over 6: 2 mg a day",
        "The kit has two parts.",
        "The kit has two parts: a pump",
        "The tank is red.",
    ]
    assert found.claims[1].sentence == "Dose, children\nunder 6: none"
    assert found.claims[4].sentence == "The kit has two parts.\na pump"
    assert [(piece.reason, piece.text) for piece in found.skipped] == [
        ("lead_in", "Dose, children"),
        ("lead_in", "over 6:"),
    ]


def test_items_that_are_no_sentence_say_what_they_are_of():
    """A fragment is said behind its heading; an instruction needs none."""
    found = decompose(
        "### Removed\n- Support for Lumen 3\n- Do not charge it.\n\nPets you may keep:\n- a cat that is older than a year",
    )
    assert [claim.text for claim in found.claims] == [
        "Removed: Support for Lumen 3",
        "Do not charge it.",
        "Pets you may keep: a cat that is older than a year",
    ]


def test_markup_and_citations_are_not_part_of_the_claim():
    """Claim text is free of emphasis, links and citation marks; spans and sentences stay verbatim."""
    text = "The **pier** is [long](https://example.org) [2]."
    (claim,) = decompose(text).claims
    assert claim.text == "The pier is long."
    assert claim.sentence == text == text[slice(*claim.span)]


def test_span_is_the_clause_and_sentence_its_parent():
    """Offsets point at the clause's own words; ids count in order."""
    text = "Hi! The law was passed in 1990 and signed by the president."
    first, second = decompose(text).claims
    assert (first.id, second.id) == ("c1", "c2")
    assert text[slice(*first.span)] == "The law was passed in 1990"
    assert text[slice(*second.span)] == "signed by the president"
    assert first.sentence == second.sentence == text[4:]


# fmt: off
PARTS = st.lists(st.sampled_from([
    "Ada Lind", "the pier", "it", "they", "was built", "in 1900", "3 May 1990", "and", "or", "but", "not", ",", ";", ".",
    "who", "which", "has 2.8 km", "moved", "to Rome", "is a town", "sold by", "including", "such as", "with", "of", "&",
    "\n- ", "\n\n", '"', "(", ")", "[1]", "**", "|", ":", "?", "# ", "-", "said", "that",
]), max_size=40).map(" ".join)
# fmt: on


@given(st.one_of(st.text(max_size=200), PARTS), st.sampled_from(["high", "low"]), st.sampled_from(["high", "low"]))
@example("A, who is, is, and is; is.", "low", "high")
@example("(A was) [B is] (C) a b c d e", "low", "low")
@example("|a|b|\n|-|-|\n|\ud800|\x00|", "high", "high")
@example("aaa¹¹", "high", "high")
@example("i\x1b008K\x1bK0˒", "high", "high")
@example("【1†a】ﬁ: a と.", "low", "high")
@example("The dose recapitulates the loss of neurons and reduced motor function ().", "low", "high")
@example("Keep off the southern jetty, which is the anglers'.", "high", "high")
def test_any_text_gives_true_spans_and_no_lies(text, coverage, atomicity):
    """In time. Spans are inside, ordered and not empty; a claim's numbers and words stand in its sentence."""
    found = decompose(text, coverage=coverage, atomicity=atomicity)
    assert [claim.id for claim in found.claims] == [f"c{n}" for n in range(1, len(found.claims) + 1)]
    assert [claim.span.start for claim in found.claims] == sorted(claim.span.start for claim in found.claims)
    for claim in found.claims:
        assert claim.text.strip()
        assert 0 <= claim.span.start < claim.span.end <= len(text)
        word = r"[^\W_⁰¹²³⁴-⁹]+"  # underscores are marks of emphasis, raised numbers may be those of notes
        words = set(re.findall(word, claim.sentence.lower()))
        assert set(re.findall(word, claim.text.lower())) <= words | {"is", "was", "a", "an"}
    for piece in found.skipped:
        assert text[slice(*piece.span)] == piece.text
