"""Odd and huge texts through a whole score, over real HTTP: accepted, or one clear error; never changed on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import everyclaim as ec
from everyclaim.core.wire import result_from_json, result_to_json
from everyclaim.testing import JudgeServer, play, request_data

ODD = {
    "braces": "{} {0} {claim} {{x}} {claims[0].__class__}",
    "percent signs": "%s %(x)s %% 100%d",
    "backslashes": "\\ \\n \\u0041 \\x00 C:\\new\\table",
    "end of sequence": "</s> <s> <|im_end|> <|endoftext|> [INST] <<SYS>>",
    "quotes": '" \\" """ \' `',
    "NUL and controls": "a\x00b\x01\x1b[31m\x7f\x85",
    "lone surrogate": "a \ud800 b \udfff c",
    "right to left": "\u202eevil\u202c שלום עולם مرحبا بالعالم \u2067x\u2069",
    "emoji": "👩‍👩‍👧 🏳️‍🌈 e\u0301",
    "line separators": "a\u2028b\u2029c\x0bd\x0ce\r\nf",
}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(lambda request: play(request.messages)) as running:
        yield running


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("name", ODD)
def test_odd_texts_reach_the_judge_as_they_are_and_come_back_in_their_place(
    server: JudgeServer, wire: str, name: str
) -> None:
    """In the answer, the question, a passage, its title and every id; offsets stay true, the result can be written."""
    odd = ODD[name]
    response = f"The kettle {odd} is red."
    shelf = [ec.Passage(f"id {odd}", f"The kettle {odd} is red. It is new.", title=odd), ec.Passage("p2", odd)]
    address = server.root if wire == "anthropic" else server.base_url
    result = ec.score(question=odd, response=response, passages=shelf, judge=f"{wire}:m", base_url=address)
    assert result.outcome is ec.Outcome.SCORED, result.reason
    assert result.usage.calls == server.calls == 2
    split, verify = (request_data(request.messages) for request in server.requests)
    assert split["question"] == verify["question"] == odd
    assert verify["passages"] == {"p1": {"title": odd, "text": shelf[0].text}, "p2": odd}
    assert [text for text in split["sentences"].values() if text not in response] == []
    texts = {passage.id: passage.text for passage in shelf}
    for claim in result.claims:
        assert response[claim.span.start : claim.span.end].strip()
        for evidence in claim.verdict.evidence:
            assert texts[evidence.passage_id][evidence.start : evidence.end] == evidence.quote
    assert result_from_json(json.loads(json.dumps(result_to_json(result)))) == result
