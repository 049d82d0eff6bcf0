"""Why a claim fails: its mode, and the two places that differ, from every kind of judge."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, Difference, FailureMode, JudgedClaim, Label, Passage, Span, Verdict
from everyclaim.core.wire import from_json, to_json
from everyclaim.prompts.forms import template
from everyclaim.prompts.verdicts import KINDS
from everyclaim.testing import ScriptedChat
from everyclaim.verify import judged
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.lexical.verifier import LexicalVerifier
from everyclaim.verify.llm import LlmVerifier
from everyclaim.verify.verdicts import difference

ROOT = Path(__file__).parents[2]
PASSAGES = (
    Passage("care", "The programme takes 35 minutes on the Classica. Never immerse the machine in water."),
    Passage("news", '"Pre-infusion is planned for the summer," said Noor Salewski. A sage model may follow.'),
)
PLAIN = [
    ("The programme takes 45 minutes on the Classica.", FailureMode.TEMPORAL, "45 minutes", "35 minutes"),
    ("According to Ilaria Fenn, pre-infusion is planned for the summer.", FailureMode.WRONG_ATTRIBUTION, "Ilaria Fenn",
     "Noor Salewski"),
]  # fmt: skip


def by_model(claim: str, **said: object) -> JudgedClaim:
    """Judge one claim with a language model that says this."""
    row = {"id": "c1", "quotes": [], "why": "w", "label": "UNSUPPORTED", "mode": "none", "conflict": False} | said
    chat = ScriptedChat(json.dumps({"verdicts": [row]}))
    asked = [Claim("c1", claim, Span(0, len(claim)), claim)]
    return asyncio.run(judged(LlmVerifier(chat), asked, PASSAGES))[0]


def parts(found: JudgedClaim, passages: tuple[Passage, ...] = PASSAGES) -> tuple[str | None, str | None]:
    """Quote the two places that differ."""
    it = found.verdict.difference
    assert it is not None
    texts = {passage.id: passage.text for passage in passages}
    theirs = texts[it.passage_id][slice(*it.passage)] if it.passage_id and it.passage else None
    return found.text[slice(*it.claim)] if it.claim else None, theirs


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize(("claim", "mode", "mine", "theirs"), PLAIN)
def test_the_offline_judges_name_the_mode_and_quote_both_places(
    claim: str, mode: FailureMode, mine: str, theirs: str, judge: str
) -> None:
    """The offsets lie in the claim and in the passage as they were given, and the reason names both sides whole."""
    verifier = EmbeddedVerifier() if judge == "embedded" else LexicalVerifier()
    found = asyncio.run(judged(verifier, [Claim("c1", claim, Span(0, len(claim)), claim)], PASSAGES))[0]
    assert found.verdict.failure_mode is mode
    assert parts(found) == (mine, theirs)
    assert found.verdict.difference is not None
    assert mine in found.verdict.difference.reason
    assert theirs in found.verdict.difference.reason
    assert found.verdict.rationale.startswith(found.verdict.difference.reason)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("There is check-in on Sundays.", "the passage says 'no check-in', the claim affirms it"),
        ("Wi-Fi is free on the Solveig.", "the passage says 'no Wi-Fi', the claim affirms it"),
    ],
)
def test_hyphenated_words_are_quoted_whole(claim: str, said: str) -> None:
    """And nobody says that a passage does not say what it says of something else."""
    text = (
        "There is no check-in on Sundays. Wi-Fi is free in the lounge of the Havfrue. On the Solveig there is no Wi-Fi."
    )
    asked = [Claim("c1", claim, Span(0, len(claim)), claim)]
    found = asyncio.run(judged(EmbeddedVerifier(), asked, [Passage("p1", text)]))[0]
    assert found.verdict.difference is not None
    assert found.verdict.difference.reason.endswith(said)


def test_a_single_failing_word_is_quoted_with_its_phrase() -> None:
    """The word alone would say little."""
    passages = ["The museum opens at 9.", "Guided tours are offered for children."]
    verdict = ec.score(response="The museum is free for children.", passages=passages).claims[0].verdict
    assert verdict.rationale == "not mentioned in the passages: 'free for children'"


@pytest.mark.parametrize(
    ("claim", "passage", "said"),
    [
        ("MV Osprey has a lift from the car deck to deck 3.",
         "MV Halla and MV Brisa have a lift from the car deck to deck 3. MV Osprey has no lift; ask the crew for help.",
         "the passage says 'MV Halla and MV Brisa', the claim says 'MV Osprey'"),
        ("It is free because children under five travel free of charge.",
         "Children aged 5 to 15 pay half fare; under-fives travel free but still need a ticket.",
         "the passages mention under five, but contradict the claim"),
        ("Yes, you get a full refund after the first cancellation.",
         "A cancelled flight is moved to another date free of charge; money is refunded only after three cancellations.",
         "contradicted by the passages: the claim's 'first'"),
        ("Ticket and guide together cost 15 euros.", "The ticket costs 8 euros and the guide 5 euros.",
         "the passages say 8 euros and 5 euros, the claim says 15 euros"),
        ("Visitors may not enter the mill.", "Visitors enter the mill by the front door.",
         "the claim says 'not enter', the passage does not"),
        ("The mill was built without steps.", "The mill was built with steps in 1780.",
         "the claim says 'without steps', the passage does not"),
        ("The office employs 30 people in total.",
         "The office employs 12 engineers and 18 analysts. It opened in 2011.",
         "the passages say 12 and 18, but do not state their sum, 30"),
        ("The pressure in the Swell is 75 mm.",
         "The tuner checks the wind pressure (85 mm for the Great, 72 mm for the Swell) at each visit.",
         "the passage says 72 mm, the claim says 75 mm"),
        ("The bank is directed by Tomasz Wilk.",
         "Henrike Solbakken directs the bank; the engineer in charge is Tomasz Wilk.",
         "the passage says 'Henrike Solbakken', the claim says 'Tomasz Wilk'"),
        ("The winter room sleeps 20 people.",
         "The hut is staffed from 20 June. Outside this time the winter room with 12 places is open.",
         "not stated in the passages: 20 people"),
    ],
)  # fmt: skip
def test_a_reason_is_borne_out_by_the_passage(claim: str, passage: str, said: str) -> None:
    """Only what differs is quoted; both values of a sum are; a number is named with what it counts."""
    assert ec.score(response=claim, passages=[passage]).claims[0].verdict.rationale == said


def test_a_value_in_other_digits_is_mentioned() -> None:
    """Nobody says that the passages do not state two months where they state 2 months."""
    text, asked = "Brie may be frozen for up to 2 months. It becomes crumbly.", "Can I freeze brie?"
    found = ec.score(question=asked, response="Brie can be frozen for up to two months.", passages=[text])
    assert "not stated" not in found.claims[0].verdict.rationale


def test_a_language_models_mode_is_kept_and_its_difference_is_found_when_asked_for() -> None:
    """The model says why; where, is found by who shows the claim."""
    found = by_model(PLAIN[0][0], label="CONTRADICTED", mode="temporal")
    assert found.verdict.failure_mode is FailureMode.TEMPORAL
    assert found.verdict.rationale == "w"
    assert found.verdict.difference is None
    shown = difference(found, PASSAGES)
    assert shown is not None
    assert shown.reason == "the passage says 35 minutes, the claim says 45 minutes"


@pytest.mark.parametrize("mode", ["none", None, "nonsense"])
def test_a_mode_that_a_language_model_does_not_name_is_other(mode: str | None) -> None:
    """Nothing is read into its verdict."""
    found = by_model(PLAIN[0][0], label="CONTRADICTED", mode=mode)
    assert found.verdict.failure_mode is FailureMode.OTHER


def test_the_difference_survives_the_wire_and_old_rows_are_read() -> None:
    """Results stored before there was a difference have none."""
    whole = Difference("passage says 1, claim says 2", Span(0, 1), "p1", Span(3, 4))
    for found in (whole, Difference("no passage says 'x'", Span(2, 3)), None):
        verdict = Verdict("c1", Label.UNSUPPORTED, failure_mode=FailureMode.OTHER, difference=found)
        row = json.loads(json.dumps(to_json(verdict)))
        assert ("difference" in row) == (found is not None)
        assert from_json(Verdict, row, claim_id="c1") == verdict


def test_the_prompt_and_the_docs_name_every_mode() -> None:
    """One list, wherever it is shown."""
    page = (ROOT / "docs" / "reference" / "failure-modes.md").read_text("utf-8")
    assert set(KINDS.values()) == set(FailureMode)
    assert all(re.search(rf"\b{kind}\b", template("verdict")["reply"]) for kind in set(KINDS) - {"other"})
    for mode in FailureMode:
        assert f"| `{mode.value}` |" in page
