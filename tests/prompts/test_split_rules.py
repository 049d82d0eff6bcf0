"""Worked examples and completed claims pass the check of splits. The wording is pinned in `test_prompts.py`."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from everyclaim.decompose.checked import SplitSource, decomposed, inventions
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.prompts import SplitPrompt, SplitTask
from everyclaim.prompts.forms import template
from everyclaim.testing import ScriptedChat, request_data


def told(prompt: SplitPrompt) -> str:
    return prompt.messages(SplitTask({"s1": "A."}))[0].content


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
