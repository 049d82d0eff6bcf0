"""Which model to load and how, as a spec's options say it; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, NamedTuple

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, read
from everyclaim.core.spec import Spec

Family = Literal["hhem", "minicheck", "nli", "lettucedetect"]
FAMILIES: tuple[Family, ...] = ("hhem", "minicheck", "nli", "lettucedetect")
MAX_REPLY_MB = 256  # tokenizers are sent compressed, and some have 30 MB


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What a spec may say of how a model is loaded and run."""

    family: Annotated[Family | None, Opt("model family, if its files do not name it")] = None
    revision: Annotated[str | None, Opt("commit, tag or branch")] = None
    foundation: Annotated[str, Opt("location of HHEM's tokenizer")] = ""
    labels: Annotated[tuple[str, ...], Opt("names of the outputs in order, if the model does not name them")] = ()
    max_tokens: Annotated[
        Annotated[int, Range(32, 1_000_000)] | None, Opt("maximum tokens of one input (default: the model's maximum)")
    ] = None
    device: Annotated[str, Opt("`auto`, `cpu`, `cuda:0`, …")] = "auto"
    dtype: Annotated[Literal["float32", "bfloat16", "float16"], Opt("data type of the weights")] = "float32"
    batch_size: Annotated[int, Range(1, 4096), Opt("inputs per batch")] = 16
    runtime: Annotated[Literal["auto", "torch", "onnx"], Opt("runtime")] = "auto"
    local_files_only: Annotated[bool, Opt("never contact the hub")] = False
    max_reply_mb: Annotated[int, Range(1, 100_000), Opt("maximum MB of an answer of the hub, decompressed")] = (
        MAX_REPLY_MB
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HfOptions(ModelOptions):
    """What decides how a model is loaded and run. Two equal ones share one loaded model.

    `model` is a hub id or a folder.
    """

    model: str


def read_options(spec: Spec) -> HfOptions:
    """Read what decides how a model is loaded. Raises `ConfigError` for a value that is not allowed."""
    if not (model := spec.argument.strip()):
        raise ConfigError(
            "name a model of the Hugging Face hub or a folder, as in 'hf:vectara/hallucination_evaluation_model'"
        )
    return HfOptions(model=model, **asdict(read(spec, ModelOptions)))
