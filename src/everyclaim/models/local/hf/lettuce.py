"""LettuceDetect (arXiv 2502.17125): passages, question and answer in, a class per token of the answer out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Marked
from everyclaim.models.local.hf.batching import Batcher
from everyclaim.models.local.hf.networks import Float32Array
from everyclaim.models.local.hf.pairs import softmax
from everyclaim.models.local.hf.tokens import TextEncoder, as_tokens

MAX_TOKENS = 4096
_SLACK = 8  # tokens that joining texts may add to the sum of theirs


class LoadedTokens:
    """A `TokenModel`. Passages and question are written as in its training data (RAGTruth's prompts)."""

    def __init__(
        self, encoder: TextEncoder, batcher: Batcher, max_tokens: int, bad: int, parameters: Mapping[str, str]
    ) -> None:
        self.parameters = parameters
        self._encoder = encoder
        self._batcher = batcher
        self._max_tokens = max_tokens
        self._bad = bad  # the class of tokens that nothing backs

    def room(self, question: str, answer: str) -> int:
        """Return how many tokens of passages fit in beside question and answer."""
        return self._max_tokens - len(self._encoding([], question, answer).ids) - _SLACK

    def lengths(self, passages: Sequence[str]) -> list[int]:
        """Count the tokens of each passage, with its number and the line break before it."""
        return [length + 1 for length in self._encoder.lengths([_numbered(999, passage) for passage in passages])]

    async def mark(self, readings: Sequence[Sequence[str]], question: str, answer: str) -> list[list[Marked]]:
        """Mark the answer's tokens for each reading. Raises `JudgeError` when one is too long."""
        encodings = await asyncio.to_thread(lambda: [self._encoding(one, question, answer) for one in readings])
        longest = max((len(encoding.ids) for encoding in encodings), default=0)
        if longest > self._max_tokens:
            raise JudgeError("too_long", f"answer and passages are {longest} tokens; it takes {self._max_tokens}")
        rows = await self._batcher.run([as_tokens(encoding) for encoding in encodings])
        return [self._marks(encoding, row) for encoding, row in zip(encodings, rows, strict=True)]

    def _encoding(self, passages: Sequence[str], question: str, answer: str) -> Any:
        plain = self._encoder.plain
        prompt = _prompt([plain(passage) for passage in passages], plain(question))
        return self._encoder.encoded([(prompt, plain(answer))])[0]

    def _marks(self, encoding: Any, row: Float32Array) -> list[Marked]:
        return [
            Marked(start, end, round(softmax(row[i])[self._bad], 4))
            for i, (part, (start, end)) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True))
            if part == 1
        ]


def _prompt(passages: Sequence[str], question: str) -> str:
    """Write passages and question the way the model has learnt to read them."""
    listed = "\n".join(_numbered(i, passage) for i, passage in enumerate(passages, start=1))
    if not question.strip():
        return f"Summarize the following text:\n{listed}\noutput:"
    return (
        f"Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly "
        f"based on the following {len(passages)} passages:\n{listed}\nIn case the passages do not contain the "
        'necessary information to answer the question, please reply with: "Unable to answer based on given '
        'passages."\noutput:'
    )


def _numbered(number: int, passage: str) -> str:
    return f"passage {number}: {passage}"
