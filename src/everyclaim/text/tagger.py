"""Parts of speech for English, by an averaged perceptron: what the clause splitter stands on.

The weights are `tagger.tsv` beside this file, made by `training/tagger.py` from the UD English Web
Treebank (CC BY-SA 4.0; the weights carry the same licence). Tags are the Penn Treebank's, with the
rare ones folded into `X`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from everyclaim.core.errors import OperatorError
from everyclaim.text.abbreviations import NAMED

_WORD = re.compile(
    rf"""
    (?:[A-Za-z]\.){{2,}}                                     # U.S., e.g.
  | (?-i:[A-Z]\.(?=\s*[A-Z]))                              # J. Smith
  | (?:{NAMED}|etc|approx)\.
  | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?\b                  # 2.8  1,000  12:30  20th  1970s
  | [^\W\d_]+(?=n['’]t\b)                                  # do + n't
  | n['’]t\b
  | ['’](?:s|re|ve|ll|d|m)\b
  | [^\W_]+
  | ``|''|\.\.+|--+
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PAST = frozenset(  # past forms that are seldom anything else
    {"became", "began", "came", "chose", "drew", "fell", "flew", "gave", "grew", "knew", "ran", "rose", "sang"}
    | {"spoke", "threw", "took", "went", "won", "wore", "wrote", "died", "joined", "moved", "earned", "attended"}
)
LETTERS = string.ascii_letters  # one names each tag in the weights
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


class Word(NamedTuple):
    """A token with its true offsets, its tag and its lower-cased, quote-straightened form."""

    text: str
    start: int
    end: int
    tag: str
    low: str


class Model(NamedTuple):
    """Tags, the words that have only one tag, and the weight of every feature for every tag."""

    tags: tuple[str, ...]
    fixed: Mapping[str, str]
    weights: Mapping[str, Mapping[int, int]]


def tag(text: str, start: int = 0) -> list[Word]:
    """Tokenize and tag one English sentence; offsets are counted from `start`."""
    found = list(_WORD.finditer(text))
    texts = [match.group() for match in found]
    tags = _repaired(texts, predict(texts, load()))
    for index in range(1, len(found) - 1):
        if texts[index] in "-‐‑" and found[index - 1].end() + 1 == found[index].end() == found[index + 1].start():
            tags[index] = "HYPH"
    return [
        Word(word, match.start() + start, match.end() + start, label, word.lower().translate(_QUOTES))
        for word, match, label in zip(texts, found, tags, strict=True)
    ]


def _repaired(words: Sequence[str], tags: list[str]) -> list[str]:
    """Put right what the model often gets wrong in formal text, of which it saw little."""
    if len(words) > 1 and words[0][0].isupper() and words[1][0].isupper() and tags[1] == "NNP":
        tags[0] = "NNP" if tags[0] in {"VB", "VBP", "JJ", "WP", "NN", "NNS", "UH", "X", "RB"} else tags[0]
    for index in range(1, len(words)):
        before = tags[index - 1]
        if words[index] in _PAST and tags[index] in {"NN", "VB", "VBP", "VBN", "JJ"}:
            tags[index] = "VBD" if before in {"NNP", "NNS", "NN", "PRP", "CC", "RB", ","} else tags[index]
        elif words[index].istitle() and tags[index] == "JJ" and before == "NNP":
            tags[index] = "NNP"
    for first, last in _stretches(words):
        if first and words[first - 2 : first] != [",", "and"] and words[first - 1] != ";":
            continue
        if FINITE.isdisjoint(tags[first:last]):
            _find_finite(words, tags, first, last)
    return tags


def _stretches(words: Sequence[str]) -> list[tuple[int, int]]:
    """The stretches between words that join clauses."""
    cuts = [i for i, word in enumerate(words) if word in {";", "and", "but"}]
    return list(zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(words)], strict=True))


def _find_finite(words: Sequence[str], tags: list[str], first: int, last: int) -> None:
    """Read the first participle behind a noun as the past tense, where a clause has no other verb."""
    if first >= last or tags[first] not in {"DT", "PRP$", "NNP", "PRP", "NNS", "NN", "JJ"}:
        return
    for index in range(first + 1, last):
        if tags[index] not in {
            "NN",
            "NNS",
            "NNP",
            "NNPS",
            "DT",
            "PRP$",
            "JJ",
            "CD",
            "POS",
            "HYPH",
            "PRP",
            "VBN",
            "IN",
            ",",
        }:
            return
        follower = words[index + 1] if index + 1 < last else ""
        if (
            tags[index] == "VBN"
            and words[index].islower()
            and tags[index - 1] in {"NN", "NNS", "NNP", "PRP"}
            and follower not in {"by", ""}
        ):
            tags[index] = "VBD"
            return


def predict(words: Sequence[str], model: Model) -> list[str]:
    """Tag words from left to right, each knowing the two tags before it."""
    context = ["-S2-", "-S1-", *(normal_form(word) for word in words), "-E1-", "-E2-"]
    previous, before = "-S1-", "-S2-"
    result = []
    for index, word in enumerate(words):
        label = model.fixed.get(context[index + 2]) or _best(features(index, word, context, previous, before), model)
        result.append(label)
        before, previous = previous, label
    return result


def normal_form(word: str) -> str:
    """How a word enters the model: digits and years by their shape, the rest lower-cased."""
    if word[0].isdigit():
        return "!YEAR" if len(word) == 4 and word.isdigit() else "!DIGITS"
    return word.lower().translate(_QUOTES)


def features(index: int, word: str, context: Sequence[str], previous: str, before: str) -> list[str]:
    """What the model looks at for one word; `context` is padded by two on either side."""
    here = index + 2
    form, left, right = context[here], context[here - 1], context[here + 1]
    shape = ("A" if word.isupper() else "Aa") if word[0].isupper() else ("0" if word[0].isdigit() else "a")
    if index == 0:
        shape += "^"
    return [
        "b",
        f"w {form}",
        f"s {form[-3:]}",
        f"2 {form[-2:]}",
        f"h {shape}",
        f"hs {shape} {form[-1]}",
        f"t {previous}",
        f"tt {before} {previous}",
        f"tw {previous} {form}",
        f"l {left}",
        f"ls {left[-3:]}",
        f"r {right}",
        f"rs {right[-3:]}",
        f"rr {context[here + 2]}",
        f"sr {form[-3:]} {right[-2:]}",
        f"ts {previous} {form[-3:]}",
        f"tr {previous} {right}",
    ]


def _best(found: Sequence[str], model: Model) -> str:
    """The tag with the highest score; ties go to the earlier tag."""
    scores = [0] * len(model.tags)
    weights = model.weights
    for feature in found:
        row = weights.get(feature)
        if row is not None:
            for index, weight in row.items():
                scores[index] += weight
    return model.tags[scores.index(max(scores))]


@cache
def load() -> Model:
    """Read the shipped weights, once per process."""
    try:
        lines = files("everyclaim.text").joinpath("tagger.tsv").read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise OperatorError(f"cannot read the tagger's weights ({error}); reinstall everyclaim") from error
    rows = [line for line in lines if line and not line.startswith("##")]
    tags = tuple(rows[0].split(" "))
    number = {letter: index for index, letter in enumerate(LETTERS)}
    fixed: dict[str, str] = {}
    weights: dict[str, dict[int, int]] = {}
    for row in rows[1:]:
        key, _, value = row.partition("\t")
        if value in tags:
            fixed[key] = value
        else:
            weights[key] = {number[pair[0]]: int(pair[1:]) for pair in value.split(" ")}
    return Model(tags, fixed, weights)
