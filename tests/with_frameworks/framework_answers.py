"""Answers that every framework's check scores, with the offline judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everyclaim as ec

QUESTION = "How heavy is the unit?"
PASSAGES = ["The unit weighs 3 kg.", "It comes in grey."]
GOOD, WRONG, SHY = "The unit weighs 3 kg.", "The unit weighs 9 kg.", "I do not know."


class Away:
    """A judge that is not there."""

    spec = "away"

    async def verify(self, claims: Sequence[Any], passages: Sequence[Any], *, question: str = "") -> Any:
        raise ec.JudgeError("no_reply", "the judge is away")
