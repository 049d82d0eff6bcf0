"""The parser that ships: words, parts of speech and dependencies of English sentences.

    sentence, = parse(["The museum opened in 1956 and closed in 2010."])

The first four layers of a small BERT encoder (7 million parameters, 8-bit) over the word embeddings of the judge's
network, with scores for every head and relation; the best tree is then searched for. Relations and parts of speech
are those of Universal Dependencies, `tag` is the Penn Treebank's. How it was made: `training/parser/`.

A sentence is read alone and unpadded, so that its tree never depends on its neighbours in a batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.lifetime import Memory, once
from everyclaim.models.local import cross_encoder
from everyclaim.text.tokens import word_spans

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

POSITIONS = 512  # word pieces of a sentence; words behind them hang on the root
_REMEMBERED = 16_000_000  # bytes of trees
_TOKEN_BYTES = 300
_LONG = 100  # words; the arcs of a longer sentence may cross
Array = npt.NDArray[np.generic]
Scores = npt.NDArray[np.float32]
Heads = npt.NDArray[np.int64]


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
    ids, shapes, first, last = [cross_encoder.CLS], [0], list[int](), list[int]()
    for word, encoded in zip(words, tokenizer.encode_batch(list(words), add_special_tokens=False), strict=True):
        room = POSITIONS - 1 - len(ids)
        if room < 1:
            break
        own = (encoded.ids or [cross_encoder.UNKNOWN])[:room]
        first.append(len(ids))
        ids += own
        last.append(len(ids) - 1)
        # How the word is written, which its pieces do not tell: 1 with a capital, 2 in capitals, 3 as a number, else 0.
        in_capitals = 1 + (len(word) > 1 and word.isupper())
        shapes += [3 if word[0].isdigit() else in_capitals if word[0].isupper() else 0] * len(own)
    return Pieces([*ids, cross_encoder.SEP], [*shapes, 0], first, last)


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
        return cross_encoder.read_each(self._one, sentences, self.threads)

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
    session = cross_encoder.single_threaded_session(path)
    told = session.get_modelmeta().custom_metadata_map
    words = json.loads(told["words"])
    return Parser(
        session,
        cross_encoder.shipped_tokenizer(),
        embeddings_at(words),
        np.float32(words["scale"]),
        words["zero"],
        json.loads(told["names"]),
        threads or cross_encoder.threads_by_default(),
    )


def embeddings_at(place: Mapping[str, Any]) -> Array:
    """Return the word embeddings, 8-bit integers in the file of the judge's network; they are read page by page."""
    with as_file(files("everyclaim.models").joinpath("data", "reader.onnx")) as path:
        return np.memmap(path, np.uint8, "r", place["offset"], tuple(place["shape"]))


_lately = Memory(_REMEMBERED)


# ---- the best tree among scored arcs; arcs that cross are mistakes more often than not in English


def best_tree(scores: Scores) -> Heads:
    """Heads of the best tree; `scores` [N, N + 1] are of every head for every word, head 0 being the root."""
    bounded = np.array(scores, np.float64)
    count = len(bounded)
    bounded[np.arange(count), np.arange(1, count + 1)] = -np.inf
    heads: Heads = bounded.argmax(1)
    if count > _LONG:
        return _without_cycles(bounded, heads)
    return heads if _is_tree(heads) and not _crosses(heads) else _best_nested(bounded)


def _without_cycles(scores: npt.NDArray[np.float64], heads: Heads) -> Heads:
    """One word hangs on the root; on that word hangs of each cycle the member that loses least by it."""
    tops = np.flatnonzero(heads == 0) if not heads.all() else np.arange(len(heads))
    root = int(tops[scores[tops, 0].argmax()])
    heads[heads == 0] = root + 1
    heads[root] = 0
    for word in range(1, len(heads) + 1):
        way, above = dict[int, None](), word
        while above and above not in way:
            way[above] = None
            above = int(heads[above - 1])
        if above:
            cycle = np.array([*way][[*way].index(above) :]) - 1
            lost = scores[cycle, heads[cycle]] - scores[cycle, root + 1]
            heads[cycle[lost.argmin()]] = root + 1
    return heads


def _is_tree(heads: Heads) -> bool:
    """Whether one word hangs on the root, and every word leads there."""
    above = np.concatenate([[0], heads])
    for _ in range(len(heads).bit_length()):
        above = above[above]
    return not above.any() and (heads == 0).sum() == 1


def _crosses(heads: Heads) -> bool:
    """Whether two arcs cross, that of the root apart."""
    places = np.flatnonzero(heads) + 1
    left, right = np.minimum(places, heads[places - 1]), np.maximum(places, heads[places - 1])
    begins, ends = left[:, None], right[:, None]
    return bool(((begins < left) & (left < ends) & (ends < right)).any())


def _best_nested(scores: npt.NDArray[np.float64]) -> Heads:
    """Eisner's algorithm: heads of the best tree without arcs that cross; all spans of a width at once."""
    count = len(scores)
    arcs = scores[:, 1:]
    leftward, rightward = np.zeros((count, count)), np.zeros((count, count))  # finished spans headed by their end
    to_left, to_right = np.full((count, count), -np.inf), np.full((count, count), -np.inf)  # an arc over the span
    halves = np.zeros((3, count, count), np.int64)  # where a span is cut: below an arc, leftward, rightward
    for width in range(1, count):
        i = np.arange(count - width)
        j = i + width
        left, right, cuts = i[:, None], j[:, None], i[:, None] + np.arange(width)
        joined = rightward[left, cuts] + leftward[cuts + 1, right]
        halves[0, i, j] = i + joined.argmax(1)
        to_left[i, j], to_right[i, j] = joined.max(1) + arcs[i, j], joined.max(1) + arcs[j, i]
        ended = leftward[left, cuts] + to_left[cuts, right]
        begun = to_right[left, cuts + 1] + rightward[cuts + 1, right]
        leftward[i, j], rightward[i, j] = ended.max(1), begun.max(1)
        halves[1, i, j], halves[2, i, j] = i + ended.argmax(1), i + 1 + begun.argmax(1)
    root = int((leftward[0] + rightward[:, -1] + scores[:, 0]).argmax())
    heads: Heads = np.zeros(count, np.int64)
    waiting = [(0, root, False), (root, count - 1, True)]
    while waiting:
        first, last, is_rightward = waiting.pop()
        if first == last:
            continue
        cut = int(halves[1 + is_rightward, first, last])
        waiting.append((cut, last, True) if is_rightward else (first, cut, False))
        first, last = (first, cut) if is_rightward else (cut, last)
        heads[last if is_rightward else first] = (first if is_rightward else last) + 1
        middle = int(halves[0, first, last])
        waiting += [(first, middle, True), (middle + 1, last, False)]
    return heads
