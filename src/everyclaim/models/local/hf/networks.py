"""Token ids → numbers: networks built by torch from a folder's weights, or exported to ONNX and run without it.

Nothing else here knows torch.

Loading is strict: a weight that the architecture has and the files have not is an error, because a head that was
never trained gives numbers too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.models.local.hf.folder import Folder, weight_files
from everyclaim.models.local.hf.options import ModelOptions
from everyclaim.models.local.onnx import quiet_onnxruntime

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


class Network(Protocol):
    """Token ids, mask and types (each inputs × tokens) → logits: inputs × classes, or inputs × tokens × classes.

    Raises `MemoryError` when a batch is too large for the device.
    """

    @property
    def device(self) -> str:
        """Where it runs."""

    def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
        """Run one batch."""


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
        try:
            onnxruntime = quiet_onnxruntime()
        except ImportError:
            raise MissingExtraError(f"the exported network {file.name}", "hf") from None
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


def auto_network(folder: Folder, head: Head, options: ModelOptions) -> TorchNetwork:
    """Build a network of an architecture that transformers knows.

    Raises `ConfigError` when it does not know it, or when weights are missing.
    """
    transformers, torch = libraries(folder.name)
    if not weight_files(folder):
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
        raise ConfigError(f"cannot load {folder.name!r}: {_first_line(error)}") from None
    _nothing_missing(folder, told["missing_keys"])
    if head == "seq2seq":
        return TorchNetwork(module, _first_step, options.device)
    typed = (getattr(module.config, "type_vocab_size", 0) or 0) > 1
    return TorchNetwork(module, lambda model, tensors: model(**tensors).logits, options.device, typed=typed)


def t5_token_network(
    folder: Folder, foundation: Folder, options: ModelOptions, *, prefix: str, classes: int
) -> TorchNetwork:
    """Build T5's encoder with a token classifier from weights whose names start with `prefix`.

    Architecture and sizes are the foundation's. Reading the weights this way needs no code of the repository.
    Raises `ConfigError` when weights are missing, left over, or of another size.
    """
    transformers, torch = libraries(folder.name)
    told = {key: value for key, value in foundation.config.items() if key not in {"id2label", "label2id", "num_labels"}}
    config = transformers.T5Config.from_dict({**told, "num_labels": classes})
    with quiet():
        module = transformers.T5ForTokenClassification(config)
    state = {key.removeprefix(prefix): value for key, value in _state(folder, torch).items()}
    shared = state.get("transformer.shared.weight", state.get("transformer.encoder.embed_tokens.weight"))
    if shared is not None:  # one matrix under two names; files hold either or both
        state |= {"transformer.shared.weight": shared, "transformer.encoder.embed_tokens.weight": shared}
    try:
        missing, left = module.load_state_dict(state, strict=False)
    except RuntimeError as error:
        raise ConfigError(f"the weights of {folder.name!r} do not fit {foundation.name!r}: {error}") from None
    _nothing_missing(folder, missing)
    if left:
        raise ConfigError(
            f"{folder.name!r} has weights that this architecture does not have: {', '.join(sorted(left)[:3])}"
        )
    module = module.to(getattr(torch, options.dtype))
    return TorchNetwork(module, lambda model, tensors: model(**tensors).logits, options.device)


def chosen_device(wanted: str) -> str:
    """Return the device to use: the one named, or the best there is. Raises `ConfigError` for one that is not there."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if wanted == "auto":
        return next(name for name in ("cuda", "mps", "cpu") if there[name])
    try:
        device = torch.device(wanted)
        is_there = there.get(device.type, False) and (
            device.type != "cuda" or (device.index or 0) < torch.cuda.device_count()
        )
    except RuntimeError:
        is_there = False
    if not is_there:
        usable = ", ".join(name for name, has_it in there.items() if has_it)
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
    for file in weight_files(folder):
        try:
            if file.suffix == ".safetensors":
                from safetensors.torch import load_file

                state |= load_file(file)
            else:
                state |= torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
            raise ConfigError(f"cannot read the weights {str(file)!r}: {_first_line(error)}") from None
    return state


def _nothing_missing(folder: Folder, missing: Sequence[str]) -> None:
    if missing:
        names = ", ".join(sorted(missing)[:3])
        raise ConfigError(f"{folder.name!r} has no weights for its classifier ({names}): it was not trained as a judge")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


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
