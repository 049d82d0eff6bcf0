"""What a claim is, rule by rule: what the model is told, and what the check believes."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from everyclaim.decompose.checked import SplitSource, decomposed, inventions
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.prompts import SplitPrompt, SplitTask
from everyclaim.prompts.forms import template
from everyclaim.testing import ScriptedChat, request_data

RULES = {
    "stands alone adds no more than it must": 'Add nothing else: "You can visit daily"',
    "pointers at passages are left out": 'citations ("see passage 2")',
    "praise is left out": "no markup, praise or citations",
    "attributions stay": "what was said and who said it",
    "conditions stay": "a statement and its condition, exception, cause or purpose",
    "alternatives stay": 'alternatives ("or")',
    "date and place are facts of their own": "at most one place, date or amount",
    "a rate is one amount": "amount (a rate is one)",
    "cases are split": "relative clauses, cases",
    "a yes is a claim": '"Yes" and "no" become the question as a statement unless',
    "stand-ins": 'stand-ins ("there", "then", "the company", "the former")',
    "a pronoun that fits two nouns stays": "unless two fit equally",
    "liking is no fact": 'opinion ("a lovely place")',
    "long lists": "long lists after five items",
    "items": "List items and table rows take in their lead-in, heading or column names",
    "lead-ins": "heading and lead_in (only announce)",
    "steps": "Steps, rules, advice",
    "repeats": "repeated facts are claims",
    "what nobody knows": '"nobody knows" is a claim',
}


def told(prompt: SplitPrompt) -> str:
    return prompt.messages(SplitTask({"s1": "A."}))[0].content


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_is_told(rule: str) -> None:
    """In these words."""
    assert rule in told(SplitPrompt())


def test_the_worked_examples_are_what_the_check_believes() -> None:
    """A model that follows them passes; they take less than 75 tokens."""
    sentence, *claims = re.findall(r'"([^"]+)"', template("split")["examples"])
    assert len(claims) == 5
    assert not inventions(claims, sentence, SplitSource("", sentence))
    assert len(template("split")["examples"]) / 4 < 75


def test_a_completed_claim_takes_one_call_and_passes_every_border() -> None:
    """Neither the decomposer's check nor the one behind all decomposers asks again or keeps the sentence."""
    rows: list[dict[str, Any]] = [
        {"id": "s1", "claims": ["The Nile has two main branches."], "skip": "none"},
        {"id": "s2", "claims": ["The two main branches of the Nile meet in Khartoum."], "skip": "none"},
    ]
    chat = ScriptedChat(json.dumps({"sentences": rows}))
    answer = "The Nile has two main branches. They meet in Khartoum."
    parts = asyncio.run(decomposed(LlmDecomposer(chat), answer))
    assert [claim.text for claim in parts.claims] == [row["claims"][0] for row in rows]
    assert chat.calls == 1
    assert "sentences" in request_data(chat.asked[0])
