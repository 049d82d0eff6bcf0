"""A call that failed is not made again by the steps of a metric: whoever makes the calls retried it already."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply, Message
from everyclaim.core.types import Claim, Sample, Span
from everyclaim.decompose.decontextualize import LlmPreparer
from everyclaim.metrics.context import Components, MetricContext
from everyclaim.metrics.qa import ChatExaminer

TEXT = "The mill at Corley was rebuilt in 1902."
CLAIM = Claim("c1", TEXT, Span(0, len(TEXT)), TEXT)


class Silent:
    """A chat model whose calls fail, with a code that a reply of no use has, too."""

    spec = "openai:silent"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        self.calls += 1
        raise JudgeError("empty_reply", "the model said nothing, asked six times")


def prepare(chat):
    return LlmPreparer(chat).prepare([CLAIM], TEXT, "When was it rebuilt?")


def examine(chat):
    sample = Sample("1", TEXT)
    return ChatExaminer().examine(sample, [CLAIM], MetricContext(sample, Components(None, None, chat=chat)))


@pytest.mark.parametrize("step", [prepare, examine])
def test_a_step_that_needs_the_model_fails_after_one_call(step):
    """The failure is passed on as it is."""
    chat = Silent()
    with pytest.raises(JudgeError, match="the model said nothing"):
        asyncio.run(step(chat))
    assert chat.calls == 1
