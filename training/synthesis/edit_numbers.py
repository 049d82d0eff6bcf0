"""Other numbers, years, dates, ordinals and units in the place of those of a sentence."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from training.synthesis.edits import Edit, Pool, exchanged, put
from training.synthesis.lexicon import CURRENCIES, MONTHS, NUMBER_WORDS, ORDINALS, UNITS, WEEKDAYS

NUMBER = re.compile(r"(?<![\w.,/:–-])(?<!\d )(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/:–]|-\d|[.,]\d|[,.] \d)")
_DAY_BEFORE = re.compile(rf"(?:{'|'.join(MONTHS)}) $")
_DAY_AFTER = re.compile(rf" (?:of )?(?:{'|'.join(MONTHS)})\b")
_BOUND = re.compile(
    r"(?:more|less|fewer|greater|higher|lower|older|younger) than(?: about)?|at (?:least|most)|up to|over|under|above"
    r"|below|about|around|approximately|roughly|nearly|almost|some|between|within|minimum of|maximum of|[<>≥≤±~]"
)
_BEFORE_YEAR = re.compile(
    r"(?:\b(?:in|since|by|until|till|from|of|during|after|before|to|and|a|an|early|late|mid|the|between|"
    + "|".join(MONTHS)
    + r")|\(|,)\s?$",
    re.IGNORECASE,
)
_PERCENT_AFTER = re.compile(r"\s?(?:%|percent\b|per cent\b)")


def bounded(sentence: str, start: int) -> bool:
    """Whether a number that starts here is said to be a bound or about right: another may then hold as well."""
    before = sentence[max(0, start - 22) : start].rstrip().rstrip("$€£ ").lower()
    match = None
    for match in _BOUND.finditer(before):  # noqa: B007 -- the last one is wanted
        pass
    return match is not None and match.end() >= len(before)


def is_year(digits: str, sentence: str, start: int) -> bool:
    """Whether four digits are read as a year where they stand."""
    return (
        len(digits) == 4
        and digits.isdigit()
        and 1000 <= int(digits) <= 2100
        and _BEFORE_YEAR.search(sentence[:start]) is not None
    )


def _like_year(digits: str) -> bool:
    return len(digits) == 4 and digits.isdigit() and 1500 <= int(digits) <= 2100


def number(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Another plain number, in digits or words."""
    places = [
        (m.start(), m.end(), m.group())
        for m in NUMBER.finditer(sentence)
        if not _like_year(m.group())
        and not _PERCENT_AFTER.match(sentence, m.end())
        and not _DAY_BEFORE.search(sentence[: m.start()])
        and not _DAY_AFTER.match(sentence, m.end())
        and not bounded(sentence, m.start())
    ]
    places += [
        (m.start(), m.end(), m.group()) for m in _NUMBER_WORD.finditer(sentence) if not bounded(sentence, m.start())
    ]
    return _other_number(sentence, places, pool, rng)


_NUMBER_WORD = re.compile(r"\b(?:" + "|".join(NUMBER_WORDS[1:]) + r")\b(?!-)", re.IGNORECASE)


