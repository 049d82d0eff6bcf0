"""Texts → token ids → numbers: networks built by torch from a folder's weights, or exported to ONNX and run without it.

Nothing else here knows torch. Loading is strict: a weight that the architecture has and the files have not is an error,
because a head that was never trained gives numbers too.

The text under test is data: it cannot hold a token that means something to the model. Inputs wait in a queue; while
one batch computes in a thread, whatever the other samples need gathers there. A round takes all that wait, sorts it by
length and cuts it into batches of similar length: little padding, and nobody waits longer than the round before his.
An input that several ask for, in one event loop, is computed once in a round.
"""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.errors import ConfigError, JudgeError, MissingExtraError
from everyclaim.core.lifetime import LoopLocal
from everyclaim.core.plaintext import storable
from everyclaim.models.local.cross_encoder import quiet_onnxruntime
from everyclaim.models.local.hf_files import Folder, ModelOptions, first_line, weight_files

Ints = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
Head = Literal["sequence", "token", "seq2seq"]
_CLASSES: Mapping[Head, str] = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "seq2seq": "AutoModelForSeq2SeqLM",
}
_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_READ = {"input_ids", "attention_mask", "token_type_ids"}


class TorchNetwork:
    """A torch module in evaluation mode. `call` picks the logits out of what it returns."""

    def __init__(self, module: Any, call: Callable[..., Any], device: str, *, typed: bool = False) -> None:
        self.device = chosen_device(device)
        self._module = module.to(self.device).eval()
        self._call = call
        self._typed = typed

    def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
        """Run one batch without gradients."""
        import torch

        inputs = {"input_ids": ids, "attention_mask": mask} | ({"token_type_ids": types} if self._typed else {})
        try:
            with torch.inference_mode():
                tensors = {name: torch.from_numpy(value).to(self.device) for name, value in inputs.items()}
                logits = self._call(self._module, tensors)
                return np.asarray(logits.float().cpu().numpy(), dtype=np.float32)
        except torch.OutOfMemoryError as error:
            raise MemoryError(str(error)) from None


class OnnxNetwork:
    """An exported classifier. Its inputs are found by name; its first output is the logits."""

    def __init__(self, file: Path, device: str) -> None:
        onnxruntime = quiet_onnxruntime()
        there = onnxruntime.get_available_providers()
        usable = [name for name, provider in _PROVIDERS.items() if provider in there]
        self.device = ("cuda" if "cuda" in usable else "cpu") if device == "auto" else device
        if self.device not in usable:
            raise ConfigError(f"option device={device!r}: use one of auto, {', '.join(usable)}")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(str(file), options, providers=[_PROVIDERS[self.device]])
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
            raise ConfigError(f"cannot load the exported network {str(file)!r}: {error}") from None
        self._inputs = {value.name for value in self._session.get_inputs()}
        if unknown := sorted(self._inputs - _READ):
            raise ConfigError(f"the exported network {str(file)!r} has an unknown input {unknown[0]!r}")

    def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
        """Run one batch."""
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        logits = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return np.asarray(logits, dtype=np.float32)


# Token ids, mask and types (each inputs × tokens) → logits: inputs × classes, or inputs × tokens × classes. Raises
# `MemoryError` when a batch is too large for the device.
Network = TorchNetwork | OnnxNetwork


def auto_network(folder: Folder, head: Head, options: ModelOptions) -> TorchNetwork:
    """Build a network of an architecture that transformers knows.

    Raises `ConfigError` when it does not know it, or when weights are missing.
    """
    transformers, torch = libraries(folder.name)
    if not weight_files(folder.path):
        raise ConfigError(f"{folder.name!r} has no torch weights; use '?runtime=onnx' for its exported network")
    try:
        with quiet():
            module, told = getattr(transformers, _CLASSES[head]).from_pretrained(
                folder.path,
                trust_remote_code=False,
                local_files_only=True,
                dtype=getattr(torch, options.dtype),
                output_loading_info=True,
            )
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the files
        raise ConfigError(f"cannot load {folder.name!r}: {first_line(error)}") from None
    if missing := sorted(told["missing_keys"])[:3]:
        raise ConfigError(
            f"{folder.name!r} has no weights for its classifier ({', '.join(missing)}): it was not trained as a judge"
        )
    if head == "seq2seq":
        return TorchNetwork(module, _first_step, options.device)
    typed = (getattr(module.config, "type_vocab_size", 0) or 0) > 1
    return TorchNetwork(module, lambda model, tensors: model(**tensors).logits, options.device, typed=typed)


