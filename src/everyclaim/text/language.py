"""Which language a text is in, as far as it tells.

Most text is plainly English, and a few words of it say so. What is not goes to py3langid, which is loaded only then
(half a second, 75 MB). Its guess about a name, a formula or three words is worth nothing, so below a stated
likelihood the answer is that the text does not tell.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from everyclaim.text.lists import WORDS
from everyclaim.text.tokens import word_set

ENGLISH = "en"
UNKNOWN = ""

_READ = 4000  # characters; a text's language shows in its beginning
_WORDS = 80
_SAMPLE = 500  # characters that are asked about
_OVER_ENGLISH = 20.0  # times as likely as English: of 10,400 English sentences the most foreign one has 11
_OVER_ENGLISH_IN_FEW = 10.0  # words, one of another language and none of English

_LANGUAGES, _ENGLISH_WORDS, _FOREIGN_WORDS = (
    word_set(WORDS["language"][name]) for name in ("asked", "english", "foreign")
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
    return str(WORDS["language_names"].get(language, language))


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the language most of a text's beginning is in; empty when it does not tell.

    A name, a number, a formula or a phrase of two words does not tell.
    """
    return _language_of(text[:_READ])


def guessed_language(text: str) -> str:
    """Return the language of a text that may be too short to tell, by its spelling; empty where it is like English."""
    return language_of(text) or _asked(_sample(_NOT_WORDS.sub(" ", text)))


def is_likelier(language: str, text: str) -> bool:
    """Whether a text is likelier in this language than in English, which one without words is not."""
    if not _WORD.search(text):
        return False
    chances = _chances(_sample(text))
    return chances[language] > chances[ENGLISH]


@lru_cache(maxsize=256)  # a text and its only paragraph, the same answer under several metrics
def _language_of(head: str) -> str:
    plain = _NOT_WORDS.sub(" ", head) if any(mark in head for mark in "/@<`") else head
    words = _WORD.findall(plain.lower().replace("’", "'"))[:_WORDS]
    letters = "".join(words)
    if not letters.isascii() and 2 * len(_LATIN.findall(letters)) < len(letters):
        return _by_script(letters) or _asked(_sample(plain), 0)
    english = sum(word in _ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN_WORDS for word in words)
    if english > foreign and (english >= 2 or len(words) < 8) and 10 * english >= len(words):
        return ENGLISH
    few = len(words) < 6
    if len(words) < 3 or (few and not foreign and letters.isascii()):
        return UNKNOWN
    return _asked(_sample(plain), _OVER_ENGLISH_IN_FEW if few and foreign > english else _OVER_ENGLISH)


def _sample(text: str) -> str:
    return " ".join(text[: 2 * _SAMPLE].split())[:_SAMPLE]


def _by_script(letters: str) -> str:
    """The language that most of the letters belong to, kana before ideographs; empty when several share them."""
    for language, script in _SCRIPTS.items():
        share = len(script.findall(letters))
        if share * (5 if language == "ja" else 2) > len(letters):
            return language
    return UNKNOWN


def _asked(text: str, over_english: float = _OVER_ENGLISH) -> str:
    """What py3langid says; of Latin script only where it is sure that it is not English."""
    chances = _chances(text)
    best = max(chances, key=chances.__getitem__)
    return best if best == ENGLISH or chances[best] >= over_english * chances[ENGLISH] else UNKNOWN


@lru_cache(maxsize=1024)
def _chances(text: str) -> dict[str, float]:
    return dict(_identifier().rank(text))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES)
    return identifier
