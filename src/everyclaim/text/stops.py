"""Full stops that end no sentence in languages other than English: ordinals, abbreviations, initials.

`sentencex` knows some of them, by language. These are repairs on top: two of its pieces that belong together.
"""

from __future__ import annotations

import re
from functools import cache

from everyclaim.text.abbreviations import LISTS
from everyclaim.text.tokens import word_set

_NEVER, _SELDOM = (
    {language: word_set(words) for language, words in LISTS[kind].items()} for kind in ("never", "seldom")
)
_DURATIONS = frozenset({"min", "std"})  # "Sie dauert 30 Min. Der Raum …"
_GERMAN_LEADS = word_set(LISTS["words"]["german_leads"])
_ORDINAL = re.compile(rf"(?:^|\s)(?i:(?:{'|'.join(sorted(_GERMAN_LEADS))})\s+)\d{{1,2}}\.\s*$")
_NUMBER = re.compile(r"(?:^|[\s(–-])\d{1,2}\.\s*$")
_DATED = re.compile(
    r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Jahrtausend|Jh|Weltkrieg|Lebensjahr|Spieltag|Platz)"
)
_INITIALS = re.compile(r"(?:^|[\s(\"“„«])(?P<all>(?:[^\W\d_]\.[\s-]*)+)$")
_ROMAN = re.compile(r"[IVXLC]+\b")
_OPENING = ' \t\n\r\u00a0"“„«»([¿¡'
_STARTS = word_set(LISTS["words"]["starts"])


def carries_on(before: str, following: str, language: str) -> bool:
    """Whether a sentence goes on behind the full stop that `before` ends with.

    Both are the text around the gap; of `before` the last 24 characters are enough. A text whose language is not known
    is read by what holds for all.
    """
    if not before.rstrip().endswith("."):
        return _is_reported(before, following, language)
    rest = following.lstrip(_OPENING)
    if not before[-1].isspace() and following[:1] in "-‐‑":
        return True  # J.-C.
    if not rest or not rest[0].isalnum():
        return False
    if rest[0].islower():
        return True
    short = _ends_in(before, language, seldom=False)
    if short and not ((len(short) == 1 or short.lower() in _DURATIONS) and opens_sentence(rest)):
        return True
    if (rest[0].isdigit() or _ROMAN.match(rest)) and _ends_in(before, language, seldom=True):
        return True
    if language == "de" and _NUMBER.search(before):
        return _ORDINAL.search(before) is not None or _DATED.match(rest) is not None
    initials = _INITIALS.search(before)
    if initials is None or not initials["all"].replace(".", "").replace("-", "").replace(" ", "").isupper():
        return False
    return rest[0].isupper() and not opens_sentence(rest)


def opens_sentence(text: str) -> bool:
    """Whether a text begins with a word that sentences begin with, rather than with a name."""
    word = re.match(r"\w+", text.lstrip(_OPENING))
    return word is not None and word.group().lower() in _STARTS


def _is_reported(before: str, following: str, language: str) -> bool:
    """Whether a Japanese quotation goes on: 「…。」と言った."""
    return language == "ja" and before.rstrip().endswith(("」", "』")) and following[:1] in "とはがをのでに、"


def _ends_in(text: str, language: str, *, seldom: bool) -> str:
    """The abbreviation that a text ends in, without its last full stop; empty when there is none."""
    pattern = _pattern(language, seldom=seldom)
    found = pattern.search(text) if pattern else None
    return found["short"] if found else ""


@cache
def _pattern(language: str, *, seldom: bool) -> re.Pattern[str] | None:
    """An abbreviation of a language at the end of a text, also where it begins with a capital."""
    words = (_SELDOM if seldom else _NEVER).get(language)
    if words is None:
        return None
    forms = [re.escape(word.rstrip(".")).replace("_", r"\.\s?") for word in sorted(words)]
    forms += [form[0].upper() + form[1:] for form in forms if form[0].islower()]
    return re.compile(rf"(?:^|[\s(\[/\"“„«'’-])(?P<short>{'|'.join(forms)})\.\s*$")
