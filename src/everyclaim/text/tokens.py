"""Words: the tokens, stems and normalised text that every other reader of text starts from.

`tokenize` is called on every passage, so it is one compiled pattern and one loop. `normalise` keeps, for every
character it gives, the place it came from, so that whatever is found in the normalised text can be pointed at in
the original. `word_spans` counts words as a grammar does. `tidied` trims a stretch that is quoted from a text.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from everyclaim.core.types import Span
from everyclaim.text.lists import MONTHS, NAMED, WORDS

# Scripts written without spaces between words: every character is its own token and its own word edge.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
# Marks that belong to the word they follow but that \w leaves out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u0900-\u0903\u093a-\u0963\u0980-\u0dff\u200d"
)
FRACTION_SIGNS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SUPERSCRIPTS = "²³¹⁰⁴⁵⁶⁷⁸⁹"
_SYMBOLS = "%‰$€£¥₹₩₽¢°&+=<>≤≥±×÷~≈#@§"

_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*(?:[^\W\d_{FRACTION_SIGNS}{_SUPERSCRIPTS}{_UNSPACED}]+)?"
    rf"|[{FRACTION_SIGNS}{_SYMBOLS}{_UNSPACED}]"
    r"|(?:[A-Za-z]\.){2,}"
    rf"|(?:(?![{_UNSPACED}{FRACTION_SIGNS}])[\w{_MARKS}])+(?:['’ʼ][^\W\d_]+)*"
)
# The same for pure ASCII, which most text is: the classes are far smaller.
_ASCII_TOKEN = re.compile(
    r"[A-Za-z_]\w*(?:'[A-Za-z]+)*|\d+(?:[.,]\d+)*(?:[A-Za-z]+)?|[%$&+=<>~#@]|\w+",
    re.ASCII,
)
_ASCII_INITIALS = re.compile(r"(?<!\w)(?:[A-Za-z]\.){2,}", re.ASCII)
_CLITIC = re.compile(r"(?i)['’ʼ](?:s|ll|re|ve|d|m)$")
_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ′`´", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−﹣－", "-")
    | {"⁄": "/", "\u00ad": None, "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None}
)


# Characters of a word that is remembered; so the caches below hold 20 MB at most.
_LONGEST_WORD = 40
_local = threading.local()  # one stemmer per thread: it keeps its working state in itself
_ODD = re.compile(r"[^\x00-\x7f]+|[ \t-\r\x1c-\x1f]{2,}|[\t-\r\x1c-\x1f]|`")
_WORD_CHAR = re.compile(rf"(?![{_UNSPACED}])[\w{_MARKS}]")
_GRAMMAR_WORD = re.compile(
    rf"""
    (?:https?://|www\.)\S+?(?=[.,;:!?)\]"'>]*(?:\s|$))       # addresses
  | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
  | (?:[A-Za-z]\.){{2,}}(?:[A-Za-z](?![\w]))?                # U.S., e.g.
  | (?-i:[A-Z]\.(?=\s*[A-Z]))                                # J. Smith
  | (?:{NAMED}|{MONTHS}|Ft|etc|approx)\.(?=\s*\S)
  | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)(?![^\W_])             # 20th  1970s
  | \d+(?:-\d+){{2,}}(?![^\W_])                              # 2024-05-01
  | (?:\d{{3}}[/-])?(?:\d{{3}}|\d{{5}})-\d{{4}}(?![\w-])     # 345-9945
  | \d+['’]s(?!\w)
  | [.]?\d+(?:[.,:/]\d+)*                                    # 2.8  1,000  12:30
  | [^\W\d_]+(?=n['’]t(?!\w))                                # do + n't
  | n['’]t(?!\w)
  | can(?=not(?!\w)) | (?<=can)not(?!\w)
  | (?:e|co|re|non|pre|anti|mid|ex|semi|multi|self(?!-)|sub|ultra|post|pro|un|bi|tri)-[^\W\d_]+(?!-?\w)
  | (?<=\w)['’](?:s|re|ve|ll|d|m)(?!\w)
  | [A-Za-z]+&[A-Za-z]+
  | [:;=]-?[()DP](?![^\W_])                                 # :-)
  | (?:is|was|are|do|does|did|has|have|had|ca|wo|could|would|should)(?=nt(?!\w)) | (?<=[a-z])nt(?!\w)
  | (?:gon|wan)(?=na(?!\w)) | got(?=ta(?!\w)) | (?<=gon|wan)na(?!\w) | (?<=got)ta(?!\w)
  | \w+(?:[.-]\#?\w+){{0,4}}\.(?:docx?|xlsx?|pdf|txt|csv|html?|jpe?g|png|py|json|zip)(?!\w)
  | [a-z]+(?:\.[a-z]+){{2,8}}(?!\w)
  | [A-Za-z]+\d+(?:_\d+)*(?![^\W_])
  | [^\W\d_]+(?:\.(?:com|org|net|gov|edu|co|io))+(?![\w])
  | [^\W\d_]+ | \d+
  | ``|''|\.\.+|--+|(?P<same>[!?*=_#~+<>-])(?P=same)+
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BRACKETS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "‘": "’"}
_CLOSING_BRACKETS = frozenset(_BRACKETS.values())
_STRAY = frozenset(" \t\r\n\u00a0,;:.!?…|*_`\"'")


def word_set(listing: str) -> frozenset[str]:
    """Give the words of a listing separated by white space; the word lists of this room are written that way."""
    return frozenset(listing.split())


def has_plural_ending(word: str) -> bool:
    """Say whether a word in lower case ends like a plural."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


class Token(NamedTuple):
    """A word, number or symbol. ``source[start:end] == text``; `norm` is what to compare."""

    text: str
    start: int
    end: int
    norm: str


def tokenize(text: str) -> list[Token]:
    """Split `text` into words, numbers (2.8, 1,000, 20th) and symbols such as % and $; punctuation is dropped.

    A possessive or contracted ending ('s, 'll, 're, 've, 'd, 'm) is cut off; "don't" stays one token. Dotted
    initials ("U.S.") are one token without dots in `norm`. Scripts without spaces give one token per character.
    """
    make = tuple.__new__
    tokens: list[Token] = []
    add = tokens.append
    if text.isascii() and _ASCII_INITIALS.search(text) is None:
        for match in _ASCII_TOKEN.finditer(text):
            word = match.group()
            start, end = match.span()
            if "'" in word:
                clitic = _CLITIC.search(word)
                if clitic is not None:
                    word = word[: clitic.start()]
                    end = start + len(word)
            add(make(Token, (word, start, end, word.lower())))
        return tokens
    for match in _TOKEN.finditer(text):
        word = match.group()
        start = match.start()
        clitic = _CLITIC.search(word) if "'" in word or "’" in word or "ʼ" in word else None
        if clitic is not None:
            word = word[: clitic.start()]
        norm = word.lower() if word.isascii() else (_norm if len(word) <= _LONGEST_WORD else _norm.__wrapped__)(word)
        if "." in norm and norm[0].isalpha():
            norm = norm.replace(".", "")
        if norm:
            add(make(Token, (word, start, start + len(word), norm)))
    return tokens


@lru_cache(maxsize=32768)
def _norm(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().translate(_PLAIN)


def stem(norm: str) -> str:
    """Give the English snowball stem of a token's `norm`. Anything that is not a plain word comes back unchanged."""
    return _stem(norm) if len(norm) <= _LONGEST_WORD else norm


@lru_cache(maxsize=65536)
def _stem(norm: str) -> str:
    if len(norm) < 3 or not norm.isascii() or not norm.isalpha():
        return norm
    if not hasattr(_local, "stemmer"):
        _local.stemmer = snowballstemmer.stemmer("english")
    return str(_local.stemmer.stemWord(norm))


def content_stems(text: str) -> frozenset[str]:
    """Give the stems of the words of a text that are no stopwords."""
    return frozenset(stem(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS)


# What a character becomes by itself; a fraction or superscript must not melt into the number before it.
@lru_cache(maxsize=16384)
def _plain_char(char: str) -> str:
    if char.isspace():
        return " "
    if char in FRACTION_SIGNS:
        return " " + unicodedata.normalize("NFKC", char).translate(_PLAIN)
    if char in _SUPERSCRIPTS:
        return "^" + unicodedata.normalize("NFKC", char)
    return unicodedata.normalize("NFKC", char).casefold().translate(_PLAIN)


def normalise(text: str) -> tuple[str, Sequence[int]]:
    """Give `text` casefolded, compatibility-composed, with straight quotes and dashes and single spaces.

    Returns the normalised text and, for each of its characters, the offset of the original character it came
    from, with ``len(text)`` appended: the sequence is one longer than the normalised text and never decreases.
    """
    out: list[str] = []
    offsets = array("q")
    done = 0
    spaced = False  # the last character given is a space
    for match in _ODD.finditer(text):
        start, end = match.span()
        if start > done:
            out.append(text[done:start].lower())
            offsets.extend(range(done, start))
            spaced = text[start - 1] == " "
        done = end
        if text[start] == "`":
            out.append("'")
            offsets.append(start)
            spaced = False
        elif text[start] < "\x80":  # white space
            if not spaced:
                out.append(" ")
                offsets.append(start)
                spaced = True
        else:
            spaced = _normalise_odd(text, start, end, out, offsets, spaced)
    out.append(text[done:].lower())
    offsets.extend(range(done, len(text) + 1))
    return _drop_double_spaces("".join(out), offsets)


def _normalise_odd(text: str, start: int, end: int, out: list[str], offsets: array[int], spaced: bool) -> bool:
    """Add the run of non-ASCII characters [start, end), composing marks with the character before them."""
    for at in range(start, end):
        char = text[at]
        if unicodedata.combining(char) and out and out[-1] and offsets[-1] < at and not spaced:
            base = out[-1][-1]
            composed = unicodedata.normalize("NFKC", base + char).casefold()
            out[-1] = out[-1][:-1] if len(out[-1]) > 1 else ""
            came_from = offsets.pop()
            out.append(composed)
            offsets.extend([came_from] * len(composed))
            continue
        for plain in _plain_char(char):
            if plain == " ":
                if not spaced:
                    out.append(" ")
                    offsets.append(at)
                spaced = True
            else:
                out.append(plain)
                offsets.append(at)
                spaced = False
    return spaced


def _drop_double_spaces(text: str, offsets: array[int]) -> tuple[str, array[int]]:
    """Remove the second of two spaces, where an odd space met a plain one."""
    if "  " not in text:
        return text, offsets
    kept = array("q")
    out: list[str] = []
    done = 0
    for match in re.finditer(r"(?<= ) +", text):
        out.append(text[done : match.start()])
        kept.extend(offsets[done : match.start()])
        done = match.end()
    out.append(text[done:])
    kept.extend(offsets[done:])
    return "".join(out), kept


def is_word_char(char: str) -> bool:
    """Say whether `char` continues a word in a script that puts spaces between words."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return _WORD_CHAR.match(char) is not None


STOPWORDS = word_set(WORDS["tokens"]["stopwords"])


def word_spans(text: str) -> list[Span]:
    """Give the place of every word and sign of a text."""
    return [Span(*match.span()) for match in _GRAMMAR_WORD.finditer(text)]


def trimmed(text: str, start: int, end: int) -> Span:
    """Give the stretch ``text[start:end]`` without the white space at its ends."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return Span(first, max(first, start + len(piece.rstrip())))


def tidied(text: str, start: int, end: int) -> tuple[int, int]:
    """Give the stretch ``text[start:end]`` without the punctuation at its ends, brackets whole.

    A bracket that closes right behind the stretch is taken in, one without its other half is left out where it stands
    at an end. A stretch without any word comes back as it is.
    """
    if not any(character.isalnum() for character in text[start:end]):
        return start, end
    low, high = start, end
    while (text[low] in _STRAY and not text[low : low + 2].lstrip(".").isdigit()) or text[low] in _CLOSING_BRACKETS:
        low += 1
    while text[high - 1] in _STRAY or text[high - 1] in _BRACKETS:
        high -= 1
    for opening, closing in _BRACKETS.items():
        inside = text[low:high]
        if inside.count(opening) > inside.count(closing):
            if text.startswith(closing, high):
                high += 1
            elif text[low] == opening:
                low += 1
        elif inside.count(closing) > inside.count(opening) and text[high - 1] == closing:
            high -= 1
    return low, high


def capital(text: str) -> str:
    """Write the first letter large, where it stays one letter: not that of "ﬁ"."""
    large = text[:1].upper()
    return large + text[1:] if len(large) == 1 else text


def in_unspaced_script(text: str) -> bool:
    """Say whether a text has letters of a script that puts no blanks between words, where a stretch may cut a word."""
    return any(character.isalpha() and not is_word_char(character) for character in text)


def blanked_out(text: str, start: int, end: int) -> str:
    """Write blanks over ``text[start:end]``: what stands behind keeps its place."""
    return text[:start] + " " * (end - start) + text[end:]
