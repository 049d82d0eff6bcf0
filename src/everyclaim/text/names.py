"""Names: what people, places, organisations and products are called in a text; and sentences that lean on one before.

A name is a run of capitalised words, found by its shape and by what its words look like elsewhere in the text. It is
a heuristic on purpose: no dictionary of names, so a name nobody has heard of is found as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from everyclaim.text.lists import NAMED, WORDS
from everyclaim.text.tokens import STOPWORDS, Token, tokenize, word_set

ORGANISED = word_set(WORDS["names"]["organised"])
CHANGING = word_set(WORDS["names"]["changing"])  # first words that make another thing of the last: New York, York
TITLES = word_set("mr mrs ms dr prof professor sir dame lord lady president king queen prince princess saint st")
_MONTHS_AND_DAYS = word_set(WORDS["names"]["months_and_days"])
_COMMON = word_set(WORDS["names"]["common"])
_PARTICLES = word_set("of for and the in y de da do dos du del della di la le van von der den ter ten bin ibn al el")
_SKIPPED = TITLES | _PARTICLES | word_set("inc ltd co corp plc")
_FIRST_WORDS = word_set("new old long part")  # common words that names begin with
_ENDS = re.compile(r"[.!?:;•\n“”\"*#>|–—]")
_ABBREVIATED = re.compile(rf"\b(?:[A-Z]|{NAMED})$")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "’": "'"})
_NAME_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_REST = re.compile(  # of a name, behind its last capital: "-jong", " 11" but not of "11 people"
    r"(?:-\w+)*(?:[ -](?:\d{1,3}|[IVX]{1,5})"
    r"(?![\w%]|[.,:/]\d|-\w| (?!was|has|is|does)[a-z]+s\b| people| [mb]illion| percent))?"
)
_LINE = re.compile(r"[^\n]+")
_SHOUTED = 0.6  # share of capitals among letters from which they say nothing
_ANAPHORS = word_set(
    "it they he she this these those its their his her both such another others one them him the former latter there"
) - {"the"}
_POINTERS = word_set("it its they them their theirs he him his she her hers this these those")
_FILLERS = word_set("then also however moreover later afterwards today still in addition so thus therefore and but as")
_FEW = 4  # words that stand for what a sentence is about, where it names nothing


class Name(NamedTuple):
    """A name as it stands; ``source[start:end] == text``, without a possessive ending."""

    text: str
    start: int
    end: int


def names(text: str) -> list[Name]:
    """Find the names in `text`, in order, without overlap.

    A common word that begins a sentence is no name, and neither is one that is written in small letters elsewhere in
    the text. Months, weekdays and titles alone are no names; nothing in shouted text is one.
    """
    calm = _LINE.sub(_unshouted, text)
    tokens = tokenize(calm)
    small = {token.norm for token in tokens if token.text.islower()}
    found, run, last = [], list[Token](), 0
    for at, token in enumerate(tokens):
        if not any(map(str.isupper, token.text)):
            continue
        if run and not _goes_on(run, tokens[last : at + 1], calm):
            found += _name(run, text)
            run = []
        if run or not _is_common(token, tokens[at - 1] if at else None, calm, small):
            run.append(token)
            last = at
    return found + _name(run, text)


def _unshouted(line: re.Match[str]) -> str:
    """Write a line in small letters whose capitals say nothing, since nearly all are."""
    letters, small = [char for char in line[0] if char.isalpha()], line[0].lower()
    is_shouted = sum(map(str.isupper, letters)) > _SHOUTED * len(letters)
    return small if is_shouted and len(small) == len(line[0]) else line[0]


def _is_common(token: Token, before: Token | None, text: str, small: set[str]) -> bool:
    """Whether a word that would begin a name is none, by itself or since it begins a sentence."""
    if token.norm in STOPWORDS or token.norm.startswith("i'"):
        return not (token.text.isupper() and (len(token.text) > 1 or text[token.end : token.end + 1] == "."))
    gap = text[before.end : token.start] if before else "\n"
    begins = _ENDS.search(gap) and not (before and "." in gap and _ABBREVIATED.search(before.text))
    return bool(begins) and not token.text.isupper() and token.norm in (_COMMON | small) - _FIRST_WORDS - TITLES


def _goes_on(run: Sequence[Token], words: Sequence[Token], text: str) -> bool:
    """Whether the last of some words belongs to the name that the first ends; what is between has no capitals."""
    first, *between, last = words
    allowed = {"", " ", "\u00a0", "-", "&", " & ", ". " if len(first.text) == 1 or first.text.endswith(".") else " "}
    gaps = {text[one.end : other.start] for one, other in pairwise(words)}
    if not gaps <= allowed or first.norm in _MONTHS_AND_DAYS or last.norm in _MONTHS_AND_DAYS:
        return False
    linked = [token.norm for token in between]
    if not linked or linked == ["&"]:
        return True
    if linked[0] in ("of", "for", "in", "and"):
        bodies = run if linked[0] == "and" else [first]
        return linked[1:] in ([], ["the"]) and any(token.norm.rstrip("s") in ORGANISED for token in bodies)
    return len(linked) <= 2 and set(linked) <= _PARTICLES


def _name(run: list[Token], text: str) -> list[Name]:
    """Give the name that a run of capitalised words is, if it is one."""
    while run and run[-1].norm in STOPWORDS and not run[-1].text.isupper():
        run = run[:-1]
    no_name = _MONTHS_AND_DAYS | TITLES | _COMMON
    if not run or (len(run) == 1 and (len(run[0].text) == 1 or run[0].norm in no_name)):
        return []
    if len(run) > 2 and any(token.norm in STOPWORDS - _PARTICLES for token in run[1:]):
        return []  # a heading in title case
    start, end = run[0].start, run[-1].end
    end = rest.end() if (rest := _REST.match(text, end)) else end
    return [Name(text[start:end], start, end)]


def fold(text: str) -> str:
    """Fold case and diacritics: Müller and muller are the same name, Meller is another."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).translate(_LETTERS)


