"""The decomposer that is a language model: every sentence accounted for, every claim checked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Decomposition, Usage
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.prompts.split import SplitPrompt
from everyclaim.testing import ScriptedChat, play, request_data

ANSWER = "The kettle holds 1.7 litres and weighs 900 grams. It was made in Graz. Do you need more?"


def split(rows: dict[str, Any]) -> str:
    """Write a reply: a list of claims, or the reason to skip."""
    sentences = [
        {
            "id": key,
            "claims": value if isinstance(value, list) else [],
            "skip": "none" if isinstance(value, list) else value,
        }
        for key, value in rows.items()
    ]
    return json.dumps({"sentences": sentences})


GOOD = {
    "s1": ["The kettle holds 1.7 litres.", "The kettle weighs 900 grams."],
    "s2": ["The kettle was made in Graz."],
    "s3": "question",
}


def run(chat: ScriptedChat, response: str = ANSWER, question: str = "", **options: Any) -> Decomposition:
    return asyncio.run(LlmDecomposer(chat, **options).decompose(response, question=question))


def claims(parts: Decomposition) -> list[str]:
    return [claim.text for claim in parts.claims]


def cut(text: str = '{"sentences": [{"id": "s1", "cla') -> ChatReply:
    return ChatReply(text, "length", "m", Usage(1, 10, 10))


def test_claims_come_with_ids_spans_and_parent_sentences() -> None:
    """One call; spans are the narrowest place of the claim's words; what is no claim is skipped with its reason."""
    chat = ScriptedChat(split(GOOD))
    parts = run(chat, question="How big is the kettle?")
    assert chat.calls == 1
    assert [claim.id for claim in parts.claims] == ["c1", "c2", "c3"]
    assert [ANSWER[c.span.start : c.span.end] for c in parts.claims] == [
        "The kettle holds 1.7 litres",
        "weighs 900 grams",
        "was made in Graz",
    ]
    assert parts.claims[2].sentence == "It was made in Graz."
    assert [(s.text, s.reason) for s in parts.skipped] == [("Do you need more?", "question")]
    assert not parts.abstained


@pytest.mark.parametrize("response", ["", " \n ", "```\nprint(1)\n```", "***\n---"])
def test_nothing_to_read_costs_no_call(response: str) -> None:
    """Blank text, code, and what has no word in it are never sent."""
    chat = ScriptedChat("{}")
    assert run(chat, response).claims == ()
    assert chat.calls == 0


def test_an_answer_that_only_declines_has_abstained() -> None:
    """With a claim beside it, it has not."""
    declines = "I do not know. Ask me something else."
    assert run(ScriptedChat(split({"s1": "abstention", "s2": "meta"})), declines).abstained
    assert not run(ScriptedChat(split({"s1": "abstention", "s2": ["Ask me something else."]})), declines).abstained


def test_sentences_that_are_left_out_are_asked_for_again_alone_then_kept() -> None:
    """Two calls, the second for what is missing; what stays missing is its own claim."""
    chat = ScriptedChat([split({"s1": GOOD["s1"]}), split({"s2": "question"})])
    parts = run(chat)
    assert claims(parts) == [*GOOD["s1"], "It was made in Graz."]
    assert chat.calls == 2
    assert list(request_data(chat.asked[1])["sentences"].values()) == ["It was made in Graz.", "Do you need more?"]


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        "",
        "{}",
        '{"sentences": {}}',
        split(GOOD | {"s9": ["x"]}),
        '{"sentences": [], "sentences": []}',
        split({"s1": ["a"], "s2": ["b"]})[:-10],
    ],
)
def test_an_unusable_reply_is_asked_for_once_more(bad: str) -> None:
    """Then the sample fails: a failure is never a decomposition."""
    good = ScriptedChat([bad, split(GOOD)])
    if '"s2"' in bad and "s9" not in bad:  # cut without saying so: halves are asked for instead
        good = ScriptedChat(lambda messages: bad if len(request_data(messages)["sentences"]) > 2 else play(messages))
    assert len(run(good).claims) >= 2
    with pytest.raises(JudgeError):
        run(ScriptedChat(bad))


def test_a_cut_reply_is_not_used_and_the_request_is_halved() -> None:
    """Until a single sentence is too much, which is a failure."""
    chat = ScriptedChat(lambda messages: play(messages) if len(request_data(messages)["sentences"]) == 1 else cut())
    parts = run(chat)
    assert claims(parts) == ["The kettle holds 1.7 litres and weighs 900 grams.", "It was made in Graz."]
    assert chat.calls == 5  # three, one, two, one, one
    with pytest.raises(JudgeError, match="truncated"):
        run(ScriptedChat(cut()))


