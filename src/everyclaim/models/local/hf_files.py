"""Which model of Hugging Face to load and how, as a spec's options say it; and where its files are.

That is a folder on disk, or a snapshot of a hub repository at one commit. Only configuration, tokenizer and weights are
fetched, never Python files. Weights in safetensors are preferred; pickled ones are read by torch with `weights_only`,
which builds tensors and runs nothing. Nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from everyclaim.core.errors import ConfigError, MissingExtraError, OperatorError
from everyclaim.core.kinds import Range
from everyclaim.core.options import read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Label

Family = Literal["hhem", "minicheck", "nli", "lettucedetect"]
FAMILIES: tuple[Family, ...] = ("hhem", "minicheck", "nli", "lettucedetect")


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


_SUPPORTED = "entailment entail entails entailed supported supports support consistent faithful grounded"
_CONTRADICTED = "contradiction contradict contradicts contradicted contradictory refutes refuted refute"
_UNSUPPORTED = (
    "neutral notenoughinfo nei unsupported notsupported notentailment nonentailment notentailed "
    "inconsistent hallucinated hallucination unfaithful ungrounded"
)
_MEANING: Mapping[str, Label] = {
    **dict.fromkeys(_SUPPORTED.split(), Label.SUPPORTED),
    **dict.fromkeys(_CONTRADICTED.split(), Label.CONTRADICTED),
    **dict.fromkeys(_UNSUPPORTED.split(), Label.UNSUPPORTED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What a spec may say of how a model is loaded and run."""

    family: Family | None = None  # where its files do not name it
    revision: str | None = None  # commit, tag or branch
    foundation: str = ""  # where HHEM's tokenizer is
    labels: tuple[str, ...] = ()  # names of the outputs in order, where the model does not name them
    max_tokens: Annotated[int, Range(32, 1_000_000)] | None = None  # of one input (default: the model's maximum)
    device: str = "auto"  # or `cpu`, `cuda:0`, …
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"  # of the weights
    batch_size: Annotated[int, Range(1, 4096)] = 16  # inputs
    runtime: Literal["auto", "torch", "onnx"] = "auto"
    local_files_only: bool = False  # never contact the hub


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


_FETCHING = threading.Lock()
_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TEXTS = ("*.json", "*.txt", "*.model")  # configuration and tokenizer
_SAFE = ("model.safetensors", "model-*.safetensors")
_PICKLED = ("pytorch_model.bin", "pytorch_model-*.bin")
_ONNX = ("model.onnx", "onnx/model.onnx")


@dataclass(frozen=True, slots=True)
class Folder:
    """A model's files. `revision` is the commit on the hub, or ``sha256:…`` of the weights on disk."""

    name: str
    path: Path
    revision: str
    config: Mapping[str, Any]
    local: bool

    @property
    def onnx(self) -> Path | None:
        """The exported network, where there is one."""
        return exported(self.path)

    def json(self, name: str) -> Mapping[str, Any]:
        """Read one of its JSON files; empty when it is not there."""
        return _object(self.path / name) if (self.path / name).is_file() else {}


def find_folder(
    model: str, revision: str | None, *, weights: bool = True, onnx: bool = False, local_files_only: bool = False
) -> Folder:
    """Find a model's files on disk, or fetch them from the hub.

    Raises `ConfigError` for what is not there, and `OperatorError` when the hub cannot be reached.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        found = Folder(model, path, _digest(path) if weights else "", _config(path), local=True)
    elif model.startswith((".", "/", "~")) or not _HUB_ID.fullmatch(model):
        raise ConfigError(f"there is no folder {model!r}, and it is not a Hugging Face model id")
    else:
        fetched = partial(_fetched, model, revision, local_files_only=local_files_only)
        path = fetched((*_TEXTS, *((*_ONNX, "*.onnx_data") if onnx else _SAFE if weights else ())))
        if weights and not onnx and not weight_files(path):
            path = fetched((*_TEXTS, *_PICKLED))
        commit = path.name if _COMMIT.fullmatch(path.name) else revision or "unknown"
        found = Folder(model, path, commit, _config(path), local=False)
    if weights and not (found.onnx if onnx else weight_files(path) or found.onnx):
        wanted = ", ".join(_ONNX if onnx else (_SAFE[0], _PICKLED[0], _ONNX[0]))
        raise ConfigError(f"{model!r} has no weights; looked for {wanted}")
    return found


def class_names(config: Mapping[str, Any]) -> list[str]:
    """Return the names of a classifier's outputs in order; ``LABEL_0`` where it has none."""
    names = config.get("id2label")
    if isinstance(names, Mapping) and names:
        return [str(names[key]) for key in sorted(names, key=int)]
    return [f"LABEL_{i}" for i in range(int(config.get("num_labels", 2)))]


