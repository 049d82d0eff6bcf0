"""Encoder models from the Hugging Face hub or a folder, as classifiers of pairs of texts, and of tokens.

    options → folder (hub or disk) → tokenizer, network (torch or ONNX) → family → batches over all who ask

No code of a model's repository is ever run: what is not built into `transformers` is put together here. A model is
loaded once and shared by all who ask for the same one. What the numbers of each family mean:

HHEM-2.1-Open (Vectara): T5's encoder, read at its first token; class 1 is "consistent", from 0.5 on. Current versions
of transformers cannot run its repository's code: the checkpoint is a plain `T5ForTokenClassification` under the prefix
``t5.``, and is loaded as one.

MiniCheck (arXiv 2404.10774): document and claim in one text, with the tokenizer's end token between them. Class 1 is
"supported"; Flan-T5 is asked with ``predict: `` before the text, and the first tokens of 0 and 1 are compared.

Natural language inference: two texts in; entailment, neutral and contradiction out, in the order of the names in the
model's configuration. One without names needs them said: guessing turns support into contradiction.

LettuceDetect (arXiv 2502.17125): passages, question and answer in, a class per token of the answer out.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.protocols import Marked
from everyclaim.core.types import Label, Probabilities
from everyclaim.models.local import hf_files, hf_networks

HHEM_PREFIX = "t5."
HHEM_FOUNDATION = "google/flan-t5-base"
# The words it was trained on, around premise and hypothesis.
HHEM_PROMPT = ("<pad> Determine if the hypothesis is true given the premise?\n\nPremise: ", "\n\nHypothesis: ", "")
HHEM_TOKENS = 4096  # T5 has no last position; memory grows with the square
MINICHECK_TOKENS = 2048
NLI_TOKENS = 512
LETTUCE_TOKENS = 4096
_SLACK = 8  # tokens that joining texts may add to the sum of theirs
TextPair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairFamily:
    """How a pair of texts is written as an input, as one text or two, and what the network's output for it says."""

    write: Callable[[TextPair], str | TextPair]
    read: Callable[[hf_networks.Float32Array], Probabilities]


def hhem() -> PairFamily:
    """Write each pair into the prompt. The texts are put in by position: braces in them mean nothing."""
    before, between, after = HHEM_PROMPT
    return PairFamily(
        lambda pair: before + pair[0] + between + pair[1] + after,
        lambda row: Probabilities.rounded(softmax(row[0] if row.ndim == 2 else row)[1]),
    )


def minicheck(encoder: hf_networks.TextEncoder) -> PairFamily:
    """Write document, end token and claim as one text; of two classes, 1 is supported."""
    return PairFamily(lambda pair: pair[0] + encoder.eos + pair[1], lambda row: Probabilities.rounded(softmax(row)[1]))


def minicheck_t5(encoder: hf_networks.TextEncoder) -> PairFamily:
    """Compare the tokens that "0" and "1" begin with (3 and 209 in Flan-T5's vocabulary), and only them."""
    no, yes = encoder.ids("0")[:1], encoder.ids("1")[:1]
    if not no or not yes or no == yes:
        raise ConfigError("the tokenizer does not separate the answers 0 and 1")
    return PairFamily(
        lambda pair: "predict: " + pair[0] + encoder.eos + pair[1],
        lambda row: Probabilities.rounded(softmax(np.asarray([row[no[0]], row[yes[0]]]))[1]),
    )


def nli(order: Sequence[Label]) -> PairFamily:
    """Join two texts as the tokenizer does; `order` says what each of the classifier's outputs means."""

    def read(row: hf_networks.Float32Array) -> Probabilities:
        if len(order) == 1:  # a probability of support by itself
            return Probabilities.rounded(1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, float(row[0]))))))
        shares = dict(zip(order, softmax(row), strict=True))
        if len(shares) == 2 and Label.UNSUPPORTED in shares:
            return Probabilities.rounded(shares[Label.SUPPORTED])
        return Probabilities.rounded(shares[Label.SUPPORTED], shares[Label.CONTRADICTED])

    return PairFamily(lambda pair: pair, read)


@dataclass(frozen=True)
class LoadedPairs:
    """A classifier of pairs of texts. `max_tokens` bounds a whole input; a longer one is refused, never cut."""

    family: PairFamily
    encoder: hf_networks.TextEncoder
    batcher: hf_networks.Batcher
    max_tokens: int
    parameters: Mapping[str, str]

    @cached_property
    def limit(self) -> int:
        """How many tokens premise and hypothesis may have together."""
        return self.max_tokens - len(self.encoder.encoded([self.family.write(("", ""))])[0].ids)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return self.encoder.lengths(texts)

    async def judge(self, pairs: Sequence[TextPair]) -> list[Probabilities]:
        """Judge every pair, together with those that others ask for at the same time.

        Raises `JudgeError` when a pair is too long or the model gives no number.
        """
        inputs = await asyncio.to_thread(self._written, pairs)
        return [self.family.read(row) for row in await self.batcher.run(inputs)]

    def _written(self, pairs: Sequence[TextPair]) -> list[hf_networks.Tokens]:
        plain = self.encoder.plain  # no special tokens in the texts any more
        texts = [self.family.write((plain(premise), plain(claim))) for premise, claim in pairs]
        inputs = [hf_networks.as_tokens(encoding) for encoding in self.encoder.encoded(texts)]
        _check_length(inputs, self.max_tokens, "claim and passages are {} tokens; the model takes {}")
        return inputs


