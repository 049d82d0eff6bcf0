"""Batches over everybody who asks at the same time, in one event loop or in several.

Inputs wait in a queue; while one batch computes in a thread, whatever the other samples need gathers there. A round
takes all that wait, sorts it by length and cuts it into batches of similar length: little padding, and nobody waits
longer than the round before his. An input that several ask for is computed once in a round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from everyclaim.core.errors import JudgeError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.models.local.hf.networks import Float32Array, Network
from everyclaim.models.local.hf.tokens import Tokens

_USUAL_LENGTH = 512  # tokens; a batch never has more cells than `batch_size` inputs of this length


class _Queue:
    """What waits in one event loop, and the task that works it off."""

    def __init__(self) -> None:
        self.waiting: dict[Tokens, asyncio.Future[Float32Array]] = {}
        self.task: asyncio.Task[None] | None = None


class Batcher:
    """Runs inputs through a network. One batch at a time, in a thread of its own."""

    def __init__(self, network: Network, *, pad: int, batch_size: int) -> None:
        self._network = network
        self._pad = pad
        self._batch_size = batch_size
        self._queues: LoopLocal[_Queue] = LoopLocal(_Queue)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="everyclaim-hf")

    async def run(self, inputs: Sequence[Tokens]) -> list[Float32Array]:
        """Return the logits of every input, in order: classes, or tokens × classes.

        Raises `JudgeError` when the network fails or gives something that is not a number.
        """
        queue = self._queues.get()
        loop = asyncio.get_running_loop()
        futures = [queue.waiting.setdefault(one, loop.create_future()) for one in inputs]
        if queue.task is None or queue.task.done():
            queue.task = loop.create_task(self._work_off(queue))
        # Shielded, because somebody else may wait for the same input.
        return [await asyncio.shield(future) for future in futures]

    async def _work_off(self, queue: _Queue) -> None:
        loop = asyncio.get_running_loop()
        while queue.waiting:
            await asyncio.sleep(0)  # who asks in this turn of the loop is in the round
            taken, queue.waiting = queue.waiting, {}
            for batch in cut(sorted(taken, key=lambda one: (len(one.ids), one)), self._batch_size):
                try:
                    rows: Sequence[Float32Array | JudgeError] = await loop.run_in_executor(
                        self._thread, self._compute, batch
                    )
                except Exception as error:  # noqa: BLE001 - a driver's or a library's; it concerns these inputs only
                    rows = [JudgeError("model_error", f"the model failed: {error}") for _ in batch]
                for one, row in zip(batch, rows, strict=True):
                    _answer(taken[one], row)

    def _compute(self, batch: Sequence[Tokens]) -> list[Float32Array | JudgeError]:
        try:
            logits = self._network(*padded(batch, self._pad))
        except MemoryError:
            if len(batch) == 1:
                tokens = len(batch[0].ids)
                return [JudgeError("out_of_memory", f"one input of {tokens} tokens is too much for the device")]
            middle = len(batch) // 2
            return self._compute(batch[:middle]) + self._compute(batch[middle:])
        rows = [row[: len(one.ids)] if row.ndim == 2 else row for row, one in zip(logits, batch, strict=True)]
        bad = JudgeError("not_a_number", "the model returned something that is not a number")
        return [row if np.isfinite(row).all() else bad for row in rows]


def cut(inputs: Sequence[Tokens], batch_size: int) -> Iterator[Sequence[Tokens]]:
    """Cut inputs, sorted by length, into batches bounded by number and by padded size."""
    start = 0
    for stop in range(1, len(inputs) + 1):
        count = stop - start + 1  # with one more
        is_full = count > batch_size or (
            stop < len(inputs) and count * len(inputs[stop].ids) > batch_size * _USUAL_LENGTH
        )
        if is_full or stop == len(inputs):
            yield inputs[start:stop]
            start = stop


def padded(batch: Sequence[Tokens], pad: int) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], ...]:
    """Lay inputs side by side: ids, mask and types, each inputs × the longest one's tokens."""
    shape = (len(batch), max(len(one.ids) for one in batch))
    ids, mask, types = np.full(shape, pad, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = one.ids
        mask[row, : len(one.ids)] = 1
        types[row, : len(one.types)] = one.types
    return ids, mask, types


def _answer(future: asyncio.Future[Float32Array], row: Float32Array | JudgeError) -> None:
    if future.done():
        return
    if isinstance(row, JudgeError):
        future.set_exception(row)
        future.exception()  # looked at, so that asyncio does not warn when nobody waits any more
    else:
        future.set_result(row)
