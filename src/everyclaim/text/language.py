"""Which language a text is in, as far as it tells.

Most text is plainly English, and a few words of it say so. What is not goes to py3langid, which is loaded only then
(half a second, 75 MB). Its guess about a name, a formula or three words is worth nothing, so below a stated
likelihood the answer is that the text does not tell.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import islice
from typing import Protocol

from everyclaim.text.tokens import word_set

ENGLISH = "en"
UNKNOWN = ""

_READ = 4000  # characters; a text's language shows in its beginning
_WORDS = 80
_SAMPLE = 500  # characters that are asked about
_LIKELY = 0.5  # of the language itself,
_OVER_ENGLISH = 10.0  # and how much likelier than English it must be

# What py3langid is asked to tell apart. Its other languages take short texts away from these, whose relatives they are.
_LANGUAGES = word_set(
    """
    am ar az be bg bn ca cs cy da de el en es et eu fa fi fr ga gu he hi hr hu hy id is it ja ka kk km kn ko lo lt lv
    mk ml mn mr my ne nl no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz vi zh
    """
)
_NAMES: dict[str, str] = dict(
    re.findall(
        r"(\w+)=(\w+)",
        """
        ar=Arabic bg=Bulgarian bn=Bengali ca=Catalan cs=Czech cy=Welsh da=Danish de=German el=Greek en=English
        es=Spanish et=Estonian eu=Basque fa=Persian fi=Finnish fr=French ga=Irish gu=Gujarati he=Hebrew hi=Hindi
        hr=Croatian hu=Hungarian id=Indonesian is=Icelandic it=Italian ja=Japanese ko=Korean lt=Lithuanian
        lv=Latvian mk=Macedonian ml=Malayalam mr=Marathi ms=Malay nl=Dutch no=Norwegian pa=Punjabi pl=Polish
        pt=Portuguese ro=Romanian ru=Russian sk=Slovak sl=Slovenian sq=Albanian sr=Serbian sv=Swedish sw=Swahili
        ta=Tamil te=Telugu th=Thai tl=Tagalog tr=Turkish uk=Ukrainian ur=Urdu uz=Uzbek vi=Vietnamese zh=Chinese
        """,
    )
)
# Function words that no other language of Latin script writes the same way, and often.
_ENGLISH_WORDS = word_set(
    """
    the of and are were which that this these those with from by be been being has had have not it its their they them
    there then than when where who whose what how you your yours we our he she his her him will would should could can
    cannot may might must if but because while about into after before between during through each any all other such
    only also more most very here why does did don't doesn't isn't aren't can't it's i'm i
    """
)
# Words that make it worth asking: frequent elsewhere, rare in English.
_FOREIGN_WORDS = word_set(
    """
    der das und ist nicht ein eine den dem des mit von für auf sich wird sind zu im vom zum zur oder werden kann ja nein
    le la les est et une un du dans pour sur pas que qui au aux ou oui ne sont il elle ce cette
    el los las una del con por para no sí es son se su más está pero lo al
    gli che di della dei è per sono non dal nel alla da sì
    os uma não em um ao à são sim mais foi
    het een van niet zijn voor op aan wordt kan de naar
    jest nie się w z na od po czy tak oraz
    och är att som en ett av på från inte till kan
    og er det ikke af til på fra som kan eller blev ble
    je v na se od po ano není jsou
    on ja ei se ovat että
    este și sunt nu pe cu az egy és nem hogy ve bir bu için yang dan ini adalah và là của
    """
)
_NOT_WORDS = re.compile(r"https?://\S+|www\.\S+|(?<![^\s@])[^\s@]+@[^\s@]+\.\w+|<[^<>]{1,200}>|`[^`\n]{1,200}`")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LATIN = re.compile(r"[a-zß-öø-žș-țə]", re.IGNORECASE)
_SCRIPTS = {  # where the letters alone settle it
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "zh": re.compile(r"[\u3400-\u9fff]"),
}


def name_of(language: str) -> str:
    """Return the English name of a language by its ISO 639-1 code, or the code where it has none here."""
    return _NAMES.get(language, language)


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the language most of a text's beginning is in; empty when it does not tell.

    A name, a number, a formula or a phrase of two words does not tell.
    """
    return _language_of(text[:_READ])


@lru_cache(maxsize=256)  # a text and its only paragraph, the same answer under several metrics
def _language_of(head: str) -> str:
    plain = _NOT_WORDS.sub(" ", head) if any(mark in head for mark in "/@<`") else head
    words = [match.group().lower().replace("’", "'") for match in islice(_WORD.finditer(plain), _WORDS)]
    letters = "".join(words)
    if not letters.isascii() and 2 * len(_LATIN.findall(letters)) < len(letters):
        return _by_script(letters) or _asked(_sample(plain), scripted=True)
    english = sum(word in _ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN_WORDS for word in words)
    if english > foreign and (english >= 2 or len(words) < 8) and 10 * english >= len(words):
        return ENGLISH
    if len(words) < 3 or (len(words) < 6 and not foreign and letters.isascii()):
        return UNKNOWN
    return _asked(_sample(plain), scripted=False)


def _sample(text: str) -> str:
    return " ".join(text[: 2 * _SAMPLE].split())[:_SAMPLE]


def _by_script(letters: str) -> str:
    """The language that most of the letters belong to, kana before ideographs; empty when several share them."""
    for language, script in _SCRIPTS.items():
        share = len(script.findall(letters))
        if share * (5 if language == "ja" else 2) > len(letters):
            return language
    return UNKNOWN


@lru_cache(maxsize=1024)
def _asked(text: str, *, scripted: bool) -> str:
    """What py3langid says; of Latin script only what it is sure of, and sure that it is not English."""
    chances = dict(_identifier().rank(text))
    best = max(chances, key=chances.__getitem__)
    if best == ENGLISH:
        return ENGLISH
    likely = chances[best] >= _LIKELY and chances[best] >= _OVER_ENGLISH * chances[ENGLISH]
    return best if scripted or likely else UNKNOWN


class _Identifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]:
        """All languages with their probabilities."""


@cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier: _Identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES)  # type: ignore[attr-defined]
    return identifier
