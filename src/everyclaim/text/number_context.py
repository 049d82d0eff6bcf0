"""What stands around a number: what loosens it ("about", "at least"), what it counts, and what it tells apart.

"five large dogs" counts dogs, "section 3", World War II, type 2, GPT-4 and Henry the Eighth are told apart by a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.dates import FULL_MONTHS, MONTHS, ORDINALS, WEEKDAYS
from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import STOPWORDS, has_plural_ending, stem, word_set

_APPROXIMATE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|circa|ca?\.|some|(?:an )?estimated(?: at)?|close to"
    r"|an average of|on average|in the region of|in the order of|(?P<below>nearly|almost|just (?:under|below|short of)"
    r"|close on|not quite|slightly (?:under|less than|below))"
    r"|(?P<above>just (?:over|above|more than)|slightly (?:over|more than|above)|a little (?:over|more than)))|[~≈])"
    r"(?: (?:at|a|an|the))?[\s(]*$"
)
_AT_LEAST = re.compile(
    r"(?:\b(?:at least|no (?:less|fewer) than|not less than|(?:a )?minimum(?: of)?|above"
    r"|(?:well )?(?<!run )(?<!spread )(?<!played )(?<!held )(?<!paid )over"
    r"|(?:more|greater|older|longer|taller|higher|larger|bigger|heavier|wider|deeper|later) than"
    r"|exceed(?:s|ed|ing)?|upwards? of|in excess of|from at least)|[>≥]=?)\s*$"
)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|no more than|not more than|(?:a )?maximum(?: of)?|under|below|up to"
    r"|(?:less|fewer|younger|shorter|lower|smaller|lighter|cheaper|earlier) than"
    r"|not exceeding|within|as (?:much|many) as)|[<≤]=?)\s*$"
)
_OR_MORE = re.compile(r"\+(?!\d)| (?:or|and) (?:more|above|over|older|higher|greater|longer)\b| (?:minimum|at least)\b")
_OR_LESS = re.compile(r" (?:or|and) (?:less|fewer|below|under|younger|lower|shorter)\b| (?:maximum|at most)\b")
_OR_SO = re.compile(r" or so\b|-?ish\b| (?:more or less|approximately)\b|-odd\b")
# The last words of what the patterns above read: anything else before a number says nothing about it.
_BEFORE_NUMBER = word_set(WORDS["number_context"]["before_number"])
_APART = 28  # characters of context read before a number
_LABELS = word_set(WORDS["number_context"]["labels"])
_PLURALS = word_set("people men women children feet teeth mice geese sheep fish species series staff police cattle")
_COUNTS = word_set("count counts number num no total qty quantity of the")
_LONGEST_LABEL = 60
_LABEL = re.compile(r"(?:^|[\n,])[ \t]*((?:[^\W\d_]+[ -])*[^\W\d_]+): ?$")
_LINE_END = re.compile(r"[ \t]*(?:\n|$)")
_NOUN_WORD = r"([^\W\d_](?:[^\W\d_]|['’-])*)"
_NOUN = re.compile(rf"[ \u00a0-]{_NOUN_WORD}(?: {_NOUN_WORD})?(?: {_NOUN_WORD})?")
_WORD_BEFORE = re.compile(r"([^\W\d_]+\.?)[ \u00a0-]$")
_ROMAN = re.compile(r"(?<=[^\W\d_][ \u00a0-])(?=[IVXLC])(C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})(?![\w'’])(?!\.\w)")
_NAMED = re.compile(
    rf"(?<=[^\W\d_] )(?:(?P<digits>\d{{1,3}})(?![\w:/,.%°'’-]\w|[\w%°:])"
    rf"|the (?P<word>{'|'.join(reversed(ORDINALS))})(?!\w)"
    r"|the (?P<nth>\d{1,2})(?:st|nd|rd|th)(?!\w))"
)
_CODE = re.compile(r"(?<![\w-])([A-Z]{1,5})-(\d{1,9}(?:\.\d{1,3})?)(?![\w-]|[.,]\d)")
_BEFORE = re.compile(r"([^\W\d_][\w'’.]*)[ \u00a0-]$")
_TENS = {"": 0, "X": 10, "XX": 20, "XXX": 30, "XL": 40, "L": 50, "LX": 60, "LXX": 70, "LXXX": 80, "XC": 90}
_ONES = {"": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}
# Before these a single I, V, X, L or C is a numeral even where nothing is capitalised.
_NUMBERED_NAMES = word_set(WORDS["number_context"]["numbered_names"])
_NO_NAME = frozenset(map(str.lower, FULL_MONTHS))


class Qualifier(NamedTuple):
    """How a number between `start` and `end` (its qualifying words included) is loosened.

    `lean`: an approximate number is a little more than the value (-1: "nearly"), or less (1: "just over"); `bound`: the
    number is the least (1) or the most (-1) that is meant.
    """

    start: int
    end: int
    approximate: bool = False
    lean: int = 0
    bound: int = 0


def qualifier(low: str, start: int, end: int) -> Qualifier:
    """Read what loosens the number that is ``low[start:end]``; `low` is in lower case."""
    left = low[max(0, start - _APART) : start]
    last = left.rstrip(" (").rpartition(" ")[2].rpartition("\n")[2]
    after = low[end : end + 1]
    if last not in _BEFORE_NUMBER and last[-1:] not in tuple("~≈<>≤≥=") and after not in tuple("+ -i"):
        return Qualifier(start, end)
    first, lean, bound = start, 0, 0
    about, so = _APPROXIMATE.search(left), _OR_SO.match(low, end)
    final = so.end() if so else end
    if about:
        lean = -1 if about["below"] else 1 if about["above"] else 0
        first -= len(left) - about.start()
        left = left[: about.start()]
    least, most, more = _AT_LEAST.search(left), _AT_MOST.search(left), _OR_MORE.match(low, end)
    chosen = most if most is not None and (least is None or most.start() <= least.start()) else least
    if chosen is not None:
        bound = -1 if chosen is most else 1
        first -= len(left) - chosen.start()
    elif behind := more or _OR_LESS.match(low, end):
        bound = 1 if more else -1
        final = max(final, behind.end())
    return Qualifier(first, final, bool(about or so), lean, bound)


def label_before(low: str, start: int) -> str:
    """Give the noun that a number names rather than counts, as in "section 3"."""
    match = _WORD_BEFORE.search(low, max(0, start - 14), start)
    word = match[1].rstrip(".") if match else ""
    return stem(word) if word in _LABELS else ""


def noun_after(low: str, end: int) -> str:
    """Give the stem of what is counted: the first plural of the words that follow, else the first of them."""
    match = _NOUN.match(low, end)
    if match is None:
        return ""
    first = ""
    for word in match.groups():
        if word is None or word in STOPWORDS:
            break
        if is_plural(word):
            return stem(word)
        first = first or word
    return stem(first)


def noun_of_label(low: str, start: int, end: int) -> str:
    """Give the stem of what a number counts that is all there is under a label: "Previous owners: 2", "Item count: 3".

    Only a plural counts, and what a label calls a count itself.
    """
    label = _LABEL.search(low, max(0, start - _LONGEST_LABEL), start)
    if label is None or _LINE_END.match(low, end) is None:
        return ""
    words = label[1].split()
    telling = [word for word in words if word not in _COUNTS]
    if not telling or not (len(telling) < len(words) or is_plural(telling[-1])):
        return ""
    return stem(telling[-1])


def is_plural(word: str) -> bool:
    """Say whether a word in lower case is a plural, as far as its ending tells."""
    return word in _PLURALS or has_plural_ending(word)


def counts(low: str, end: int) -> bool:
    """Say whether the next word is a plural: "40 people", not "Super Bowl 40 was"."""
    match = _NOUN.match(low, end)
    words = [word for word in (match.groups() if match else ()) if word]
    return any(is_plural(word) and not word.endswith(("was", "has")) for word in words[:2])


class Numbered(NamedTuple):
    """A number from `start` to `end` that tells several things of one `name` (a stem) apart."""

    value: float
    name: str
    start: int
    end: int


def numbered(text: str, low: str) -> Iterator[Numbered]:
    """Read the Roman numerals of `text`, codes such as P-1700, and numbers and ordinals after a name.

    `low` is `text` in lower case.
    """
    for match in _ROMAN.finditer(text):
        name = _name(text, match.start())
        if match.end() == match.start() or name is None:
            continue
        if len(match.group()) == 1 and stem_of(name) not in _STEMS:
            continue  # "I", and initials
        if name[0].isupper() or name.lower() in _NUMBERED_NAMES:
            value = float(100 * len(match[1]) + _TENS[match[2]] + _ONES[match[3]])
            yield Numbered(value, stem_of(name), match.start(), match.end())
    for match in _CODE.finditer(text):
        yield Numbered(float(match[2]), stem_of(match[1]), match.start(), match.end())
    for match in _NAMED.finditer(low):
        name = _name(text, match.start())
        if name is None or not name[0].isupper() or name.lower() in STOPWORDS or _opens(text, match.start(), name):
            continue
        if name.lower()[:3] in MONTHS + WEEKDAYS and (name.lower() in _NO_NAME or name.lower().endswith("day")):
            continue
        digits = match["digits"] or match["nth"]
        value = float(digits or ORDINALS.index(match["word"]) + 1)
        yield Numbered(value, stem_of(name), match.start(), match.end())


def stem_of(name: str) -> str:
    """Give the stem that a numbered name is compared by."""
    return stem(name.lower().rstrip("."))


_STEMS = frozenset(stem_of(name) for name in _NUMBERED_NAMES)


def _name(text: str, start: int) -> str | None:
    match = _BEFORE.search(text, max(0, start - 24), start)
    return match[1] if match else None


def _opens(text: str, start: int, name: str) -> bool:
    """Say whether a capital letter may only open a sentence."""
    at = start - len(name) - 1
    before = text[max(0, at - 2) : at].rstrip()
    return not before or before[-1] in '.!?:;\n"“•-'