@pytest.mark.parametrize("at_most", [1, 7, 30])
def test_long_answers_are_continued_and_no_sentence_is_lost(at_most: int) -> None:
    """Every sentence is there once, in order, whatever the size of a request; each request knows what came before."""
    answer = " ".join(f"Pump number {i} moves {i} litres an hour." for i in range(100))
    chat = ScriptedChat(play)
    parts = run(chat, answer, at_most=at_most)
    assert [claim.text for claim in parts.claims] == [f"Pump number {i} moves {i} litres an hour." for i in range(100)]
    assert chat.calls == -(-100 // at_most)
    before = [request_data(messages).get("before", "") for messages in chat.asked]
    assert before[0] == ""
    assert all(text for text in before[1:])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_comes_back_whole(text: str) -> None:
    """Every character of a word belongs to a claim's sentence or to something skipped; spans are true."""
    parts = run(ScriptedChat(play), text)
    covered = set()
    for piece in (*parts.claims, *parts.skipped):
        assert 0 <= piece.span.start <= piece.span.end <= len(text)
    for claim in parts.claims:
        at = text.find(claim.sentence)
        assert at >= 0
        covered.update(range(at, at + len(claim.sentence)))
    assert [claim.id for claim in parts.claims] == [f"c{i}" for i in range(1, len(parts.claims) + 1)]
    assert [claim.span for claim in parts.claims] == sorted(claim.span for claim in parts.claims)


STRANGE = GOOD | {"s2": ["The kettle was made in Vienna in 1999."]}


def test_a_claim_with_a_stranger_is_asked_for_once_more() -> None:
    """Only its sentence, with the former claims and the words that are not in it."""
    chat = ScriptedChat([split(STRANGE), split({"s1": ["The kettle was made in Graz."]})])
    parts = run(chat)
    assert claims(parts)[2] == "The kettle was made in Graz."
    data = request_data(chat.asked[1])
    assert list(data["sentences"].values()) == ["It was made in Graz."]
    wrong = {"claim": "The kettle was made in Vienna in 1999.", "not_in_sentence": ["Vienna", "1999"]}
    assert data["former_claims"] == {key: [wrong] for key in data["sentences"]}
    assert "second attempt" in chat.asked[1][0].content


@pytest.mark.parametrize(
    "again", [split({"s1": ["The kettle was made in Vienna."]}), split({"s1": "meta"}), "nonsense", "{}", cut()]
)
def test_a_claim_that_stays_strange_gives_way_to_its_sentence(again: Any) -> None:
    """Two calls and no more."""
    chat = ScriptedChat([split(STRANGE), again])
    assert claims(run(chat))[2] == "It was made in Graz."
    assert chat.calls == 2


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (
            "Der Kessel fasst 1,7 Liter. Er wurde in Graz gebaut.",
            {"s1": ["Der Kessel fasst 1,7 Liter."], "s2": ["Der Kessel wurde in Graz gebaut."]},
        ),
        (
            "このやかんは1.7リットル入ります。グラーツで作られました。",
            {"s1": ["このやかんは1.7リットル入ります。"], "s2": ["このやかんはグラーツで作られました。"]},
        ),
        ("الغلاية تتسع 1.7 لتر. صنعت في غراتس.", {"s1": ["الغلاية تتسع 1.7 لتر."], "s2": ["الغلاية صنعت في غراتس."]}),
    ],
)
def test_any_language_is_split_as_it_stands(answer: str, rows: dict[str, list[str]]) -> None:
    """One call: nothing in a faithful split is strange."""
    chat = ScriptedChat(split(rows))
    assert claims(run(chat, answer)) == [text for texts in rows.values() for text in texts]
    assert chat.calls == 1


def test_atomicity_and_coverage_change_what_the_model_is_told() -> None:
    """And the version that results carry."""
    told: list[str] = []
    for atomicity, coverage in (("high", "high"), ("low", "high"), ("high", "low")):
        chat = ScriptedChat(split(GOOD))
        decomposer = LlmDecomposer(chat, SplitPrompt(atomicity, coverage))  # type: ignore[arg-type]
        asyncio.run(decomposer.decompose(ANSWER))
        told += [chat.asked[0][0].content, decomposer.parameters["split_prompt"]]
    assert len(set(told)) == 6


@pytest.mark.parametrize("mark", ["=", " = ", "=.", "'='", "`=`", "==", "＝"])
def test_a_sentence_that_stands_as_it_is_need_not_be_repeated(mark: str) -> None:
    """An equals sign is the sentence, word for word: it is no fault, and has its span."""
    chat = ScriptedChat(json.dumps({"claims": [f"s1: {mark}", "s2: Graz  made it.", f"s3: {mark}"], "skipped": []}))
    parts = run(chat, "The kettle is\nred. It was made in Graz.\n\n- 5 litres")
    assert claims(parts) == ["The kettle is red.", "Graz made it.", "5 litres"]
    assert [claim.sentence for claim in parts.claims] == ["The kettle is\nred.", "It was made in Graz.", "5 litres"]
    assert chat.calls == 1


@pytest.mark.parametrize(
    "said", ["same", "the same", "as is", "it is", "-", "…", "(unchanged)", "s1", "yes", "word for word"]
)
def test_what_says_nothing_is_no_claim(said: str) -> None:
    """Whatever a model writes in the place of a claim: it is asked again, and the sentence is not lost."""
    first = {"claims": [f"s1: {said}", "s2: The kettle was made in Graz."], "skipped": ["s3: question"]}
    chat = ScriptedChat(json.dumps(first))
    assert claims(run(chat)) == [
        "The kettle holds 1.7 litres and weighs 900 grams.",
        "The kettle was made in Graz.",
    ]
    assert chat.calls == 2