@dataclass(frozen=True)
class LoadedTokens:
    """A classifier of tokens. Passages and question are written as in its training data (RAGTruth's prompts)."""

    encoder: hf_networks.TextEncoder
    batcher: hf_networks.Batcher
    max_tokens: int
    bad: int  # the class of tokens that nothing backs
    parameters: Mapping[str, str]

    def room(self, question: str, answer: str) -> int:
        """Return how many tokens of passages fit in beside question and answer."""
        return self.max_tokens - len(self._encoding([], question, answer).ids) - _SLACK

    def lengths(self, passages: Sequence[str]) -> list[int]:
        """Count the tokens of each passage, with its number and the line break before it."""
        return [length + 1 for length in self.encoder.lengths([_numbered(999, passage) for passage in passages])]

    async def mark(self, readings: Sequence[Sequence[str]], question: str, answer: str) -> list[list[Marked]]:
        """Mark the answer's tokens for each reading. Raises `JudgeError` when one is too long."""
        encodings = await asyncio.to_thread(lambda: [self._encoding(one, question, answer) for one in readings])
        inputs = [hf_networks.as_tokens(encoding) for encoding in encodings]
        _check_length(inputs, self.max_tokens, "answer and passages are {} tokens; it takes {}")
        rows = await self.batcher.run(inputs)
        return [self._marks(encoding, row) for encoding, row in zip(encodings, rows, strict=True)]

    def _encoding(self, passages: Sequence[str], question: str, answer: str) -> Any:
        plain = self.encoder.plain
        prompt = _lettuce_prompt([plain(passage) for passage in passages], plain(question))
        return self.encoder.encoded([(prompt, plain(answer))])[0]

    def _marks(self, encoding: Any, row: hf_networks.Float32Array) -> list[Marked]:
        return [
            Marked(start, end, round(softmax(row[i])[self.bad], 4))
            for i, (part, (start, end)) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True))
            if part == 1
        ]


def _lettuce_prompt(passages: Sequence[str], question: str) -> str:
    listed = "\n".join(_numbered(i, passage) for i, passage in enumerate(passages, start=1))
    if not question.strip():
        return f"Summarize the following text:\n{listed}\noutput:"
    return (
        f"Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly "
        f"based on the following {len(passages)} passages:\n{listed}\nIn case the passages do not contain the "
        'necessary information to answer the question, please reply with: "Unable to answer based on given '
        'passages."\noutput:'
    )


def _numbered(number: int, passage: str) -> str:
    return f"passage {number}: {passage}"


def _check_length(inputs: Sequence[hf_networks.Tokens], most: int, words: str) -> None:
    longest = max((len(one.ids) for one in inputs), default=0)
    if longest > most:
        raise JudgeError("too_long", words.format(longest, most))


def softmax(row: hf_networks.Float32Array) -> list[float]:
    """Turn logits into probabilities."""
    raised = np.exp(row.astype(np.float64) - float(row.max()))
    return [float(value) for value in raised / raised.sum()]


# Positions that these kinds of models count but do not use.
_UNUSED_POSITIONS: Mapping[str, int] = {"roberta": 2, "xlm-roberta": 2, "camembert": 2}


@lru_cache(maxsize=4)
def load_model(options: hf_files.HfOptions) -> LoadedPairs | LoadedTokens:
    """Load a model, or return the one that was loaded for equal options.

    Raises `MissingExtraError` without the extra `hf`, `ConfigError` for a model that cannot be used as asked, and
    `OperatorError` when it cannot be fetched.
    """
    is_there = hf_files.exported(Path(options.model).expanduser()) is not None
    is_export = options.runtime == "onnx" or (options.runtime == "auto" and is_there)
    if not is_export:
        hf_networks.libraries(options.model)  # before anything is fetched
    known = hf_files.KNOWN.get(options.model)
    revision = options.revision or (known.revision if known else None)
    folder = hf_files.find_folder(options.model, revision, onnx=is_export, local_files_only=options.local_files_only)
    family = options.family or (known.family if known else _family(folder))
    return _LOADERS[family](_Opening(folder, options, family, is_export))


