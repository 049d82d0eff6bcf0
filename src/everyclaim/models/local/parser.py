"""The parser that ships: words, parts of speech and dependencies of English sentences.

    sentence, = parse(["The museum opened in 1956 and closed in 2010."])

The first four layers of a small BERT encoder (7 million parameters, 8-bit) over the word embeddings of the judge's
network, with scores for every head and relation; the best tree is then searched for. Relations and parts of speech
are those of Universal Dependencies, `tag` is the Penn Treebank's. How it was made: `training/parser/`.

A sentence is read alone and unpadded, so that its tree never depends on its neighbours in a batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.memory import Memory, once
from everyclaim.models.local.embeddings import initializers
from everyclaim.models.local.onnx import (
    CLS,
    SEP,
    UNKNOWN,
    read_each,
    shipped_tokenizer,
    single_threaded_session,
    threads_by_default,
)
from everyclaim.models.local.trees import best_tree
from everyclaim.text.words import word_spans

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

POSITIONS = 512  # word pieces of a sentence; words behind them hang on the root
_REMEMBERED = 16_000_000  # bytes of trees
_TOKEN_BYTES = 300
_WORDS = "reader.words.weight"  # the embeddings' name in the judge's network
Array = npt.NDArray[np.generic]


class ParsedToken(NamedTuple):
    """A word: ``text[start:end]`` of its sentence, the place of its head (-1: the root) and its relation to it."""

    text: str
    start: int
    end: int
    pos: str  # the universal part of speech: NOUN, VERB, AUX, …
    tag: str  # the Penn Treebank's: NNS, VBD, MD, …
    head: int
    relation: str  # nsubj, obl, acl:relcl, …


class Pieces(NamedTuple):
    """What the network reads of a sentence: word pieces, their capitals, and where each word begins and ends."""

    ids: list[int]
    shapes: list[int]
    first: list[int]
    last: list[int]


def pieces(tokenizer: Tokenizer, words: Sequence[str]) -> Pieces:
    """Cut words into pieces; words that begin behind the last position are left out."""
    ids, shapes, first, last = [CLS], [0], list[int](), list[int]()
    for word, encoded in zip(words, tokenizer.encode_batch(list(words), add_special_tokens=False), strict=True):
        room = POSITIONS - 1 - len(ids)
        if room < 1:
            break
        own = (encoded.ids or [UNKNOWN])[:room]
        first.append(len(ids))
        ids += own
        last.append(len(ids) - 1)
        shapes += [shape_of(word)] * len(own)
    return Pieces([*ids, SEP], [*shapes, 0], first, last)


def shape_of(word: str) -> int:
    """How a word is written, which its pieces do not tell: 1 with a capital, 2 in capitals, 3 as a number, else 0."""
    if word[0].isdigit():
        return 3
    if not word[0].isupper():
        return 0
    return 2 if len(word) > 1 and word.isupper() else 1


@dataclass(frozen=True, slots=True)
class Parser:
    """The loaded network. `threads` sentences are read at a time."""

    session: InferenceSession
    tokenizer: Tokenizer
    embeddings: Array
    scale: np.float32
    zero: int
    names: dict[str, list[str]]
    threads: int

    def read(self, sentences: Sequence[str]) -> list[tuple[ParsedToken, ...]]:
        """Parse every sentence; equal sentences are parsed once."""
        return read_each(self._one, sentences, self.threads)

    def _one(self, sentence: str) -> tuple[ParsedToken, ...]:
        spans = word_spans(sentence)
        words = [sentence[span.start : span.end] for span in spans]
        read = pieces(self.tokenizer, [word.encode("utf-8", "replace").decode("utf-8") for word in words])
        count = len(read.first)
        if not count:
            return ()
        embedded = (self.embeddings[read.ids].astype(np.float32) - self.zero) * self.scale
        arcs, relations, universal, penn = self.session.run(
            None,
            {
                "pieces": embedded[None],
                "shapes": np.array([read.shapes], np.int64),
                "first": np.array([read.first], np.int64),
                "last": np.array([read.last], np.int64),
            },
        )
        heads = best_tree(arcs[0])
        labels = relations[0][np.arange(count), heads]
        root = self.names["relations"].index("root")
        labels[np.arange(count), root] = np.where(heads == 0, np.inf, -np.inf)
        found = zip(heads, labels.argmax(1), universal[0].argmax(1), penn[0].argmax(1), strict=True)
        tokens = [
            ParsedToken(
                words[i], *spans[i], self.names["universal"][pos], self.names["penn"][tag],
                int(head) - 1, self.names["relations"][label],
            )
            for i, (head, label, pos, tag) in enumerate(found)
        ]  # fmt: skip
        top = next(i for i, token in enumerate(tokens) if token.head < 0)
        beyond = [ParsedToken(words[i], *spans[i], "X", "FW", top, "dep") for i in range(count, len(words))]
        return (*tokens, *beyond)


def parse(sentences: Sequence[str]) -> list[tuple[ParsedToken, ...]]:
    """Parse sentences with the parser that ships; what was parsed lately is remembered."""
    found: dict[str, tuple[ParsedToken, ...]] = {}
    for sentence in sentences:
        if kept := _lately.get(sentence):
            found[sentence] = kept[0]
    unknown = [sentence for sentence in dict.fromkeys(sentences) if sentence not in found]
    if unknown:
        for sentence, tokens in zip(unknown, shipped_parser().read(unknown), strict=True):
            found[sentence] = tokens
            _lately.put(sentence, tokens, 4 * len(sentence) + _TOKEN_BYTES * len(tokens))
    return [found[sentence] for sentence in sentences]


@once
def shipped_parser() -> Parser:
    """Return the parser that ships, loaded once."""
    with as_file(files("everyclaim.models").joinpath("data", "parser.onnx")) as path:
        return load_parser(path)


def load_parser(path: Path, threads: int = 0) -> Parser:
    """Load a parser from an ONNX file; 0 threads: as many as there are processor cores, at most four."""
    session = single_threaded_session(path)
    names = json.loads(session.get_modelmeta().custom_metadata_map["names"])
    return Parser(session, shipped_tokenizer(), *shipped_embeddings(), names, threads or threads_by_default())


def shipped_embeddings() -> tuple[Array, np.float32, int]:
    """Return the word embeddings as 8-bit integers, their scale and their zero."""
    parts = [f"{_WORDS}_{part}" for part in ("quantized", "scale", "zero_point")]
    with as_file(files("everyclaim.models").joinpath("data", "reader.onnx")) as path:
        table, scale, zero = (initializers(path, frozenset(parts))[part] for part in parts)
    return table, np.float32(scale), int(zero)


_lately = Memory(_REMEMBERED)
