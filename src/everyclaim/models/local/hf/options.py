"""Which model to load and how, as a spec's options say it; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec

Family = Literal["hhem", "minicheck", "nli", "lettucedetect"]
FAMILIES: tuple[Family, ...] = ("hhem", "minicheck", "nli", "lettucedetect")
MAX_REPLY_MB = 256  # tokenizers are sent compressed, and some have 30 MB
_YES, _NO = ("true", "1", "yes"), ("false", "0", "no")


class Known(NamedTuple):
    """A published model: its family, and the commit that is loaded when a spec names none."""

    family: Family
    revision: str | None


# The commits are those that public work with these models loads and records. Where none is known, `main` is
# loaded and the commit it stood at is kept with every result.
KNOWN: Mapping[str, Known] = {
    "vectara/hallucination_evaluation_model": Known("hhem", "8e4a2e6e96c708cc76c2344f7e4757df2515292c"),
    "lytang/MiniCheck-RoBERTa-Large": Known("minicheck", "74c8919647e61ed0f71bc177d94f10930f090068"),
    "lytang/MiniCheck-DeBERTa-v3-Large": Known("minicheck", "2f2d01a54fa022a7ffadb76260e1ea8bc88c82bb"),
    "lytang/MiniCheck-Flan-T5-Large": Known("minicheck", "96eafd01cee2d16cf81aaa2fb226b14f422a37b3"),
    "cross-encoder/nli-deberta-v3-base": Known("nli", "6c749ce3425cd33b46d187e45b92bbf96ee12ec7"),
    "KRLabsOrg/lettucedetect-base-modernbert-en-v1": Known("lettucedetect", None),
    "KRLabsOrg/lettucedetect-large-modernbert-en-v1": Known("lettucedetect", None),
}
FOUNDATIONS: Mapping[str, str] = {"google/flan-t5-base": "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2"}


@dataclass(frozen=True, slots=True)
class HfOptions:
    """What decides how a model is loaded and run. Two equal ones share one loaded model.

    `model` is a hub id or a folder. `labels` are the names of the classifier's outputs in order, for models
    that do not say. `max_tokens` bounds one input (None: what the family and the model take).
    """

    model: str
    family: Family | None = None
    revision: str | None = None
    foundation: str = ""
    labels: tuple[str, ...] = ()
    max_tokens: int | None = None
    device: str = "auto"
    dtype: str = "float32"
    batch_size: int = 16
    runtime: Literal["auto", "torch", "onnx"] = "auto"
    local_files_only: bool = False
    max_reply_mb: int = MAX_REPLY_MB  # of what the hub answers, decompressed


class OptionReader:
    """Takes the options of a spec one by one; what is left at the end is unknown."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._left = dict(spec.options)
        self._known: list[str] = []

    def text(self, name: str, usual: str = "") -> str:
        """Take an option as it is."""
        self._known.append(name)
        return self._left.pop(name, usual)

    def choice(self, name: str, allowed: tuple[str, ...], usual: str = "") -> str:
        """Take one of several words; the first is usual."""
        value = self.text(name, usual or allowed[0])
        if value not in allowed:
            raise ConfigError(f"option {name}={value!r}: choose one of {', '.join(filter(None, allowed))}")
        return value

    def flag(self, name: str) -> bool:
        """Take `true` or `false` (usual)."""
        return self.choice(name, (*_NO, *_YES)) in _YES

    def whole(self, name: str, low: int, high: int) -> int | None:
        """Take a whole number; None when it is not given."""
        value = self.text(name)
        if not value:
            return None
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ConfigError(f"option {name}={value!r} must be a whole number from {low} to {high}")
        return int(value)

    def share(self, name: str) -> float | None:
        """Take a number from 0 to 1; None when it is not given."""
        value = self.text(name)
        if not value:
            return None
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            raise ConfigError(f"option {name}={value!r} must be a number from 0 to 1")
        return number

    def finish(self) -> None:
        """Complain about options that nobody took."""
        if self._left:
            self._spec.check_options(sorted(set(self._known)))


def read_options(spec: Spec, reader: OptionReader) -> HfOptions:
    """Read what decides how a model is loaded. Raises `ConfigError` for a value that is not allowed."""
    model = spec.argument.strip()
    if not model:
        raise ConfigError(
            "name a model of the Hugging Face hub or a folder, as in 'hf:vectara/hallucination_evaluation_model'"
        )
    family = reader.choice("family", ("", *FAMILIES))
    labels = reader.text("labels")
    return HfOptions(
        model=model,
        family=cast("Family", family) if family else None,
        revision=reader.text("revision") or None,
        foundation=reader.text("foundation"),
        labels=tuple(label.strip() for label in labels.split(",")) if labels else (),
        max_tokens=reader.whole("max_tokens", 32, 1_000_000),
        device=reader.text("device", "auto"),
        dtype=reader.choice("dtype", ("float32", "bfloat16", "float16")),
        batch_size=reader.whole("batch_size", 1, 4096) or 16,
        runtime=cast("Literal['auto', 'torch', 'onnx']", reader.choice("runtime", ("auto", "torch", "onnx"))),
        local_files_only=reader.flag("local_files_only"),
        max_reply_mb=reader.whole("max_reply_mb", 1, 100_000) or MAX_REPLY_MB,
    )
