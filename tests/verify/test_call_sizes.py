"""How an answer is cut into calls: one where it fits, evenly where not, and by passages where the context is long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from everyclaim.core.protocols import Message
from everyclaim.core.types import Label, Passage
from everyclaim.retrieve.bm25 import Bm25Ranker
from everyclaim.testing import ScriptedChat, play, request_data
from everyclaim.verify import judged
from everyclaim.verify.llm import LlmVerifier
from scripted_judge import claim

SHELF = [Passage("p", "The kettle of the north hall holds 1.7 litres of water.")]


@pytest.mark.parametrize(("claims", "calls"), [(1, 1), (5, 1), (17, 1), (25, 1), (40, 2), (60, 3)])
def test_an_answer_is_one_call_as_long_as_its_verdicts_fit(claims: int, calls: int) -> None:
    """17 claims, an answer as language models write them, are one call; longer ones are cut evenly."""
    chat = ScriptedChat(play)
    found = asyncio.run(judged(LlmVerifier(chat), [claim(i, SHELF[0].text) for i in range(claims)], SHELF))
    assert [one.id for one in found] == [f"c{i}" for i in range(claims)]
    sizes = [len(request_data(asked)["claims"][0]["claims"]) for asked in chat.asked]
    assert (len(sizes), max(sizes) - min(sizes) <= 1) == (calls, True)


# ---- long contexts

LONG = [
    Passage(f"d{i}", f"Hall {i} holds {i} boats. " + f"The lid {i} is of steel and closes well. " * 12)
    for i in range(6)
]


def long_judge(chat: ScriptedChat) -> LlmVerifier:
    return LlmVerifier(chat, ranker=Bm25Ranker(), input_tokens=300)


def test_a_long_context_is_judged_in_parts_and_any_part_may_support() -> None:
    """Rule 6: supported by any; the evidence names its own passage, by the caller's id."""
    chat = ScriptedChat(play)
    claims = [claim(i, f"Hall {i} holds {i} boats.") for i in range(6)]
    found = asyncio.run(judged(long_judge(chat), claims, LONG))
    assert {one.verdict.label for one in found} == {Label.SUPPORTED}
    assert [one.verdict.evidence[0].passage_id for one in found] == [f"d{i}" for i in range(6)]
    assert chat.calls == 3
    assert all(not one.verdict.per_passage for one in found)


def both(messages: Sequence[Message]) -> str:
    """Support a claim only where both passages that it takes are there; contradict one, support it elsewhere."""
    data = request_data(messages)
    shown = json.dumps(data["passages"])
    rows = []
    for group in data["claims"]:
        for key, text in group["claims"].items():
            label = "UNSUPPORTED"
            if "Together" in text and "Hall 0 holds" in shown and "Hall 5 holds" in shown:
                label = "SUPPORTED"
            elif "Torn" in text:
                label = (
                    {"Hall 0 holds": "SUPPORTED", "Hall 5 holds": "CONTRADICTED"}[
                        "Hall 0 holds" if "Hall 0 holds" in shown else "Hall 5 holds"
                    ]
                    if "Hall 0 holds" in shown or "Hall 5 holds" in shown
                    else label
                )
            quote = ["p1: Hall 0 holds 0 boats."] if label == "SUPPORTED" else []
            rows.append({"id": key, "quotes": quote, "why": "so", "label": label, "mode": "none"})
    return json.dumps({"verdicts": [row | {"conflict": False, "support": 5} for row in rows]})


def test_what_is_spread_over_parts_is_tried_together() -> None:
    """Rule 7: the best passages for what no part supports, in one more call, with the flag `spread_evidence`."""
    chat = ScriptedChat(both)
    claims = [claim(1, "Together, Hall 0 and Hall 5 hold boats."), claim(2, "Nothing of the sort.")]
    found = asyncio.run(judged(long_judge(chat), claims, LONG))
    assert [one.verdict.label.value for one in found] == ["SUPPORTED", "UNSUPPORTED"]
    assert "spread_evidence" in found[0].verdict.flags
    assert chat.calls == 4
    assert len(request_data(chat.asked[-1])["claims"][0]["claims"]) == 2


def test_parts_that_disagree_are_a_conflict() -> None:
    """Rule 6: supported by one, contradicted by another."""
    found = asyncio.run(judged(long_judge(ScriptedChat(both)), [claim(1, "Torn: Hall 0 or Hall 5.")], LONG))
    assert (found[0].verdict.label, found[0].verdict.conflict) == (Label.SUPPORTED, True)
