"""Small words that change what a sentence commits to: negation, hedges, boosters, quantifiers, comparisons, conditions.

"Aspirin may reduce pain" and "Aspirin reduces pain" share every content word; the difference is a cue. `antonyms`
gives words that mean the opposite of each other (`antonyms.txt`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from everyclaim.text.dates import lowered
from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import stem, word_set


@cache
def _opposites() -> dict[str, frozenset[str]]:
    forms = {words[0]: words for words in map(str.split, _rows("irregular_forms.txt"))}
    gathered: dict[str, set[str]] = {}
    for row in _rows("antonyms.txt"):
        left, right = (_stems(side.split(), forms) for side in row.split("|"))
        for mine, theirs in ((left, right), (right, left)):
            for word in mine:
                gathered.setdefault(word, set()).update(theirs)
    return {word: frozenset(others - {word}) for word, others in gathered.items()}


def _rows(name: str) -> list[str]:
    lines = files("everyclaim.text").joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _stems(words: list[str], forms: dict[str, list[str]]) -> set[str]:
    return {stem(form) for word in words for form in forms.get(word, [word])}


def antonyms(norm: str) -> frozenset[str]:
    """Give the stems of the words that mean the opposite of a token's `norm`, in any of its forms.

    Compare them with ``stem(other.norm)``. Empty for a word the table does not hold.
    """
    table = _opposites()
    return table.get(stem(norm)) or table.get(norm) or frozenset()


@cache
def _roots() -> dict[str, str]:
    return {form: stem(words[0]) for words in map(str.split, _rows("irregular_forms.txt")) for form in words}


def root(norm: str) -> str:
    """Give what all forms of a word have in common: its stem, of "gave" and "given" that of "give"."""
    return _roots().get(norm) or stem(norm)


def pairs() -> Iterator[tuple[str, str]]:
    """Give every pair of opposite stems, each once, in order."""
    for word, others in sorted(_opposites().items()):
        yield from ((word, other) for other in sorted(others) if word < other)


CueKind = Literal["negation", "hedge", "booster", "quantifier", "comparative", "conditional"]


class Cue(NamedTuple):
    """A cue as it stands; ``source[start:end] == text``."""

    kind: CueKind
    text: str
    start: int
    end: int


# One row per kind; commas part the words and phrases.
_NEGATION = WORDS["cues"]["negation"]
_HEDGE = WORDS["cues"]["hedge"]
_BOOSTER = WORDS["cues"]["booster"]
_QUANTIFIER = WORDS["cues"]["quantifier"]
_COMPARATIVE = WORDS["cues"]["comparative"]
_CONDITIONAL = WORDS["cues"]["conditional"]
_GRADED = WORDS["cues"]["graded"]
# Not negations though they begin with one: what follows is affirmed, or only bounded. And "all" that is of nothing.
_AFFIRMED = WORDS["cues"]["affirmed"]
_NUMERIC = re.compile(
    r" (?:\d|[$€£]|a (?:hundred|thousand|million|dozen|third|quarter|half)|half|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|an hour)\b"
)
_NUMERIC_HEDGES = word_set("about around circa some")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;\n\"“(])\s*$")


def _listed(listing: str) -> list[str]:
    return [" ".join(entry.split()) for entry in listing.split(",")]


def _lexicon() -> tuple[dict[str, CueKind], dict[str, tuple[tuple[str, CueKind | None], ...]]]:
    """Give the kind of every single word, and the phrases by their first word, longest first."""
    kinds: list[tuple[CueKind, list[str]]] = [
        ("comparative", [*_listed(_COMPARATIVE), *_GRADED.split()]),
        ("conditional", _listed(_CONDITIONAL)),
        ("quantifier", _listed(_QUANTIFIER)),
        ("booster", _listed(_BOOSTER)),
        ("hedge", _listed(_HEDGE)),
        ("negation", _listed(_NEGATION)),
    ]
    words: dict[str, CueKind] = {}
    phrases: dict[str, dict[str, CueKind | None]] = {}
    for kind, entries in kinds:
        for entry in entries:
            first, _, rest = entry.partition(" ")
            if rest:
                phrases.setdefault(first, {})[entry] = kind
            else:
                words[entry] = kind
    for entry in _listed(_AFFIRMED):
        first = entry.partition(" ")[0]
        phrases.setdefault(first, {}).setdefault(entry, None)
    ordered = {
        first: tuple(sorted(entries.items(), key=lambda item: (-len(item[0]), item[0])))
        for first, entries in phrases.items()
    }
    return words, ordered


_WORDS, _PHRASES = _lexicon()
_KNOWN = frozenset(_WORDS) | frozenset(_PHRASES) | _NUMERIC_HEDGES


def cues(text: str) -> list[Cue]:
    """Find the cues of `text`, in order, without overlap; a phrase counts once, as its longest reading.

    "not only", "no more than" and their like are no negation; "May" the month and "No. 5" are no cues; "about" is a
    hedge only before a number.
    """
    low = lowered(text)
    found: list[Cue] = []
    done = 0
    known = _KNOWN
    contracted = "n't" in low or "n’t" in low
    for match in _WORD.finditer(low):
        word = match.group()
        if word not in known and not (contracted and word[-1] == "t"):
            continue
        start, end = match.span()
        read = _cue(word, low, start, end) if start >= done else None
        if read is None:
            continue
        kind, start, end = read
        done = end
        if kind is not None and _stands(word, text, low, start, end):
            found.append(Cue(kind, text[start:end], start, end))
    return found


def _cue(word: str, low: str, start: int, end: int) -> tuple[CueKind | None, int, int] | None:
    """Read the cue that begins with `word`; None when there is none."""
    for phrase, kind in _PHRASES.get(word, ()):
        if low.startswith(phrase, start):
            stop = start + len(phrase)
            if stop == len(low) or not (low[stop].isalnum() or low[stop] == "_"):
                return kind, start, stop
    kind = _WORDS.get(word)
    if kind is not None:
        return kind, start, end
    if word.endswith(("n't", "n’t")):
        return "negation", end - 3, end
    if word in _NUMERIC_HEDGES and _NUMERIC.match(low, end):
        return "hedge", start, end
    return None


def _stands(word: str, text: str, low: str, start: int, end: int) -> bool:
    """Refuse a word that is something else here."""
    if start and (low[start - 1].isalnum() or low[start - 1] in "_@#/") and not word.endswith("t"):
        return False
    if word == "may":
        return text[start] != "M" or _SENTENCE_BEFORE.search(text, max(0, start - 8), start) is not None
    if word == "all":
        return low[end : end + 1] != "-"  # an all-time record
    if word == "no":
        return low[end : end + 1] != "." or not low[end : end + 3].strip(". ").isdigit()
    return True
