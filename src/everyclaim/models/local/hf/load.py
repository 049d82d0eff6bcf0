"""Options → a loaded model. A model is loaded once and shared by all who ask for the same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Label
from everyclaim.models.local.hf import families
from everyclaim.models.local.hf.families import LoadedPairs, LoadedTokens, PairFamily
from everyclaim.models.local.hf.folder import Folder, find_folder, is_export
from everyclaim.models.local.hf.inputs import Batcher, TextEncoder, as_tokens, open_tokenizer, padded
from everyclaim.models.local.hf.networks import (
    Float32Array,
    Head,
    Network,
    OnnxNetwork,
    auto_network,
    libraries,
    t5_token_network,
)
from everyclaim.models.local.hf.options import FAMILIES, FOUNDATIONS, KNOWN, Family, HfOptions

# Positions that these kinds of models count but do not use.
_UNUSED_POSITIONS: Mapping[str, int] = {"roberta": 2, "xlm-roberta": 2, "camembert": 2}


@lru_cache(maxsize=4)
def load_model(options: HfOptions) -> LoadedPairs | LoadedTokens:
    """Load a model, or return the one that was loaded for equal options.

    Raises `MissingExtraError` without the extra `hf`, `ConfigError` for a model that cannot be used as asked, and
    `OperatorError` when it cannot be fetched.
    """
    exported = options.runtime == "onnx" or (options.runtime == "auto" and is_export(options.model))
    if not exported:
        libraries(options.model)  # before anything is fetched
    known = KNOWN.get(options.model)
    revision = options.revision or (known.revision if known else None)
    folder = find_folder(
        options.model,
        revision,
        onnx=exported,
        local_files_only=options.local_files_only,
        max_reply_mb=options.max_reply_mb,
    )
    family = options.family or (known.family if known else _family(folder))
    return _LOADERS[family](_Opening(folder, options, family, exported))


@dataclass(frozen=True, slots=True)
class _Opening:
    """What is known while a model is being opened."""

    folder: Folder
    options: HfOptions
    family: Family
    exported: bool

    def network(self, head: Head) -> Network:
        """Open the network, exported or built by torch."""
        return self.export() if self.exported else auto_network(self.folder, head, self.options)

    def export(self) -> Network:
        """Open the exported network."""
        if self.folder.onnx is None:  # pragma: no cover - `find_folder` saw to it
            raise ConfigError(f"{self.folder.name!r} has no exported network")
        return OnnxNetwork(self.folder.onnx, self.options.device)

    def limit(self, usual: int) -> int:
        """Return how many tokens an input may have: as asked or as usual, and never more than there are positions."""
        config = self.folder.config
        positions = config.get("max_position_embeddings")
        # DeBERTa v2's positions are relative: it reads further than it was trained to.
        if not isinstance(positions, int) or config.get("model_type") == "deberta-v2":
            return self.options.max_tokens or usual
        last = positions - _UNUSED_POSITIONS.get(str(config.get("model_type")), 0)
        if self.options.max_tokens and self.options.max_tokens > last:
            raise ConfigError(f"option max_tokens={self.options.max_tokens}: {self.folder.name!r} takes at most {last}")
        return min(self.options.max_tokens or usual, last)

    def pairs(self, family: PairFamily, encoder: TextEncoder, network: Network, usual: int, **more: str) -> LoadedPairs:
        """Put a classifier of pairs together, and try it once."""
        limit = self.limit(usual)
        family.read(self.tried(network, encoder))
        return LoadedPairs(family, encoder, self.batcher(network), limit, self.parameters(network, limit) | more)

    def tried(self, network: Network, encoder: TextEncoder) -> Float32Array:
        """Run the network once: what cannot work fails here, not in the middle of a run."""
        tokens = as_tokens(encoder.encoded(["0"])[0])
        try:
            row: Float32Array = network(*padded([tokens], self.pad))[0]
        except Exception as error:  # noqa: BLE001 - torch and onnxruntime raise errors of their own
            raise ConfigError(f"{self.folder.name!r} cannot be run: {error}") from None
        return row

    @property
    def pad(self) -> int:
        """The token that fills up short inputs."""
        pad = self.folder.config.get("pad_token_id")
        return pad if isinstance(pad, int) else 0

    def batcher(self, network: Network) -> Batcher:
        """Make the network's queue."""
        return Batcher(network, pad=self.pad, batch_size=self.options.batch_size)

    def parameters(self, network: Network, limit: int) -> dict[str, str]:
        """Say what made the numbers, for the provenance of results."""
        used = ("onnxruntime",) if self.exported else ("transformers", "torch")
        return {
            "hf_family": self.family,
            "hf_revision": self.folder.revision,
            "hf_max_tokens": str(limit),
            "hf_batch_size": str(self.options.batch_size),
            "hf_device": network.device,
            "hf_dtype": "exported" if self.exported else self.options.dtype,
            "hf_runtime": ", ".join(f"{name} {_version(name)}" for name in used),
        }


