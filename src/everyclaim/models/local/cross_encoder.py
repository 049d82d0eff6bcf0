"""The network that ships: it reads a premise and a claim, and says what the one says about the other.

A BERT encoder of six layers (22 million parameters, 8-bit) with three heads: the claim's label, which of the claim's
tokens fail, and which of the premise's tokens are evidence. How it was made: `training/encoder/`.

A pair is read alone and unpadded, so that what the network says of it never depends on its neighbours in a batch
(activations are scaled by their largest value). Several processor cores read several pairs at a time.

The first half is what it shares with the parser: onnxruntime, silent, its tokenizer and its threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from everyclaim.core.lifetime import once
from everyclaim.core.plaintext import storable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

UNKNOWN, CLS, SEP = 100, 101, 102
T = TypeVar("T")
R = TypeVar("R")


def quiet_onnxruntime() -> Any:
    """Import onnxruntime with its telemetry off; it has to be told before its first import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def single_threaded_session(path: Path) -> InferenceSession:
    """Load a network that computes in the thread that calls it, and the same on every processor.

    Without VNNI the sums of products of bytes overflow unless onnxruntime is asked to be exact (4 % slower).
    """
    onnxruntime = quiet_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    session: InferenceSession = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session


@once
def shipped_tokenizer() -> Tokenizer:
    """Load the tokenizer of the networks that ship."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(files("everyclaim.models").joinpath("data", "tokenizer.json").read_text("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
    return tokenizer


def threads_by_default() -> int:
    """Count the processor cores this process may use, and is told to use; at most four."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "")
    return min(4, cores, int(told)) if told.isdecimal() and int(told) else min(4, cores)


def read_each(read: Callable[[T], R], inputs: Sequence[T], threads: int) -> list[R]:
    """Read every input, so many at a time; equal ones are read once."""
    distinct = list(dict.fromkeys(inputs))
    several = threads > 1 and len(distinct) > 1
    results = _worker_pool(threads, os.getpid()).map(read, distinct) if several else map(read, distinct)
    found = dict(zip(distinct, results, strict=True))
    return [found[one] for one in inputs]


@lru_cache(maxsize=4)
def _worker_pool(threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """Return the threads that read; a forked process has none of them, so each has its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix="everyclaim-reader")


Float32Array = npt.NDArray[np.float32]
POSITIONS = 512  # tokens of everything that is read at a time
CONTEXT, CLAIM = 48, 96  # tokens that are read at most; the premise has its own budget
_LONGEST = 100  # characters of a token and the space around it; what lies beyond is not tokenised


class Pair(NamedTuple):
    """What is read together. `context` (a question, a parent sentence) helps to understand the claim; may be empty.

    `tokens` of the premise are read at most, and never more than fit beside the rest.
    """

    premise: str
    claim: str
    context: str = ""
    tokens: int = POSITIONS


class TokenScore(NamedTuple):
    """The characters [start, end) of a premise or claim, and a log-odds."""

    start: int
    end: int
    logit: float


@dataclass(frozen=True, slots=True)
class Scores:
    """What the network says of one pair."""

    labels: tuple[float, float, float]  # logits: supported, unsupported, contradicted
    claim: tuple[TokenScore, ...]  # log-odds that this token is not supported
    premise: tuple[TokenScore, ...]  # log-odds that this token is evidence


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """The loaded network. `threads` pairs are read at a time."""

    session: InferenceSession
    tokenizer: Tokenizer
    threads: int

    def read(self, pairs: Sequence[Pair]) -> list[Scores]:
        """Read every pair; equal pairs are read once."""
        return read_each(self._one, pairs, self.threads)

    def _one(self, pair: Pair) -> Scores:
        premise = self._encoded(pair.premise, pair.tokens)
        context = self._encoded(pair.context, CONTEXT).ids if pair.context else []
        claim = self._encoded(pair.claim, CLAIM)
        ids, theirs, at = laid_out(premise.ids, context, claim.ids, pair.tokens)
        types = np.zeros((1, len(ids)), np.int64)
        types[0, at:-1] = 1
        labels, logits = self.session.run(None, {"ids": np.array([ids], np.int64), "types": types})
        supported, unsupported, contradicted = (float(value) for value in labels[0])
        return Scores(
            (supported, unsupported, contradicted),
            _scored(claim, logits[0, at:-1]),
            _scored(premise, logits[0, 1 : 1 + theirs]),
        )

    def _encoded(self, text: str, tokens: int) -> Encoding:
        """Tokenise as much of a text as `tokens` tokens may need; offsets are those of the text as given."""
        return self.tokenizer.encode(storable(text[: tokens * _LONGEST]), add_special_tokens=False)


def laid_out(
    premise: Sequence[int], context: Sequence[int], claim: Sequence[int], tokens: int
) -> tuple[list[int], int, int]:
    """Lay token ids out as they are read: [CLS] premise [SEP] (context [SEP]) claim [SEP]; training does so too.

    Of the premise `tokens` are read, and no more than fit beside the rest. Also returns how many they are, and where
    the claim begins.
    """
    context, claim = context[:CONTEXT], claim[:CLAIM]
    rest = [SEP, *([*context, SEP] if context else []), *claim, SEP]
    premise = premise[: min(tokens, POSITIONS - 1 - len(rest))]
    ids = [CLS, *premise, *rest]
    return ids, len(premise), len(ids) - 1 - len(claim)


def shipped_cross_encoder(threads: int = 0) -> CrossEncoder:
    """Return the network that ships, loaded once; 0 threads: as many as there are processor cores, at most four."""
    return replace(_shipped(), threads=threads) if threads else _shipped()


@once
def _shipped() -> CrossEncoder:
    with as_file(files("everyclaim.models").joinpath("data", "reader.onnx")) as path:
        return load_cross_encoder(path)


def load_cross_encoder(path: Path, threads: int = 0) -> CrossEncoder:
    """Load a network of this shape from an ONNX file."""
    return CrossEncoder(single_threaded_session(path), shipped_tokenizer(), threads or threads_by_default())


def _scored(encoding: Encoding, logits: Float32Array) -> tuple[TokenScore, ...]:
    return tuple(
        TokenScore(start, end, float(logit))
        for (start, end), logit in zip(encoding.offsets[: len(logits)], logits, strict=True)
    )
