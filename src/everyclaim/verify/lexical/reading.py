"""Reading a text once: its words, their stems, vectors, weights and kinds, sentence by sentence.

A `Reading` is what both claims and passages become before they are compared. Every word of the word lists (what turns a
statement around, weakens it, or counts) is a `Token.norm`; they are inputs of the fitted model, so changing one means
training again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from everyclaim.core.lifetime import once
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import STOPWORDS, stem, tokenize, word_set

NEGATIONS = word_set(
    """
    no not never none neither nor nobody nothing nowhere without cannot can't don't doesn't didn't isn't aren't
    wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't mustn't needn't ain't n't
    """
)
_NO_APOSTROPHE = {word.replace("'", ""): word for word in NEGATIONS if word.endswith("n't") and word != "n't"}
_LIMITS = word_set("later more less fewer greater longer earlier only undue further delay")


def negating(norms: Sequence[str], low: int = 0, high: int | None = None) -> list[tuple[str, int]]:
    """List the words from `low` to `high` that negate a statement, and where; not "no later than", "no. 5"."""
    return [
        (norm, place)
        for place, norm in enumerate(norms[low:high], low)
        if norm in NEGATIONS
        and not (place + 1 < len(norms) and (norms[place + 1] in _LIMITS or norms[place + 1][:1].isdigit()))
    ]


LEXICAL_NEGATIONS = word_set(
    """
    fail fails failed failing lack lacks lacked lacking refuse refuses refused deny denies denied reject rejects
    rejected avoid avoids avoided avoiding refrain refrains refrained refraining abstain abstains abstained skip
    skips skipped omit omits omitted forbid forbids forbidden prohibit prohibits prohibited banned unavailable
    prevent prevents prevented stop stops stopped exclude excludes excluded except false untrue unable unlikely
    impossible absent absence hardly rarely seldom barely
    """
)
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SPELLED = {
    **{word: str(value) for value, word in enumerate(_UNITS.split())},
    **{word: str(value * 10) for value, word in enumerate(_TENS.split(), start=1)},
    **{word: str(value) for value, word in enumerate(_ORDINALS.split(), start=1)},
    "thousand": "1000",
    "once": "1",
    "twice": "2",
}
_NUMBER = re.compile(r"(\d[\d,.]*)(?:st|nd|rd|th|s|([a-z]{1,3}))?")


def number_value(norm: str) -> str | None:
    """Give the plain decimal form of a number word (`1,000`, `20th`, `three`), or None when it is not one.

    A unit or scale that is written onto it stays: `1.2m`.
    """
    if norm in _SPELLED:
        return _SPELLED[norm]
    if not norm[0].isdigit():
        return None
    match = _NUMBER.fullmatch(norm)
    if match is None:
        return None
    digits = match.group(1).rstrip(".,")
    if "," in digits and "." not in digits and len(digits.rsplit(",", 1)[1]) != 3:
        digits = digits.replace(",", ".")  # a decimal comma
    digits = digits.replace(",", "")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    return digits + (match.group(2) or "")


_MONTHS = {
    "jan": "january",
    "feb": "february",
    "mar": "march",
    "apr": "april",
    "jun": "june",
    "jul": "july",
    "aug": "august",
    "sep": "september",
    "sept": "september",
    "oct": "october",
    "nov": "november",
    "dec": "december",
}


def in_full(norms: list[str]) -> list[str]:
    """Write short names of months that stand beside a number out, so that "Jan 15" is the words "January 15".

    "dont" and its like get their apostrophe back.
    """
    found = [_NO_APOSTROPHE.get(norm, norm) for norm in norms]
    for place, norm in enumerate(norms):
        if norm in _MONTHS:
            beside = norms[max(0, place - 1) : place + 2]
            found[place] = _MONTHS[norm] if any(near[:1].isdigit() for near in beside) else norm
    return found


Float32Array = npt.NDArray[np.float32]
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Rows of `matrix` are unit vectors; the last row is zero and stands for every unknown word."""

    rows: dict[str, int]
    matrix: Float32Array
    rarity: Float32Array  # per row, within [0, 1]; unknown words are as rare as the rarest

    def look_up(self, norms: Sequence[str], stems: Sequence[str]) -> npt.NDArray[np.int64]:
        """Give the row of every word: by its form, else by its stem, else the row of unknown words."""
        rows = self.rows
        return np.array(
            [rows.get(norm, rows.get(stem, _UNKNOWN)) for norm, stem in zip(norms, stems, strict=True)], dtype=np.int64
        )