def t5_token_network(folder: Folder, foundation: Folder, options: ModelOptions, *, prefix: str) -> TorchNetwork:
    """Build T5's encoder with a token classifier from weights whose names start with `prefix`.

    Architecture and sizes are the foundation's. Reading the weights this way needs no code of the repository.
    Raises `ConfigError` when weights are missing, left over, or of another size.
    """
    transformers, torch = libraries(folder.name)
    told = {key: value for key, value in foundation.config.items() if key not in {"id2label", "label2id", "num_labels"}}
    config = transformers.T5Config.from_dict({**told, "num_labels": 2})
    with quiet():
        module = transformers.T5ForTokenClassification(config)
    state = {key.removeprefix(prefix): value for key, value in _state(folder, torch).items()}
    shared = state.get("transformer.shared.weight", state.get("transformer.encoder.embed_tokens.weight"))
    if shared is not None:  # one matrix under two names; files hold either or both
        state |= {"transformer.shared.weight": shared, "transformer.encoder.embed_tokens.weight": shared}
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        why = " ".join(str(error).split())[:300]
        raise ConfigError(f"the weights of {folder.name!r} do not fit {foundation.name!r}: {why}") from None
    module = module.to(getattr(torch, options.dtype))
    return TorchNetwork(module, lambda model, tensors: model(**tensors).logits, options.device)


def chosen_device(wanted: str) -> str:
    """Return the device to use: the one named, or the best there is. Raises `ConfigError` for one that is not there."""
    import torch

    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if wanted == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if there[name])
    try:
        device = torch.device(wanted)
        is_there = (device.index or 0) < there.get(device.type, 0)
    except RuntimeError:
        is_there = False
    if not is_there:
        usable = ", ".join(name for name, count in there.items() if count)
        raise ConfigError(f"option device={wanted!r}: not available; use one of auto, {usable}")
    return wanted


def libraries(model: str) -> tuple[Any, Any]:
    """Import transformers and torch, or say how to get them."""
    try:
        import torch
        import transformers
    except ImportError:
        raise MissingExtraError(f"the judge hf:{model}", "hf") from None
    return transformers, torch


def _first_step(module: Any, tensors: Mapping[str, Any]) -> Any:
    """Return what a sequence-to-sequence model would say first: inputs × vocabulary."""
    import torch

    begin = module.config.decoder_start_token_id
    starts = torch.full((len(tensors["input_ids"]), 1), begin if begin is not None else 0, device=module.device)
    return module(**tensors, decoder_input_ids=starts, use_cache=False).logits[:, 0]


def _state(folder: Folder, torch: Any) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for file in weight_files(folder.path):
        try:
            if file.suffix == ".safetensors":
                from safetensors.torch import load_file

                state |= load_file(file)
            else:
                state |= torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
            raise ConfigError(f"cannot read the weights {str(file)!r}: {first_line(error)}") from None
    return state


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' notes and progress bars; what matters is checked and raised by whoever loads."""
    from transformers.utils import logging

    verbosity, had_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bar:
            logging.enable_progress_bar()


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
        text = storable(text)
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
    from tokenizers import Tokenizer

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
                    if taken[one].done():
                        continue
                    if isinstance(row, JudgeError):
                        taken[one].set_exception(row)
                        taken[one].exception()  # looked at, so that asyncio does not warn when nobody waits any more
                    else:
                        taken[one].set_result(row)

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