def covered(name: Name | str, others: Iterable[Name | str] | Sequence[Token]) -> bool:
    """Say whether `name` is mentioned among the names or tokens of a passage.

    A surname covers a full name and the other way round; an acronym covers the name it stands for and the other way
    round (WHO, World Health Organization); case, diacritics, titles and particles do not count. A word that is
    spelled differently is not covered, and neither is a full name that differs in its first name.
    """
    mine = _telling_words(name)
    if not mine:
        return True
    tokens = [other for other in others if isinstance(other, Token)]
    if any(_same_name(mine, _telling_words(other)) for other in others if not isinstance(other, Token)):
        return True
    return bool(tokens) and _among(mine, tokens)


def _telling_words(name: Name | str) -> list[str]:
    folded = fold(name if isinstance(name, str) else name.text)
    initials = _DOTTED.sub(lambda match: match.group().replace(".", "") + " ", folded)
    return [word for word in _NAME_WORD.findall(initials) if word not in _SKIPPED]


def _same_name(mine: list[str], theirs: list[str]) -> bool:
    shorter, longer = sorted((mine, theirs), key=len)
    if not shorter or "".join(mine) == "".join(theirs) or shorter == ["".join(word[0] for word in longer)]:
        return bool(shorter)
    if len(shorter) == 1:  # one word stands for the whole where it is a word of it that is not a mere number or letter
        return len(shorter[0]) > 2 and shorter[0] in longer and not shorter[0].isdigit() and longer[0] not in CHANGING
    # First names may be cut to initials, and middle names left out; the last word must stay.
    if shorter[-1] not in longer[1:]:
        return all(word in longer for word in shorter)
    return all(any(_may_be(word, other) for other in longer) for word in shorter[:-1])


def _may_be(a: str, b: str) -> bool:
    """Whether two words are the same, or one is the initial of the other."""
    return a == b or min(a, b, key=len) == max(a, b, key=len)[:1]


def _among(mine: list[str], tokens: list[Token]) -> bool:
    """Say whether the words of a name stand in a passage given as tokens."""
    words = [fold(token.norm) for token in tokens]
    if set(mine) <= set(words) or "".join(mine) in words:
        return True
    if len(mine) == 1:
        return 2 <= len(mine[0]) <= 6 and _spelled_out(mine[0], tokens)
    acronym = "".join(word[0] for word in mine)
    if any(word == acronym and token.text.isupper() for word, token in zip(words, tokens, strict=True)):
        return True
    surname = len(mine[-1]) > 2 and not mine[-1].isdigit() and mine[0] not in CHANGING
    return surname and any(
        word == mine[-1] and not _has_other_first_name(at, mine, words, tokens) for at, word in enumerate(words)
    )


def _has_other_first_name(at: int, mine: list[str], words: list[str], tokens: list[Token]) -> bool:
    """Say whether a name that is not among those of `mine` stands right before a surname."""
    before = words[at - 1] if at and tokens[at].start - tokens[at - 1].end == 1 else ""
    known = any(_may_be(before, part) for part in mine[:-1])
    return bool(before) and not known and tokens[at - 1].text[0].isupper() and before not in STOPWORDS | TITLES


def _spelled_out(acronym: str, tokens: list[Token]) -> bool:
    """Say whether consecutive capitalised words, particles aside, begin with the letters of `acronym`."""
    telling = [token for token in tokens if token.norm not in _SKIPPED]
    firsts = "".join(token.norm[0] if token.text[0].isupper() and len(token.text) > 1 else " " for token in telling)
    return acronym in firsts


def leans(text: str) -> bool:
    """Say whether a sentence begins by pointing back: "It …", "In addition, they …"."""
    first = next((token.norm for token in tokenize(text) if token.norm not in _FILLERS), "")
    return first in _ANAPHORS


def points(text: str) -> bool:
    """Say whether a sentence points at something outside it anywhere: "it", "their", "this"."""
    return leans(text) or any(token.norm in _POINTERS for token in tokenize(text))


def leaned_on(texts: Sequence[str]) -> Iterator[str]:
    """Yield, for every sentence of a text in order, what it leans on: empty when it stands by itself.

    That is the names in the nearest sentence before it that stands by itself, else the first content words of it.
    """
    about = ""
    for text in texts:
        if leans(text):
            yield about
            continue
        yield ""
        content = [token.norm for token in tokenize(text) if token.norm not in STOPWORDS]
        about = " ".join(dict.fromkeys(name.text for name in names(text))) or " ".join(content[:_FEW])
