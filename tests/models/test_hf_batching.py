"""Batches over everybody who asks at the same time; the network here is a rule."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyclaim.core.errors import JudgeError
from everyclaim.models.local.hf.batching import Batcher
from everyclaim.models.local.hf.networks import Float32Array, Ints
from everyclaim.models.local.hf.tokens import Tokens


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


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(20, 30), min_size=1, max_size=20), max_size=30), st.integers(1, 9))
def test_answers_do_not_depend_on_the_batches(texts: list[list[int]], batch_size: int) -> None:
    """Whatever is asked together, everybody gets his own answer, in his own order."""
    assert run(Summing(), [tokens(*text) for text in texts], batch_size=batch_size) == [sum(text) for text in texts]


def test_a_batch_holds_inputs_of_similar_length() -> None:
    """Sorted by length before they are cut: short inputs are not padded to the longest."""
    network = Summing()
    lengths = [3, 50, 4, 51, 3, 52, 4, 50]
    run(network, [tokens(*range(100 * i, 100 * i + length)) for i, length in enumerate(lengths)])
    assert network.shapes == [(4, 4), (4, 52)]


def test_a_batch_of_long_inputs_holds_fewer() -> None:
    """The padded size is bounded too: memory does not grow with the longest text."""
    network = Summing()
    run(network, [tokens(*range(i, i + 1024)) for i in range(4)])
    assert network.shapes == [(2, 1024), (2, 1024)]


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


def test_the_same_input_is_computed_once() -> None:
    """Identical work of one round is done once, whoever asks."""
    network = Summing()
    assert run(network, [tokens(1, 2)] * 5) == [3] * 5
    assert network.shapes == [(1, 2)]


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


def test_a_failing_network_is_a_failure_of_the_judge() -> None:
    """An error of a driver makes the samples fail that needed it, and the next ones go on."""

    class Failing(Summing):
        def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
            if ids.max() > 50:
                raise RuntimeError("the device is gone")
            return super().__call__(ids, mask, types)

    network = Failing()
    with pytest.raises(JudgeError, match="the device is gone"):
        run(network, [tokens(60)])
    assert run(network, [tokens(5)]) == [5]


def test_whoever_gives_up_does_not_take_the_answer_from_others() -> None:
    """Two wait for the same input; one is cancelled; the other gets its answer."""

    async def give_up() -> float:
        batcher = Batcher(Summing(seconds=0.05), pad=0, batch_size=4)
        first = asyncio.create_task(batcher.run([tokens(1, 2)]))
        second = asyncio.create_task(batcher.run([tokens(1, 2)]))
        await asyncio.sleep(0.01)
        first.cancel()
        return float((await second)[0][0])

    assert asyncio.run(give_up()) == 3


def test_one_model_serves_several_event_loops() -> None:
    """A loop in another thread, and one after the other, as in a notebook."""
    batcher = Batcher(Summing(seconds=0.01), pad=0, batch_size=4)
    found: list[float] = []

    def work() -> None:
        found.extend(float(row[0]) for row in asyncio.run(batcher.run([tokens(i) for i in range(1, 9)])))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    assert found == [1, 2, 3, 4, 5, 6, 7, 8] * 4