@dataclass(frozen=True, slots=True)
class _Opening:
    folder: hf_files.Folder
    options: hf_files.HfOptions
    family: hf_files.Family
    exported: bool

    def network(self, head: hf_networks.Head) -> hf_networks.Network:
        return self.export() if self.exported else hf_networks.auto_network(self.folder, head, self.options)

    def export(self) -> hf_networks.Network:
        assert self.folder.onnx  # `find_folder` saw to it
        return hf_networks.OnnxNetwork(self.folder.onnx, self.options.device)

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

    def pairs(
        self,
        family: PairFamily,
        encoder: hf_networks.TextEncoder,
        network: hf_networks.Network,
        usual: int,
        **more: str,
    ) -> LoadedPairs:
        """Put a classifier of pairs together, and try it once."""
        limit = self.limit(usual)
        family.read(self.tried(network, encoder))
        return LoadedPairs(family, encoder, self.batcher(network), limit, self.parameters(network, limit) | more)

    def tried(self, network: hf_networks.Network, encoder: hf_networks.TextEncoder) -> hf_networks.Float32Array:
        """Run the network once: what cannot work fails here, not in the middle of a run."""
        tokens = hf_networks.as_tokens(encoder.encoded(["0"])[0])
        try:
            row: hf_networks.Float32Array = network(*hf_networks.padded([tokens], self.pad))[0]
        except Exception as error:  # noqa: BLE001 - torch and onnxruntime raise errors of their own
            raise ConfigError(f"{self.folder.name!r} cannot be run: {error}") from None
        return row

    @property
    def pad(self) -> int:
        pad = self.folder.config.get("pad_token_id")
        return pad if isinstance(pad, int) else 0

    def batcher(self, network: hf_networks.Network) -> hf_networks.Batcher:
        return hf_networks.Batcher(network, pad=self.pad, batch_size=self.options.batch_size)

    def parameters(self, network: hf_networks.Network, limit: int) -> dict[str, str]:
        """Say what made the numbers, for the provenance of results."""
        used = ("onnxruntime",) if self.exported else ("transformers", "torch")
        return {
            "hf_family": self.family,
            "hf_revision": self.folder.revision,
            "hf_max_tokens": str(limit),
            "hf_batch_size": str(self.options.batch_size),
            "hf_device": network.device,
            "hf_dtype": "exported" if self.exported else self.options.dtype,
            "hf_runtime": ", ".join(f"{name} {version(name)}" for name in used),
        }


def _hhem(opening: _Opening) -> LoadedPairs:
    folder, options = opening.folder, opening.options
    family = hhem()
    if opening.exported and not options.foundation:
        return opening.pairs(family, hf_networks.open_tokenizer(folder), opening.export(), HHEM_TOKENS)
    name = options.foundation or str(folder.config.get("foundation") or HHEM_FOUNDATION)
    revision, local = hf_files.FOUNDATIONS.get(name), options.local_files_only
    foundation = hf_files.find_folder(name, revision, weights=False, local_files_only=local)
    if opening.exported:
        network = opening.export()
    else:
        network = hf_networks.t5_token_network(folder, foundation, options, prefix=HHEM_PREFIX)
    used = f"{name}@{foundation.revision}" if foundation.revision else name
    return opening.pairs(family, hf_networks.open_tokenizer(foundation), network, HHEM_TOKENS, hf_foundation=used)


def _minicheck(opening: _Opening) -> LoadedPairs:
    encoder, most = hf_networks.open_tokenizer(opening.folder), MINICHECK_TOKENS
    if not encoder.eos:
        raise ConfigError(f"the tokenizer of {opening.folder.name!r} has no separator for document and claim")
    if opening.folder.config.get("model_type") != "t5":
        return opening.pairs(minicheck(encoder), encoder, opening.network("sequence"), most)
    if opening.exported:
        raise ConfigError("an exported Flan-T5 is not supported; omit 'runtime=onnx'")
    family = minicheck_t5(encoder)
    return opening.pairs(family, encoder, opening.network("seq2seq"), most, hf_family="minicheck-t5")


def _nli(opening: _Opening) -> LoadedPairs:
    folder = opening.folder
    order = hf_files.label_order(folder.name, hf_files.class_names(folder.config), opening.options.labels)
    encoder = hf_networks.open_tokenizer(folder)
    return opening.pairs(nli(order), encoder, opening.network("sequence"), NLI_TOKENS)


def _lettucedetect(opening: _Opening) -> LoadedTokens:
    folder, given = opening.folder, opening.options.labels
    names = hf_files.class_names(folder.config)
    if len(names) != 2:
        raise ConfigError(f"{folder.name!r} has {len(names)} token classes, but two are needed")
    if not given and all(name.startswith("LABEL_") for name in names):
        bad = 1  # without names the published models' order holds: 0 backed, 1 not
    else:
        bad = 1 - hf_files.label_order(folder.name, names, given).index(Label.SUPPORTED)
    encoder, network = hf_networks.open_tokenizer(folder), opening.network("token")
    opening.tried(network, encoder)
    limit = opening.limit(LETTUCE_TOKENS)
    return LoadedTokens(encoder, opening.batcher(network), limit, bad, opening.parameters(network, limit))


_LOADERS: Mapping[hf_files.Family, Callable[[_Opening], LoadedPairs | LoadedTokens]] = {
    "hhem": _hhem,
    "minicheck": _minicheck,
    "nli": _nli,
    "lettucedetect": _lettucedetect,
}


def _family(folder: hf_files.Folder) -> hf_files.Family:
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
        f"in '?family=nli': {', '.join(hf_files.FAMILIES)}"
    )
