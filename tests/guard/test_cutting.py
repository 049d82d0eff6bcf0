"""Claims are taken out of answers, and what is left are sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.guard import Cut, cut

LISTED = "Here are the facts:\n1. The lamp is red.\n2. The rug is blue.\n\n## Notes\nThe lift is slow. It is quiet."
TABLE = "The sizes.\n\n| part | width |\n|---|---|\n| lid | 2 cm |\n| cup | 9 cm |\n\nThe cup is old."
SENTENCES = [
    "The lamp is red.",
    "It was made in 1950.",
    "However, the rug is blue.",
    "Anna likes tea.",
    "She was born in Oslo.",
]


def without(answer: str, *texts: str) -> Cut | None:
    """Cut the claims that hold one of these texts."""
    claims = ec.extract_claims(answer).claims
    failed = {claim.id for claim in claims if any(text in claim.text for text in texts)}
    assert failed, [claim.text for claim in claims]
    return cut(answer, claims, failed)


@pytest.mark.parametrize(
    ("answer", "failed", "left"),
    [
        ("The lamp is red. The rug is blue. The cup is old.", ["blue"], "The lamp is red. The cup is old."),
        ("The lamp is red. The rug is blue.", ["blue"], "The lamp is red."),
        ("The lamp is red.\n\nThe rug is blue.\n\nThe cup is old.", ["blue"], "The lamp is red.\n\nThe cup is old."),
        (
            "- The lamp is red.\n- The rug is blue.\n- The cup is old.",
            ["blue"],
            "- The lamp is red.\n- The cup is old.",
        ),
        (LISTED, ["red"], LISTED.replace("1. The lamp is red.\n", "")),
        (LISTED, ["red", "blue"], "## Notes\nThe lift is slow. It is quiet."),
        (LISTED, ["slow", "quiet"], LISTED.partition("\n\n## Notes")[0]),
        (TABLE, ["9 cm"], TABLE.replace("| cup | 9 cm |\n", "")),
        (TABLE, ["2 cm", "9 cm"], "The sizes.\n\nThe cup is old."),
    ],
    ids=["middle", "end", "paragraph", "bullet", "number", "whole list", "whole section", "row", "whole table"],
)
def test_a_sentence_goes_with_all_that_only_belongs_to_it(answer: str, failed: list[str], left: str) -> None:
    """Marks, lines, and the heading, lead-in or table head above nothing; what stays is not touched."""
    assert without(answer, *failed) == Cut(left)


@pytest.mark.parametrize(
    ("answer", "failed", "left"),
    [
        ("The lamp was made in 1950 and is 2 m tall.", ["2 m"], "The lamp was made in 1950."),
        ("The lamp was made in 1950 and is 2 m tall [3].", ["2 m"], "The lamp was made in 1950 [3]."),
        ("The lamp was made in 1950 and is 2 m tall.", ["1950"], "The lamp is 2 m tall."),
        ("Marie Curie, who was born in Warsaw, won two prizes.", ["Warsaw"], "Marie Curie won two prizes."),
        ("Marie Curie won two prizes, and she died in 1934.", ["prizes"], "Marie Curie died in 1934."),
    ],
)
def test_of_a_sentence_that_keeps_claims_a_sentence_stays(answer: str, failed: list[str], left: str) -> None:
    """The end is cut off, or what stays is written out."""
    assert without(answer, *failed) == Cut(left)


@pytest.mark.parametrize(
    ("answer", "failed", "left", "clean"),
    [
        ("The lamp is red. However, it is old.", "red", "The lamp is old.", True),
        ("The lamp is red. But the rug is blue.", "red", "The rug is blue.", True),
        ("The lamp is red. Its shade is old.", "red", "The lamp's shade is old.", True),
        ("Marie Curie won a prize. She was born in Warsaw.", "prize", "Marie Curie was born in Warsaw.", True),
        ("The keys are red. They open doors.", "red", "The keys open doors.", True),
        ("The keys are red. It opens doors.", "red", "It opens doors.", False),
        ("The house was built by Bob. He was Danish.", "house", "He was Danish.", False),
        ("It is red. This made it famous in Rome.", "is red", "This made it famous in Rome.", False),
        ("The lamp is old. It is red. It is tall.", "is red", "The lamp is old. It is tall.", True),
    ],
)
def test_what_follows_a_gap_does_not_hang_in_the_air(answer: str, failed: str, left: str, clean: bool) -> None:
    """A pronoun gets its subject back, where that is sure; where it is not, the cut is not clean."""
    assert without(answer, failed) == Cut(left, clean)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8), st.data())
def test_nothing_that_failed_is_left_and_nothing_else_gets_lost(parts: list[str], data: st.DataObject) -> None:
    """Sentence by sentence, whatever the order: facts that failed are gone, the others are there as often as before."""
    answer = " ".join(parts)
    claims = ec.extract_claims(answer).claims
    failed = data.draw(st.sets(st.sampled_from([claim.id for claim in claims])))
    found = cut(answer, claims, failed)
    facts = ["red", "1950", "blue", "tea", "Oslo"]
    kept = [claim.text for claim in claims if claim.id not in failed]
    assert (found is None) == (not kept)
    if found:
        assert [found.text.count(fact) for fact in facts] == [sum(fact in text for text in kept) for fact in facts]
