"""Small words that change what a sentence commits to: negation, hedges, boosters, quantifiers, comparisons, conditions.

"Aspirin may reduce pain" and "Aspirin reduces pain" share every content word; the difference is a cue. `antonyms`
gives words that mean the opposite of each other (`antonyms.txt`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from everyclaim.text.dates import lowered
from everyclaim.text.lists import WORDS, rows
from everyclaim.text.tokens import stem, word_set

CueKind = Literal["negation", "hedge", "booster", "quantifier", "comparative", "conditional"]
_NUMERIC = re.compile(
    r" (?:\d|[$€£]|a (?:hundred|thousand|million|dozen|third|quarter|half)|half|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|an hour)\b"
)
_NUMERIC_HEDGES = word_set("about around circa some")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;\n\"“(])\s*$")


@cache
def irregular_forms() -> dict[str, list[str]]:
    """Return the forms of irregular verbs, past before participle, behind the infinitive that they are listed by."""
    return {words[0]: words for words in map(str.split, rows("irregular_forms.txt"))}


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Return the table of opposites, by stem."""
    forms = irregular_forms()
    gathered: dict[str, set[str]] = {}
    for row in rows("antonyms.txt"):
        left, right = (
            {stem(form) for word in side.split() for form in forms.get(word, [word])} for side in row.split("|")
        )
        for mine, theirs in ((left, right), (right, left)):
            for word in mine:
                gathered.setdefault(word, set()).update(theirs)
    return {word: frozenset(others - {word}) for word, others in gathered.items()}


def antonyms(norm: str) -> frozenset[str]:
    """Give the stems of the words that mean the opposite of a token's `norm`, in any of its forms.

    Compare them with ``stem(other.norm)``. Empty for a word the table does not hold.
    """
    table = opposites()
    return table.get(stem(norm)) or table.get(norm) or frozenset()


class Cue(NamedTuple):
    """A cue as it stands; ``source[start:end] == text``."""

    kind: CueKind
    text: str
    start: int
    end: int


def _lexicon() -> tuple[dict[str, CueKind], dict[str, list[tuple[str, CueKind | None]]]]:
    """Give the kind of every single word, and the phrases by their first word, longest first."""
    words: dict[str, CueKind] = {}
    phrases: dict[str, dict[str, CueKind | None]] = {}
    for kind, listing in WORDS["cues"].items():
        for entry in map(" ".join, map(str.split, listing.split(","))):
            first, _, rest = entry.partition(" ")
            if rest:
                phrases.setdefault(first, {})[entry] = None if kind == "affirmed" else kind
            else:
                words[entry] = kind
    longest_first = {
        first: sorted(found.items(), key=lambda one: (-len(one[0]), one[0])) for first, found in phrases.items()
    }
    return words, longest_first


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