def label_order(model: str, named: Sequence[str], given: Sequence[str]) -> tuple[Label, ...]:
    """Find out what each output means, from the names `given`, else from the model's own.

    Raises `ConfigError` when that cannot be known.
    """
    names = given or named
    if given and len(given) != len(named):
        raise ConfigError(f"option labels names {len(given)} outputs, {model!r} has {len(named)}")
    meanings = [_MEANING.get(re.sub(r"[\W_]+", "", name.casefold())) for name in names]
    known = [label for label in meanings if label is not None]
    hint = "name its outputs in order, as in '?labels=contradiction,entailment,neutral'"
    if len(known) < len(names):
        raise ConfigError(f"the outputs of {model!r} are called {', '.join(names)}: {hint}")
    if len(set(known)) < len(known) or Label.SUPPORTED not in known:
        raise ConfigError(f"the outputs of {model!r}, {', '.join(names)}, are not those of a judge of claims: {hint}")
    return tuple(known)


def exported(path: Path) -> Path | None:
    """Return the exported network in a folder on disk, None where there is none."""
    return next((path / name for name in _ONNX if (path / name).is_file()), None)


def _fetched(model: str, revision: str | None, patterns: Sequence[str], *, local_files_only: bool) -> Path:
    try:
        import huggingface_hub as hub
        from huggingface_hub import errors
    except ImportError:
        raise MissingExtraError(f"the judge hf:{model}", "hf") from None
    try:
        with _FETCHING:
            return Path(
                hub.snapshot_download(
                    model, revision=revision, allow_patterns=list(patterns), local_files_only=local_files_only
                )
            )
    except errors.LocalEntryNotFoundError:
        why = "it is not in the local cache" if local_files_only else "the hub cannot be reached and it is not cached"
        raise OperatorError(f"cannot load {_at(model, revision)}: {why}; fetch it once with 'hf download'") from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
        what = _at(model, revision)
        raise ConfigError(f"the Hugging Face hub has no {what}, or it is private and you are not logged in") from None
    except Exception as error:  # noqa: BLE001 - the border to a client whose transport raises errors of its own
        what = _at(model, revision)
        raise OperatorError(f"cannot fetch {what} from the Hugging Face hub: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """Return the first line of a library's message, or the error's name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _at(model: str, revision: str | None) -> str:
    return f"{model!r} at {revision}" if revision else repr(model)


def weight_files(path: Path) -> list[Path]:
    """List the files with torch weights in a folder, safetensors where there are any."""
    for patterns in (_SAFE, _PICKLED):
        found = sorted(file for pattern in patterns for file in path.glob(pattern))
        if found:
            return found
    return []


def _config(path: Path) -> Mapping[str, Any]:
    if not (path / "config.json").is_file():
        raise ConfigError(f"{str(path)!r} is not a model's folder: it has no config.json")
    return _object(path / "config.json")


def _object(file: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {str(file)!r}: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{str(file)!r} is not a JSON object")
    return value


def _digest(path: Path) -> str:
    """Name weights on disk by their content, so that a result says which they were."""
    digest = hashlib.sha256()
    onnx = [path / name for name in _ONNX if (path / name).is_file()]
    for file in weight_files(path) or onnx:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return f"sha256:{digest.hexdigest()[:16]}"
