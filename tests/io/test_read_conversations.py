"""Rows of messages: the last answer of a conversation or all, with what was retrieved for each, in every shape."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.core.types import Citation, Source, Span, Turn
from everyclaim.io import ReadReport, read_samples

RECORD = json.dumps({"model": "Classica", "tank_litres": 1.8, "colours": ["red", "white"]})
ASKED = "How big is the tank of the Classica?"
KEPT = json.loads(Path(__file__).with_name("conversations.json").read_text("utf-8"))
SHAPES, REPLIES = KEPT["shapes"], KEPT["replies"]
TWO = [
    *SHAPES["openai"],
    {"role": "user", "content": "Is it dishwasher-safe?"},
    {"role": "assistant", "content": "Yes, it is.", "contexts": ["The tank of the Classica is not dishwasher-safe."]},
]


def read(row, **options):
    return list(read_samples([row], **options))


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_of_every_shape_are_an_answer_with_what_its_tools_found(shape: str) -> None:
    """A question, an answer and a passage of the kind `tool`, whose record is read as records are."""
    name = "user_input" if shape == "ragas" else "messages"
    (sample,) = read({"id": "a", name: SHAPES[shape]})
    assert (sample.id, sample.question, sample.response, sample.history) == ("a", ASKED, "It holds 1.8 litres.", ())
    assert [(one.text, one.title, one.kind) for one in sample.passages] == [(RECORD, "specs", "tool")]
    assert ec.score({name: SHAPES[shape]}).score == 1
    wrong = json.loads(json.dumps(SHAPES[shape]).replace("It holds 1.8", "The tank holds 2.8"))
    assert ec.score({name: wrong}).failing


def test_the_last_answer_or_all_are_read_each_with_its_own_passages() -> None:
    """All answers have the tags `conversation` and `turn`; a CSV cell holds the messages as JSON."""
    (last,) = read({"id": "c", "messages": json.dumps(TWO)})
    assert (last.response, [one.text for one in last.passages]) == ("Yes, it is.", TWO[-1]["contexts"])
    assert last.history == (Turn("user", ASKED), Turn("assistant", "It holds 1.8 litres."))
    first, second = read({"id": "c", "messages": TWO}, turns="all")
    assert [one.id for one in (first, second)] == ["c/1", "c/2"]
    assert first.passages[0].kind == "tool"
    assert second.tags == {"conversation": "c", "turn": "2"}
    assert second.passages == last.passages


def test_what_was_said_is_evidence_only_where_asked() -> None:
    """Then earlier questions, answers and sources are passages of their kinds."""
    (sample,) = read({"messages": TWO}, history="evidence")
    assert [one.kind for one in sample.passages] == ["", "tool", "user", "answer"]
    with pytest.raises(ec.ConfigError, match="context, evidence"):
        read({"messages": TWO}, history="yes")


def test_a_turn_without_a_retrieval_has_what_was_found_before() -> None:
    """And passages of the row are those of every turn; several questions in a row are one."""
    follow = [*SHAPES["openai"], {"role": "user", "content": "In cups?"}, {"role": "user", "content": "Small ones."},
              {"role": "assistant", "content": "About nine."}]  # fmt: skip
    (sample,) = read({"messages": follow})
    assert (sample.question, sample.passages[0].text) == ("In cups?\nSmall ones.", RECORD)
    (sample,) = read({"messages": follow, "contexts": ["A cup holds 0.2 litres."]})
    assert [one.text for one in sample.passages] == ["A cup holds 0.2 litres.", RECORD]
    (sample,) = read({"messages": follow[:-1], "response": "About nine."})
    assert sample.response == "About nine."


def test_a_conversation_of_two_thousand_turns_is_read_in_seconds() -> None:
    """Each answer has its own passages, and the few messages before it that may say what its pronouns stand for."""
    messages = []
    for number in range(2000):
        found = {"role": "tool", "name": "price", "content": json.dumps({"item": number, "price": 3 * number})}
        messages += [{"role": "user", "content": f"What does item {number} cost?"}, found]
        messages += [{"role": "assistant", "content": f"It costs {3 * number} euros."}]
    start = time.process_time()
    samples = read({"messages": messages}, turns="all")
    assert time.process_time() - start < 20
    assert [one.text for one in samples[-1].passages] == ['{"item": 1999, "price": 5997}']
    assert samples[-1].history[-2:] == (
        Turn("user", "What does item 1998 cost?"),
        Turn("assistant", "It costs 5994 euros."),
    )
    assert len(samples[-1].history) < 10


@pytest.mark.parametrize("provider", REPLIES)
@pytest.mark.parametrize("place", ["response", "messages"])
def test_citations_of_providers_are_read_as_those_in_the_text(provider: str, place: str) -> None:
    """Each claim has those of the stretch that it overlaps, tied to the passages by title or place."""
    contexts = [
        {"text": "The museum opened in 1956.", "title": "History"},
        {"text": "It has 400 paintings.", "title": "B"},
    ]
    reply, is_message = REPLIES[provider].values()
    if place == "messages" and is_message:
        said = reply if isinstance(reply, dict) else {"role": "assistant", "content": reply}
        row = {"messages": [{"role": "user", "content": "What of it?"}, said], "contexts": contexts}
    else:
        row = {"response": reply, "contexts": contexts}
    result = ec.score(row, metric="attribution")
    assert [one["finding"] for one in result.details["citations"]] == ["right", "misattributed"]
    assert result.details["citations"][1]["instead"] == ["p2"]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([{"role": "user", "content": "Hi?"}], "no assistant message"),
        ([{"content": "Hi?"}], "unknown role"),
        ("Hi?", "not a list of messages"),
        ([{"role": "assistant", "content": [7]}], "not text or an object"),
    ],
)
def test_a_conversation_that_cannot_be_read_is_a_bad_row(messages: object, why: str) -> None:
    """It is reported like any other."""
    report = ReadReport()
    assert len(list(read_samples([{"response": "x"}, {"messages": messages}], report=report))) == 1
    assert why in report.bad_rows[0].reason


def test_citations_in_our_own_form_go_there_and_back() -> None:
    """As a field of the row; what is in no known form is somebody's own, and left out with a warning."""
    source = {"number": 1, "name": "History", "page": "", "address": ""}
    row = {"response": "It opened in 1956.", "contexts": ["x"], "citations": [{"span": [3, 9], "sources": [source]}]}
    (sample,) = read(row)
    assert sample.citations == (Citation(Span(3, 9), (Source(1, "History"),)),)
    report = ReadReport()
    (sample,) = read({**row, "citations": ["History"], "history": 7}, report=report)
    assert (sample.citations, sample.history, len(report.warnings)) == ((), (), 2)