def percent(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Another percentage."""
    places = [
        (m.start(), m.end(), m.group())
        for m in NUMBER.finditer(sentence)
        if _PERCENT_AFTER.match(sentence, m.end()) and not bounded(sentence, m.start())
    ]
    return _other_number(sentence, places, pool, rng, most=100)


def _other_number(
    sentence: str, places: list[tuple[int, int, str]], pool: Pool, rng: random.Random, most: float = 0
) -> Edit | None:
    if not places:
        return None
    start, end, written = rng.choice(places)
    for _ in range(12):
        other = _vary(written, pool.text, rng)
        if other is None or other == written or re.search(rf"(?<!\d){re.escape(other)}(?!\d)", sentence):
            continue
        if most and float(other.replace(",", "")) > most:
            continue
        return put(sentence, start, end, other)
    return None


def _vary(written: str, document: str, rng: random.Random) -> str | None:
    """Another number of the same format: one of the document, a near one, one with a digit changed."""
    if written[0].isalpha():
        at = NUMBER_WORDS.index(written.lower())
        near = [i for i in range(max(1, at - 4), min(len(NUMBER_WORDS), at + 5)) if i != at]
        other = NUMBER_WORDS[rng.choice(near)]
        return other.capitalize() if written[0].isupper() else other
    places = len(written.partition(".")[2])
    value = float(written.replace(",", ""))
    way = rng.random()
    if way < 0.45:
        alike = [
            m.group()
            for m in NUMBER.finditer(document)
            if len(m.group().partition(".")[2]) == places
            and abs(len(m.group()) - len(written)) <= 1
            and (len(m.group()) != 4 or len(written) == 4)
        ]
        return rng.choice(alike) if alike else None
    if way < 0.7:
        unit = 10.0**-places
        step = unit * rng.randint(1, max(1, min(9, int(value / unit * 0.3)))) * rng.choice((-1, 1))
        changed = value + step
    elif way < 0.8:
        changed = value * rng.choice((10, 0.1, 2, 0.5))
    else:
        at = rng.choice([i for i, char in enumerate(written) if char.isdigit()])
        return written[:at] + rng.choice("123456789") + written[at + 1 :]
    if changed <= 0 or (not places and changed != int(changed)):
        return None
    grouped = "," in written or (value >= 10_000 and changed >= 10_000 and "," in written)
    return f"{changed:,.{places}f}" if grouped else f"{changed:.{places}f}"


def year(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Another year: one of the document, or a near one."""
    places = [m for m in NUMBER.finditer(sentence) if is_year(m.group(), sentence, m.start())]
    if not places:
        return None
    place = rng.choice(places)
    value = int(place.group())
    known = [int(m) for m in re.findall(r"\b(?:1[0-9]|20)\d\d\b", pool.text) if abs(int(m) - value) < 120]
    for _ in range(8):
        other = (
            rng.choice(known)
            if known and rng.random() < 0.5
            else value + rng.choice((-1, 1)) * rng.choice((1, 1, 2, 3, 4, 5, 7, 10, 11, 20, 100))
        )
        if other != value and str(other) not in sentence and 1000 <= other <= 2100:
            return put(sentence, place.start(), place.end(), str(other))
    return None


_MONTH = re.compile(r"\b(?:" + "|".join(MONTHS) + r")\b")
_DAY = re.compile(rf"(?:{'|'.join(MONTHS)}) (\d{{1,2}})(?!\d)|(?<!\d)(\d{{1,2}}) (?:{'|'.join(MONTHS)})")
_WEEKDAY = re.compile(r"\b(?:" + "|".join(WEEKDAYS) + r")\b")


def date(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Another month, day of the month or weekday."""
    ways = []
    months = [m for m in _MONTH.finditer(sentence) if m.group() != "May" or re.match(r"[ ,]*\d", sentence[m.end() :])]
    if months:
        ways.append("month")
    days = list(_DAY.finditer(sentence))
    if days:
        ways.append("day")
    weekdays = list(_WEEKDAY.finditer(sentence))
    if weekdays:
        ways.append("weekday")
    if not ways:
        return None
    way = rng.choice(ways)
    if way == "day":
        match = rng.choice(days)
        group = 1 if match[1] else 2
        near = [d for d in (int(match[group]) + s for s in (-10, -3, -2, -1, 1, 2, 3, 10)) if 1 <= d <= 28]
        other = str(rng.choice(near))
        return None if other == match[group] else put(sentence, match.start(group), match.end(group), other)
    match, words = (rng.choice(months), MONTHS) if way == "month" else (rng.choice(weekdays), WEEKDAYS)
    here = [m.group() for m in (_MONTH if way == "month" else _WEEKDAY).finditer(pool.text)]
    near = [word for word in (here if here and rng.random() < 0.4 else words) if word not in sentence]
    return put(sentence, match.start(), match.end(), rng.choice(near)) if near else None


_ORDINAL = re.compile(
    r"(?:(?<=the )|(?<=his )|(?<=her )|(?<=its )|(?<=their )|(?<=a ))(?:"
    + "|".join(ORDINALS)
    + r")\b(?! (?:of all|place|time|name|hand|person)\b)"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b"
)


def ordinal(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """Another ordinal, first to twelfth or 1st to 99th."""
    found = list(_ORDINAL.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    if match.group()[0].isdigit():
        value = int(match.group()[:-2])
        other = max(1, value + rng.choice((-2, -1, 1, 2, 3)))
        if other == value:
            return None
        return put(sentence, match.start(), match.end(), f"{other}{_ending(other)}")
    others = [word for word in ORDINALS[:8] if word != match.group() and word not in sentence]
    return put(sentence, match.start(), match.end(), rng.choice(others)) if others else None


def _ending(value: int) -> str:
    return "th" if 10 < value % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


_UNIT = re.compile(
    r"(?<=\d[ -])(?:" + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)) + r")\b"
    r"|(?<=\d)(?:%|°C|°F|km|kg|mg|cm|mm|GB|MB|TB)(?!\w)"
    r"|\b(?:million|billion|thousand|hundred|trillion)\b"
    r"|[$€£](?=\d)"
    r"|(?<=ty |en |ne |wo |ee |ur |ve |ix |ht )(?:years|months|weeks|days|hours|minutes|seconds|miles|pounds)\b"
)


def unit(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """Another unit, scale word or currency."""
    found = list(_UNIT.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    written = match.group()
    others = CURRENCIES.get(written) or UNITS.get(written)
    return put(sentence, match.start(), match.end(), rng.choice(others)) if others else None


def numbers_exchanged(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature
    """Exchange two numbers of a sentence that count different things."""
    found = [(m.group(), m.start(), m.end()) for m in NUMBER.finditer(sentence)]
    pairs = []
    for first, second in pairwise(found):
        between = sentence[first[2] : second[1]]
        years = [is_year(one[0], sentence, one[1]) for one in (first, second)]
        if first[0] == second[0] or years[0] != years[1] or bounded(sentence, first[1]):
            continue
        if ("." in first[0]) != ("." in second[0]) or len(re.findall(r"[a-z]{3,}", between)) < 2:
            continue
        pairs.append((first, second))
    return exchanged(sentence, *rng.choice(pairs)) if pairs else None
