"""Networks that run here: batches by size, and the parser."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.core.errors import JudgeError
from everyclaim.models.local.hf_networks import Batcher, Float32Array, Ints, Tokens
from everyclaim.models.local.parser import parse


class Summing:
    """Adds up an input's ids, and keeps the shapes of its batches."""

    device = "cpu"

    def __init__(self, seconds: float = 0.0, most_cells: int = 10**9) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.seconds = seconds
        self.most_cells = most_cells

    def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
        if ids.size > self.most_cells:
            raise MemoryError
        self.shapes.append(ids.shape)
        time.sleep(self.seconds)
        total = (ids * mask).sum(axis=1)
        return np.stack([total, np.where(total == 13, np.nan, 0)], axis=1).astype(np.float32)


def tokens(*ids: int) -> Tokens:
    return Tokens(ids, (0,) * len(ids))


def run(network: Summing, inputs: list[Tokens], *, batch_size: int = 4) -> list[float]:
    rows = asyncio.run(Batcher(network, pad=99, batch_size=batch_size).run(inputs))
    return [float(row[0]) for row in rows]


@given(st.lists(st.lists(st.integers(20, 30), min_size=1, max_size=20), max_size=30), st.integers(1, 9))
def test_answers_do_not_depend_on_the_batches(texts: list[list[int]], batch_size: int) -> None:
    """Whatever is asked together, everybody gets his own answer, in his own order."""
    assert run(Summing(), [tokens(*text) for text in texts], batch_size=batch_size) == [sum(text) for text in texts]


def test_what_several_samples_ask_goes_into_the_same_batches() -> None:
    """Sixteen samples with one input each need far fewer than sixteen batches, and the loop runs on meanwhile."""
    network = Summing(seconds=0.02)

    async def all_at_once() -> int:
        batcher = Batcher(network, pad=0, batch_size=8)
        ticks = 0
        asked = asyncio.gather(*(batcher.run([tokens(1, 20 + i)]) for i in range(16)))
        while not asked.done():
            await asyncio.sleep(0.001)
            ticks += 1
        await asked
        return ticks

    assert asyncio.run(all_at_once()) > 2
    assert network.shapes == [(8, 2), (8, 2)]


def test_a_batch_too_large_for_memory_is_halved() -> None:
    """Less is tried before anything fails; one input that is too large by itself is a failure."""
    network = Summing(most_cells=6)
    assert run(network, [tokens(i, 1) for i in range(8)], batch_size=8) == [i + 1 for i in range(8)]
    with pytest.raises(JudgeError, match="out_of_memory"):
        run(network, [tokens(*range(7))])


def test_what_is_not_a_number_fails_its_own_input_only() -> None:
    """NaN is never a score, and neighbours in the batch are not touched."""
    network = Summing()

    async def both() -> tuple[object, object]:
        batcher = Batcher(network, pad=0, batch_size=4)
        good, bad = await asyncio.gather(
            batcher.run([tokens(1, 1)]), batcher.run([tokens(6, 7)]), return_exceptions=True
        )
        return good, bad

    good, bad = asyncio.run(both())
    assert isinstance(good, list)
    assert isinstance(bad, JudgeError)
    assert bad.code == "not_a_number"
    assert len(network.shapes) == 1


@given(st.text(max_size=80))
def test_any_text_has_a_tree(text):
    """Every word has its true place and one head, one is the root, and nothing goes in circles."""
    tokens = parse([text])[0]
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert sum(token.head < 0 for token in tokens) == bool(tokens)
    for start in range(len(tokens)):
        place, steps = start, 0
        while tokens[place].head >= 0:
            place, steps = tokens[place].head, steps + 1
            assert steps <= len(tokens)
