"""Names: what people, places, organisations and products are called in a text; and sentences that lean on one before.

A name is a run of capitalised words, found by its shape and by what its words look like elsewhere in the text. It is
a heuristic on purpose: no dictionary of names, so a name nobody has heard of is found as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from everyclaim.text.lists import NAMED, WORDS
from everyclaim.text.tokens import STOPWORDS, Token, has_plural_ending, tokenize, word_set

# A word that can be part of a name: Capitalised, McDonald, iPhone, GPT-4, NASA, U.S., O'Brien, Jean-Paul, J.
_UPPER = "A-ZÀ-ÖØ-Þ\u0100-\u024f\u0370-\u03ff\u0400-\u042f\u1e00-\u1eff"
_WORD = (
    r"(?:[^\W\d_]\.(?:[ -]?[^\W\d_]\.)+|[^\W\d_]\.(?=\s[^\W\d_])"
    r"|[^\W_]+(?:['’][^\W_]{2,}|['’](?=[^\W_])(?![sS]\b)[^\W_]+)*(?:[-&][^\W_]+(?:['’][^\W_]{2,})?)*)"
)
_CAPITAL = re.compile(rf"[{_UPPER}]")
_CAPITAL_WORD = re.compile(_WORD)
_BETWEEN = re.compile(
    r"[ \u00a0]|[ \u00a0](?:de|da|do|dos|du|del|della|di|la|le|van|von|der|den|ter|ten|bin|ibn|al|el|y|of|of the|of"
    r" [Tt]he|for|and|&|the|de la|van der|van den|von der|de los|in)[ \u00a0]"
)
ORGANISED = word_set(WORDS["names"]["organised"])
_NUMBER_AFTER = re.compile(r"[ \u00a0-](\d{1,4}[A-Za-z]?|[IVX]{1,5})(?![\w%]|[.,:/]\d|-\w)")
_MONTHS_AND_DAYS = word_set(WORDS["names"]["months_and_days"])
_COMMON = word_set(WORDS["names"]["common"])
TITLES = word_set("mr mrs ms dr prof professor sir dame lord lady president king queen prince princess saint st")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;•\n\r\"“”(\[*#>|–—-]|\d[.)])[\s\"'“‘(\[*#>-]*$")
_ABBREVIATION = re.compile(rf"\b(?:[A-Z]|{NAMED})\.\s*$")
_LONGEST = 8  # words in one name
_SMALL_WORD = re.compile(r"(?<![\w'’])[a-zß-öø-ÿ]{2,}")
_NEVER_INSIDE = (STOPWORDS | _COMMON) - TITLES - word_set("new old long great first")
_INNER = STOPWORDS - word_set("the of and it us who d s t m re will may can so no a i be all here")
_COUNTED = re.compile(r" ([a-z]+)")
_PLURAL = word_set("people men women children percent million billion thousand hundred times degrees")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "’": "'"})
_NAME_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SKIPPED = TITLES | word_set(
    "of for and the in y de da do dos du del della di la le van von der den ter ten bin ibn al el inc ltd co corp plc"
)
# A first word that makes another thing of the last: New York is not York.
CHANGING = word_set(WORDS["names"]["changing"])
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
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


class _Part(NamedTuple):
    text: str
    start: int
    end: int
    initial: bool  # it begins a sentence, so its capital says nothing


def names(text: str, *, sentence_starts: Iterable[int] | None = None) -> list[Name]:
    """Find the names in `text`, in order, without overlap.

    `sentence_starts` are offsets at which sentences begin, where the caller knows them; without them, the end of a
    sentence is read off the punctuation. A common word that begins a sentence is no name, and neither is a word of
    a heading or of shouted text that is written in small letters elsewhere in the text. Months, weekdays and titles
    alone are no names.
    """
    starts = None if sentence_starts is None else frozenset(sentence_starts)
    parts = list(_capitalised(text, starts))
    if not parts:
        return []
    small: frozenset[str] | None = None
    if any(part.initial for part in parts) or len(parts) > 0.4 * (text.count(" ") + 1):
        small = frozenset(_SMALL_WORD.findall(text))
    found: list[Name] = []
    run: list[_Part] = []
    for part in parts:
        if run and not _goes_on(run, part, text):
            found.extend(_name(run, text, small))
            run = []
        run.append(part)
    found.extend(_name(run, text, small))
    return found


def _capitalised(text: str, starts: frozenset[int] | None) -> Iterator[_Part]:
    """Give the words that hold a capital where a name holds one: Oslo, iPhone, 3M, al-Karim."""
    done = 0
    for capital in _CAPITAL.finditer(text):
        at = capital.start()
        if at < done:
            continue
        before = text[at - 1 : at]
        if before == "-" and text[max(0, at - 3) : at] == "al-" and not text[max(0, at - 4) : at - 3].isalnum():
            at -= 3
        elif before.isalnum():
            if not (before.islower() or (before.isdigit() and text[at + 1 : at + 2].isupper())):
                continue
            at -= 1
            before = text[at - 1 : at] if at else ""
            if before.isalnum():
                continue
        if before and (before in "@#/._" or before.isalnum()):
            continue
        word = _CAPITAL_WORD.match(text, at)
        if word is None:
            continue
        done = word.end()
        yield _Part(word.group(), at, done, _is_initial(text, at, starts))


def _is_initial(text: str, at: int, starts: frozenset[int] | None) -> bool:
    """Say whether a capital at `at` says nothing, because it begins a sentence or all around it is shouted."""
    if starts is not None and at in starts:
        return True
    before = text[max(0, at - 12) : at]
    if text[at : at + 3].isupper():
        if before.endswith("("):
            return False  # an acronym in brackets
        line = text[max(0, at - 40) : at + 12]
        begins = line.rfind("\n", 0, at - max(0, at - 40))
        line = line[begins + 1 :].partition("\n")[0]
        if len(line) > 10 and line.isupper():
            return True
    if before[-1:].isalnum() or (before[-1:] == " " and (before[-2:-1].isalnum() or before[-2:-1] == ",")):
        return False
    if at < 12 and not before.strip():
        return True
    return _SENTENCE_START.search(before) is not None and _ABBREVIATION.search(before) is None


def _goes_on(run: list[_Part], part: _Part, text: str) -> bool:
    """Say whether `part` belongs to the same name as the words before it."""
    gap = text[run[-1].end : part.start]
    if len(run) >= _LONGEST or len(gap) > 10 or _BETWEEN.fullmatch(gap) is None:
        return False
    last = run[-1].text
    if last.casefold() in _NEVER_INSIDE and len(run) == 1:
        return False
    link = gap.strip()
    if not link:
        return part.text.casefold() not in _MONTHS_AND_DAYS
    if link == "&":
        return True
    if link.casefold().split()[0] in ("of", "for", "in"):
        return last.casefold().rstrip("s") in ORGANISED or (
            link != "in" and last.isupper() is False and link == "of the"
        )
    if link in ("and", "the", "y"):
        return link == "and" and any(word.text.casefold() in ORGANISED for word in run)
    return True


def _name(run: list[_Part], text: str, small: frozenset[str] | None) -> list[Name]:
    """Trim a run of capitalised words to the name it holds, if it holds one."""
    while run and _is_no_name(run[0], small, alone=len(run) == 1):
        run = run[1:]
    while run and run[-1].text.casefold() in STOPWORDS and not run[-1].text.isupper():
        run = run[:-1]
    if not run or (len(run) > 2 and any(part.text.casefold() in _INNER for part in run[1:])):
        return []  # nothing left, or a heading in title case, whose capitals say nothing
    first, last = run[0], run[-1]
    if len(run) == 1 and len(first.text) == 1:
        return []
    if len(run) == 1 and first.text.casefold().rstrip(".") in _MONTHS_AND_DAYS | TITLES:
        return []
    end = last.end
    if text[end - 1] in "'’":
        end -= 1
    number = _NUMBER_AFTER.match(text, end) if last.text.casefold() not in _MONTHS_AND_DAYS else None
    if number is not None and not (len(number[1]) == 4 and number[1].isdigit()) and not _counts(text, number.end()):
        end = number.end()
    return [Name(text[first.start : end], first.start, end)]


def _counts(text: str, end: int) -> bool:
    """Say whether a number that ends here counts what follows: "in Oslo 5 people", not "Apollo 11 landed"."""
    match = _COUNTED.match(text, end)
    if match is None:
        return False
    word = match[1]
    return word in _PLURAL or (has_plural_ending(word) and word not in STOPWORDS)


def _is_no_name(part: _Part, small: frozenset[str] | None, *, alone: bool) -> bool:
    word = part.text.casefold()
    if word.startswith(("i'", "i’")):
        return True
    if word in STOPWORDS or word in ("i", "ok"):
        return not (part.text.isupper() and len(word) > 1 and not part.initial)
    if not part.initial:
        return False
    if word in _COMMON:
        return alone or word not in ("new", "old", "long", "part", "dr", "mr", "mrs", "ms", "prof", "sir", "people")
    return small is not None and word in small and (alone or word not in TITLES)


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
    tokens: list[Token] = []
    for other in others:
        if isinstance(other, Token):
            tokens.append(other)
        elif _same_name(mine, _telling_words(other)):
            return True
    return bool(tokens) and _among(mine, tokens)


def _telling_words(name: Name | str) -> list[str]:
    folded = fold(name if isinstance(name, str) else name.text)
    initials = _DOTTED.sub(lambda match: match.group().replace(".", "") + " ", folded)
    return [word for word in _NAME_WORD.findall(initials) if word not in _SKIPPED]


def _same_name(mine: list[str], theirs: list[str]) -> bool:
    if not theirs:
        return False
    if mine == theirs or "".join(mine) == "".join(theirs):
        return True
    if _acronym(mine, theirs) or _acronym(theirs, mine):
        return True
    shorter, longer = (mine, theirs) if len(mine) <= len(theirs) else (theirs, mine)
    if len(shorter) == 1:
        # One word stands for the whole where it is a word of it that is not a mere number or letter.
        return len(shorter[0]) > 2 and shorter[0] in longer and not shorter[0].isdigit() and longer[0] not in CHANGING
    # First names may be cut to initials, and middle names left out; the last word must stay.
    if shorter[-1] != longer[-1] and shorter[-1] not in longer[1:]:
        return all(word in longer for word in shorter)
    return all(any(word == other or _initial_of(word, other) for other in longer) for word in shorter[:-1])


def _initial_of(a: str, b: str) -> bool:
    return (len(a) == 1 and b.startswith(a)) or (len(b) == 1 and a.startswith(b))


def _acronym(short: list[str], long: list[str]) -> bool:
    """Say whether one word is made of the first letters of several."""
    return len(short) == 1 and len(long) >= 2 and len(short[0]) >= 2 and short[0] == "".join(word[0] for word in long)


def _among(mine: list[str], tokens: list[Token]) -> bool:
    """Say whether the words of a name stand in a passage given as tokens."""
    words = [fold(token.norm) for token in tokens]
    held = set(words)
    if all(word in held for word in mine) or "".join(mine) in held:
        return True
    if len(mine) > 1:
        acronym = "".join(word[0] for word in mine)
        if acronym in held and any(w == acronym and t.text.isupper() for w, t in zip(words, tokens, strict=True)):
            return True
        return mine[0] not in CHANGING and _surname(mine, words, tokens)
    return mine[0].isalpha() and 2 <= len(mine[0]) <= 6 and _spelled_out(mine[0], tokens)


def _surname(mine: list[str], words: list[str], tokens: list[Token]) -> bool:
    """Say whether the last word of a name stands there without another first name before it."""
    if mine[-1] not in words or len(mine[-1]) < 3 or mine[-1].isdigit():
        return False
    for at, word in enumerate(words):
        if word != mine[-1]:
            continue
        before = words[at - 1] if at else ""
        if any(before == part or _initial_of(before, part) for part in mine[:-1] if before):
            return True
        stranger = at and tokens[at - 1].text[0].isupper() and before not in STOPWORDS and before not in TITLES
        if not (stranger and tokens[at].start - tokens[at - 1].end == 1):
            return True
    return False


def _spelled_out(acronym: str, tokens: list[Token]) -> bool:
    """Say whether consecutive capitalised words, particles aside, begin with the letters of `acronym`."""
    run = ""
    for token in tokens:
        if token.norm in _SKIPPED:
            continue
        run = run + token.norm[0] if token.text[0].isupper() and len(token.text) > 1 else ""
        if run.endswith(acronym):
            return True
    return False


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