@once
def shipped_vectors() -> WordVectors:
    """Load the vectors that come with the package."""
    path = files("everyclaim.verify.lexical").joinpath("data", "vectors.npz")
    with path.open("rb") as stream, np.load(stream) as arrays:
        words = bytes(arrays["words"]).decode("utf-8").split("\n")
        quantised = arrays["vectors"].astype(np.float32)
        rarity = arrays["rarity"].astype(np.float32) / 255.0
    norms = np.linalg.norm(quantised, axis=1, keepdims=True)
    unit = quantised / np.maximum(norms, 1e-6)
    matrix = np.vstack([unit, np.zeros((1, unit.shape[1]), dtype=np.float32)]).astype(np.float32)
    return WordVectors(
        rows={word: row for row, word in enumerate(words)},
        matrix=matrix,
        rarity=np.append(rarity, np.float32(1.0)).astype(np.float32),
    )


Ints = npt.NDArray[np.int64]

PLAIN, NUMBER, NAME = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as parallel lists over its tokens. `keys` are what exact comparison uses: stems, numbers as ``#20``."""

    text: str
    norms: list[str]
    keys: list[str]
    spans: list[tuple[int, int]]
    sentence: list[int]  # of every token
    sentences: list[tuple[int, int]]
    content: list[int]  # positions of the tokens that carry meaning
    kinds: list[int]  # PLAIN, NUMBER or NAME, of every token
    rows: Ints  # of the content tokens, in the word vectors
    weights: Float32Array  # of the content tokens: how much each word tells


def read(text: str, vectors: WordVectors, *, every_word: bool = False) -> Reading:
    """Tokenise and describe `text`. With `every_word`, function words count as content too."""
    tokens = tokenize(text)
    sentences = sentence_spans(text)
    norms = in_full([token.norm for token in tokens])
    spans = [(token.start, token.end) for token in tokens]
    keys: list[str] = []
    kinds: list[int] = []
    content: list[int] = []
    in_sentence: list[int] = []
    current, last = -1, len(sentences) - 1
    opening = False
    for position, ((word, start, _, _), norm) in enumerate(zip(tokens, norms, strict=True)):
        if current < last and start >= sentences[current + 1][0]:
            opening = True
            while current < last and start >= sentences[current + 1][0]:
                current += 1
        in_sentence.append(max(current, 0))
        number = number_value(norm)
        if number is not None:
            keys.append("#" + number)
            # "one" and "first" are too common to be facts; they still compare equal to 1
            kinds.append(PLAIN if norm in STOPWORDS else NUMBER)
        else:
            keys.append(stem(norm))
            kinds.append(_kind(word, norm, opening=opening, rows=vectors.rows))
        if every_word or norm not in STOPWORDS:
            content.append(position)
        opening = False
    rows = vectors.look_up([norms[i] for i in content], [keys[i] for i in content])
    weights = 0.25 + vectors.rarity[rows]
    return Reading(text, norms, keys, spans, in_sentence, sentences, content, kinds, rows, weights)


def _kind(word: str, norm: str, *, opening: bool, rows: dict[str, int]) -> int:
    """Tell whether a word that is no number is a name: capitalised, and not only for opening a sentence."""
    if not word[0].isupper() or norm in STOPWORDS:
        return PLAIN
    if opening and not (len(word) > 1 and word.isupper()) and norm in rows:
        return PLAIN
    return NAME
