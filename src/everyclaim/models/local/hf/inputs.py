"""Texts → token ids → batches over everybody who asks at the same time, in one event loop or in several.

The text under test is data: it cannot hold a token that means something to the model. Inputs wait in a queue; while
one batch computes in a thread, whatever the other samples need gathers there. A round takes all that wait, sorts it by
length and cuts it into batches of similar length: little padding, and nobody waits longer than the round before his.
An input that several ask for is computed once in a round.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from everyclaim.core.errors import ConfigError, JudgeError, MissingExtraError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.models.local.hf.folder import Folder
from everyclaim.models.local.hf.networks import Float32Array, Network, quiet

_SURROGATE = re.compile("[\ud800-\udfff]")
_USUAL_LENGTH = 512  # tokens; a batch never has more cells than `batch_size` inputs of this length


class Tokens(NamedTuple):
    """One input of a network: token ids, and which of two texts each belongs to."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


class TextEncoder:
    """A tokenizer without truncation and padding. `eos` is the token that ends a text, empty when there is none."""

    def __init__(self, backend: Any, eos: str) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._backend = backend
        self.eos = eos
        added = backend.get_added_tokens_decoder().values()
        special = sorted({token.content for token in added if token.special and token.content}, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special))) if special else None

    def plain(self, text: str) -> str:
        """Take the meaning from what the tokenizer would read as a special token; as long as the text given.

        The first character of ``</s>``, ``[SEP]``, … becomes a blank, and what no encoding carries the
        replacement character, so offsets stay true.
        """
        text = _SURROGATE.sub("\ufffd", text)
        while self._special and self._special.search(text):
            text = self._special.sub(lambda match: " " + match[0][1:], text)
        return text

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text by itself."""
        encoded = self._backend.encode_batch([self.plain(text) for text in texts], add_special_tokens=False)
        return [len(one.ids) for one in encoded]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of one text as it is, with nothing around it."""
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def encoded(self, inputs: Sequence[str | tuple[str, str]]) -> list[Any]:
        """Encode texts or pairs of them as they are, with the special tokens that belong around them."""
        return list(self._backend.encode_batch(list(inputs), add_special_tokens=True))


def as_tokens(encoding: Any) -> Tokens:
    """Take from an encoding what a network reads."""
    return Tokens(tuple(encoding.ids), tuple(encoding.type_ids))


def open_tokenizer(folder: Folder) -> TextEncoder:
    """Open the tokenizer of a folder. Raises `ConfigError` when it has none that can be used."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        return _by_itself(folder)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder.path, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the files
        raise ConfigError(f"cannot open the tokenizer of {folder.name!r}: {error}") from None
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ConfigError(f"the tokenizer of {folder.name!r} has no fast version (tokenizer.json)")
    return TextEncoder(backend, tokenizer.eos_token or tokenizer.sep_token or "")


def _by_itself(folder: Folder) -> TextEncoder:
    """Open ``tokenizer.json`` without transformers, which an exported network does not need."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(f"the judge hf:{folder.name}", "hf") from None
    file = folder.path / "tokenizer.json"
    if not file.is_file():
        raise ConfigError(f"{folder.name!r} has no tokenizer.json")
    told = {**folder.json("special_tokens_map.json"), **folder.json("tokenizer_config.json")}
    ends = [told.get(name) for name in ("eos_token", "sep_token")]
    names = [end.get("content", "") if isinstance(end, dict) else end for end in ends]
    return TextEncoder(Tokenizer.from_file(str(file)), next((name for name in names if name), ""))


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