def _hhem(opening: _Opening) -> LoadedPairs:
    folder, options = opening.folder, opening.options
    prompt = str(folder.config.get("prompt") or families.HHEM_PROMPT)
    if not 0 <= prompt.find("{text1}") < prompt.find("{text2}"):
        raise ConfigError(f"the prompt of {folder.name!r} does not contain {{text1}} and {{text2}} in this order")
    family = families.hhem(prompt)
    if opening.exported and not options.foundation:
        return opening.pairs(family, open_tokenizer(folder), opening.export(), families.HHEM_TOKENS)
    name = options.foundation or str(folder.config.get("foundation") or families.HHEM_FOUNDATION)
    foundation = find_folder(
        name,
        FOUNDATIONS.get(name),
        weights=False,
        local_files_only=options.local_files_only,
        max_reply_mb=options.max_reply_mb,
    )
    if opening.exported:
        network = opening.export()
    else:
        network = t5_token_network(folder, foundation, options, prefix=families.HHEM_PREFIX, classes=2)
    used = f"{name}@{foundation.revision}" if foundation.revision else name
    return opening.pairs(family, open_tokenizer(foundation), network, families.HHEM_TOKENS, hf_foundation=used)


def _minicheck(opening: _Opening) -> LoadedPairs:
    encoder, most = open_tokenizer(opening.folder), families.MINICHECK_TOKENS
    if not encoder.eos:
        raise ConfigError(f"the tokenizer of {opening.folder.name!r} has no separator for document and claim")
    if opening.folder.config.get("model_type") != "t5":
        return opening.pairs(families.minicheck(encoder), encoder, opening.network("sequence"), most)
    if opening.exported:
        raise ConfigError("an exported Flan-T5 is not supported; omit 'runtime=onnx'")
    family = families.minicheck_t5(encoder)
    return opening.pairs(family, encoder, opening.network("seq2seq"), most, hf_family="minicheck-t5")


def _nli(opening: _Opening) -> LoadedPairs:
    folder = opening.folder
    order = families.label_order(folder.name, families.class_names(folder.config), opening.options.labels)
    encoder = open_tokenizer(folder)
    return opening.pairs(families.nli(order), encoder, opening.network("sequence"), families.NLI_TOKENS)


def _lettucedetect(opening: _Opening) -> LoadedTokens:
    folder, given = opening.folder, opening.options.labels
    names = families.class_names(folder.config)
    if len(names) != 2:
        raise ConfigError(f"{folder.name!r} has {len(names)} token classes, but two are needed")
    if not given and all(name.startswith("LABEL_") for name in names):
        bad = 1  # without names the published models' order holds: 0 backed, 1 not
    else:
        bad = 1 - families.label_order(folder.name, names, given).index(Label.SUPPORTED)
    encoder, network = open_tokenizer(folder), opening.network("token")
    opening.tried(network, encoder)
    limit = opening.limit(families.LETTUCE_TOKENS)
    return LoadedTokens(encoder, opening.batcher(network), limit, bad, opening.parameters(network, limit))


_LOADERS: Mapping[Family, Callable[[_Opening], LoadedPairs | LoadedTokens]] = {
    "hhem": _hhem,
    "minicheck": _minicheck,
    "nli": _nli,
    "lettucedetect": _lettucedetect,
}


def _family(folder: Folder) -> Family:
    """Guess the family of a model that is not among the known ones."""
    architectures = folder.config.get("architectures") or [""]
    architecture = str(architectures[0])
    names = f"{folder.path.name if folder.local else folder.name} {folder.config.get('_name_or_path', '')}".casefold()
    if folder.config.get("model_type") == "HHEMv2":
        return "hhem"
    if "minicheck" in names:
        return "minicheck"
    if architecture.endswith("ForTokenClassification"):
        return "lettucedetect"
    if architecture.endswith("ForSequenceClassification"):
        return "nli"
    raise ConfigError(
        f"unknown kind of judge {folder.name!r} ({architecture or 'no architecture named'}); set it, as "
        f"in '?family=nli': {', '.join(FAMILIES)}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
