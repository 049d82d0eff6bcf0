"""Where sentences end, and full stops that end none: ordinals, abbreviations, initials; in English titles and streets.

`sentencex` knows some of them, by language; `segment` uses these repairs on top, where two of its pieces belong
together. `sentence_spans` cuts passages into the pieces that a claim is compared with: a line break ends a sentence
unless the next line goes on in lower case, so table rows, list items and headings stay on their own, and hard-wrapped
prose does not fall apart.
"""

from __future__ import annotations

import re
from functools import cache

from everyclaim.text.lists import LISTS, MONTHS, NAMED
from everyclaim.text.tokens import trimmed, word_set

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
_BREAK = re.compile(
    r"\n(?:\s*\n|\s*(?![\sa-z,;)])|\s*(?=[^\n:.]{1,40}:\s))"
    r"|(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-Þ<`])"
    r"|(?<=[。！？])"
)
_ELSEWHERE = "Dña|Sra|Hr|Sig|sig|z"  # of other languages: "z. B."
_NOT_AN_END = re.compile(
    rf"\b(?:{NAMED}|{MONTHS}|etc|Nos|Fig|Figs|Eq|al|cf|ca|approx|e\.g|i\.e|Proc|Treas|{_ELSEWHERE}|[A-Z])\.$"
)
_LONGEST = 600  # characters; text without sentence ends is cut at white space


def carries_on(before: str, following: str, language: str) -> bool:
    """Whether a sentence goes on behind the full stop that `before` ends with.

    Both are the text around the gap; of `before` the last 24 characters are enough. A text whose language is not known
    is read by what holds for all.
    """
    if not before.rstrip().endswith("."):
        # A Japanese quotation goes on: 「…。」と言った
        return language == "ja" and before.rstrip().endswith(("」", "』")) and following[:1] in "とはがをのでに、"
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


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Cut `text` into sentences: half-open offsets in order, without the white space between them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        end = match.start()
        is_line_break = "\n" in match.group()
        if end <= start or (not is_line_break and _NOT_AN_END.search(text, max(start, end - 12), end)):
            continue
        _add(text, start, end + len(match.group().rstrip()), spans)
        start = match.end()
    _add(text, start, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    """Add ``text[start:end]`` without its outer white space, in pieces when it is very long."""
    start, end = trimmed(text, start, end)
    while end - start > _LONGEST:
        cut = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        cut = start + _LONGEST if cut < 0 else cut
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))
