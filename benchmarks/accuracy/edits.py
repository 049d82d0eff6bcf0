"""One change in a sentence that makes it false where its passages hold: a number, a date, a name, a negation.

Patterns are plain and cautious: a sentence that they do not fit is left alone (None), the next one is tried.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

LABELS = ("SUPPORTED", "UNSUPPORTED", "CONTRADICTED")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
REFUSAL = re.compile(
    r"\b(?:I|we) (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|am unable|apologi[sz]e)\b"
    r"|\bI['’]m (?:sorry|unable|not)\b|^sorry|\bno (?:information|mention)\b"
    r"|\bnot (?:mention|specif|enough information)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:/\-–#$\[])\d[\d,]*(?:\.\d+)?(?![\w:/\-–\]]|[.,]\d)")
_YEAR = re.compile(r"(?<![\w.,:/\-–$])(?:1[5-9]|20)\d\d(?![\w:/\-–]|[.,]\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b(?= \d|,? (?:1[5-9]|20)\d\d)|(?<=\d )(?:{'|'.join(MONTHS)})\b")
_NAME = re.compile(r"(?<=[a-z,;] )(?:[A-Z][a-z]{2,})(?: [A-Z][a-z]{2,})*(?![\w'’-])")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has been|have been|had been|can|could|will|would|should|must|did|does|do)\b"
)
_NEGATED = re.compile(r"\b(is|are|was|were|could|will|would|should|did|does|do) not ")
_NO_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|if|unless|whether|may|might|only|either|cannot|few|little|hardly)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_STAYS_TRUE = re.compile(
    r" (?:also|just|often|usually|always|sometimes|still|now|later|generally|mainly|mostly|largely|"
    r"primarily|all|both|each|even|more|less|so|then|to)\b"
)
_NO_PLACE = frozenset({*MONTHS, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})


def names(texts: Iterable[str]) -> list[str]:
    """Names inside sentences, sorted: capitalised words that are never written small in these texts."""
    texts = list(texts)
    small = {word for text in texts for word in re.findall(r"\b[a-z]+\b", text)}
    found = {name for text in texts for name in _NAME.findall(text) if name not in _NO_PLACE}
    return sorted(name for name in found if not any(word.lower() in small for word in name.split()))


def edit(kind: str, sentence: str, held: str, known: Sequence[str], rng: random.Random) -> str | None:
    """Change one thing of a kind, to what is nowhere in `held`; None where there is nothing fit to change.

    `known` are names to choose from.
    """
    if kind == "number":
        return _number(sentence, held, rng)
    if kind == "date":
        return _date(sentence, held, rng)
    if kind == "name":
        return _name(sentence, held, known, rng)
    return _negation(sentence)


def _number(sentence: str, held: str, rng: random.Random) -> str | None:
    places = [place for place in _NUMBER.finditer(sentence) if not _YEAR.fullmatch(place.group())]
    if not places:
        return None
    place = rng.choice(places)
    digits = place.group()
    for _ in range(20):
        at = rng.choice([i for i, char in enumerate(digits) if char.isdigit()])
        changed = digits[:at] + rng.choice("123456789") + digits[at + 1 :]
        if changed != digits and changed not in held:
            return _put(sentence, place, changed)
    return None


def _date(sentence: str, held: str, rng: random.Random) -> str | None:
    places = [*_YEAR.finditer(sentence), *_MONTH.finditer(sentence)]
    if not places:
        return None
    place = rng.choice(places)
    if place.group() in MONTHS:
        others = [month for month in MONTHS if month not in held]
        return _put(sentence, place, rng.choice(others)) if others else None
    year = int(place.group())
    others = [str(year + by) for by in range(-9, 10) if str(year + by) not in held]
    return _put(sentence, place, rng.choice(others)) if others else None


def _name(sentence: str, held: str, known: Sequence[str], rng: random.Random) -> str | None:
    places = [place for place in _NAME.finditer(sentence) if place.group() not in _NO_PLACE]
    if not places:
        return None
    place = rng.choice(places)
    words = place.group().split()
    alike = [name for name in known if len(name.split()) == len(words) and not set(name.split()) & set(held.split())]
    return _put(sentence, place, rng.choice(alike)) if alike else None


def _negation(sentence: str) -> str | None:
    found = _NEGATED.findall(sentence)
    if len(found) == 1 and len(_NO_NEGATION.findall(sentence)) == 1:
        return _NEGATED.sub(r"\1 ", sentence)
    place = _AUXILIARY.search(sentence)
    if place is None or _NO_NEGATION.search(sentence) or _STAYS_TRUE.match(sentence, place.end()):
        return None
    first, *rest = place.group().split()
    return _put(sentence, place, " ".join(["cannot" if first == "can" else f"{first} not", *rest]))


def _put(sentence: str, place: re.Match[str], text: str) -> str:
    return sentence[: place.start()] + text + sentence[place.end() :]
