"""Nothing hides: what was skipped although it says something is a warning, is counted, and is not validated."""

from __future__ import annotations

import json
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, Decomposition, Result, Skipped, Span
from everyclaim.core.wire import result_from_json, result_to_json

SHELF = ["The kettle is red. It was made in Graz in 2019."]
CLAIM = "The kettle is red."


class Skipping:
    """A decomposer that takes the first sentence as a claim, if it may, and skips the rest for a reason."""

    spec = "skipping"

    def __init__(self, reason: str, *, takes: str = CLAIM) -> None:
        self.reason, self.takes = reason, takes

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        start = len(self.takes) if response.startswith(self.takes) else 0
        claims = (Claim("c1", self.takes, Span(0, start), self.takes),) if start else ()
        rest = response[start:]
        at = start + len(rest) - len(rest.lstrip())
        left = (Skipped(rest.strip(), Span(at, len(response)), self.reason),) if rest.strip() else ()
        return Decomposition(claims, left, abstained=not claims and self.reason == "abstention")


def scored(rest: str, reason: str, *, claim: str = CLAIM, question: str = "") -> Result:
    return ec.score(response=f"{claim} {rest}".strip(), passages=SHELF, question=question, decomposer=Skipping(reason))


SAYS = "a skipped sentence contains a number or a name and was not checked: "


def about_skipped(result: Result) -> list[str]:
    """The warnings that speak of what was skipped, rather than of the language of the answer."""
    return [text for text in result.warnings if "skipped" in text]


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("It was made in Linz.", "meta"),
        ("It holds 2 litres.", "opinion"),
        ("You may drink the descaler made by Acme.", "citation"),
        ("It was made in Linz, not in Graz.", "abstention"),
        ("Hello, it was made in Linz.", "greeting"),
        ("Er wurde 1990 gebaut.", "meta"),
        ("Why did Anna Lind poison the kettle?", "question"),
        ("Shall I tell you about Anna Lind, who designed it?", "question"),
        ("I cannot say when the kettle that killed forty people was made.", "abstention"),
    ],
)
def test_a_skipped_sentence_with_a_number_or_a_name_is_a_warning(rest: str, reason: str) -> None:
    """Whatever the reason that is given; the piece is marked in the result and in its JSON."""
    result = scored(rest, reason)
    assert about_skipped(result) == [SAYS + reason.replace("_", " ")]
    assert [piece.unchecked for piece in result.skipped] == [True]
    assert result_to_json(result)["skipped"][0]["unchecked"] is True
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result


@pytest.mark.parametrize(
    ("rest", "reason", "question"),
    [
        ("I hope this helps!", "meta", ""),
        ("\nSource: Annual Report 2023", "citation", ""),
        ("Would you like to know more about Graz?", "question", ""),
        ("Why did Anna Lind leave Graz?", "question", "Did Anna Lind leave Graz?"),
        ("The kettle of Graz:", "lead_in", ""),
        ("I do not know anything about Linz.", "abstention", ""),
        ("Of Linz in 1990 nothing is known here.", "abstention", "What happened in Linz in 1990?"),
        ("Here is what I found about Linz:", "meta", "What is Linz?"),
        ("Gern geschehen, und viel Erfolg mit der Kanne!", "meta", ""),
    ],
)
def test_what_says_nothing_by_itself_is_no_warning(rest: str, reason: str, question: str) -> None:
    """Marks, headings without a verb, questions, and names that were asked about."""
    assert about_skipped(scored(rest, reason, question=question)) == []


def guarded(response: str, reason: str) -> Any:
    return ec.Guard(None, decomposer=Skipping(reason)).answer("What of the kettle?", SHELF, response=response)


@pytest.mark.parametrize(
    ("response", "reason"),
    [(f"{CLAIM} It was made in Linz.", "meta"), ("It was made in Linz.", "abstention"), ("Ask Acme.", "instruction")],
)
def test_a_guard_does_not_validate_what_was_not_checked(response: str, reason: str) -> None:
    """And says which sentence; nothing is generated anew for it."""
    answer = guarded(response, reason)
    assert not answer.checked
    assert len(answer.attempts) == 1
    assert "not checked" in answer.warnings[0]


@pytest.mark.parametrize(
    ("response", "question", "warned"),
    [
        (f"{CLAIM} **No**", "When was the kettle made?", True),
        (f"{CLAIM} Yes.", "Is the kettle red?", False),  # a claim
        (f"Yes. {CLAIM}", "", False),
    ],
)
def test_a_yes_or_no_that_the_question_does_not_explain_is_a_warning(
    response: str, question: str, warned: bool
) -> None:
    """It says something that was not checked."""
    result = ec.score(response=response, passages=SHELF, question=question)
    assert bool(result.unchecked) is warned
    assert any("yes or no" in text for text in result.warnings) is warned


@pytest.mark.parametrize(
    ("link", "passage", "warned"),
    [
        ("(https://a.example/it-was-recalled-by-acme)", "", True),
        ("[Details](https://a.example/kettles/The%20kettle%20was%20recalled)", "", True),
        ("(https://a.example/kettles)", "", False),
        ("(https://a.example/kettles)", "See https://a.example/recalls.", True),
        ("(https://a.example/it-was-recalled-by-acme)", "From https://a.example/it-was-recalled-by-acme", False),
    ],
)
def test_an_address_that_no_passage_holds_hides_no_words(link: str, passage: str, warned: bool) -> None:
    """One whose words assert something, and any where passages hold others; an address of a passage is a citation."""
    result = ec.score(response=f"{CLAIM[:-1]} {link}.", passages=[*SHELF, passage] if passage else SHELF)
    assert ("a citation refers to no passage" in result.warnings) is warned
    assert result.score == 1.0
