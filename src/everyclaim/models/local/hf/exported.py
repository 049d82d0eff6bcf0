"""The same networks exported to ONNX, run by onnxruntime: no torch, no transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.models.local.hf.networks import Float32Array, Ints
from everyclaim.models.local.onnx import quiet_onnxruntime

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_READ = {"input_ids", "attention_mask", "token_type_ids"}


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
            raise ConfigError(f"option device={device!r}: choose one of auto, {', '.join(usable)}")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(str(file), options, providers=[_PROVIDERS[self.device]])
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the file
            raise ConfigError(f"cannot load the exported network {str(file)!r}: {error}") from None
        self._inputs = {value.name for value in self._session.get_inputs()}
        if unknown := sorted(self._inputs - _READ):
            raise ConfigError(f"the exported network {str(file)!r} wants {unknown[0]!r}, which is not known here")

    def __call__(self, ids: Ints, mask: Ints, types: Ints) -> Float32Array:
        """Run one batch."""
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        logits = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        return np.asarray(logits, dtype=np.float32)
