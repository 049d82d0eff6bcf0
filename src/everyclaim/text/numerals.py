"""Numbers as people write them, each with the precision it was stated in, and units, from `units.txt`.

This is the first half of reading quantities: where a number stands and what it is worth. What it counts or
measures is read in `quantities`.

Base units: second, metre, gram, litre, square metre, metre per second, byte, joule, watt, degree Celsius, hertz, volt,
pascal, percent; a currency's own unit for money.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.lists import WORDS, rows
from everyclaim.text.tokens import FRACTION_SIGNS

_LISTS = WORDS["numerals"]
_SMALL: dict[str, int] = {"nil": 0} | {word: value for value, word in enumerate(_LISTS["small"].split())}
_TENS: dict[str, int] = {word: value for value, word in zip(range(20, 100, 10), _LISTS["tens"].split(), strict=True)}
_SCALES: dict[str, int] = _LISTS["scales"]
_ORDINALS: dict[str, int] = {word: place for place, word in enumerate(_LISTS["ordinals"].split(), 1) if "-" not in word}
_ORDINALS |= _LISTS["round_ordinals"]
_PARTS: dict[str, float] = {word: 1 / parts for word, parts in _LISTS["parts"].items()}
_VULGAR = {sign: unicodedata.numeric(sign) for sign in FRACTION_SIGNS}
_WORDS = {**_SMALL, **_TENS, **_SCALES, "dozen": 12}
NUMBER_WORDS = frozenset(_WORDS) - {"one", "nil"}  # that are nothing else
_PAIR = re.compile(r"(?:couple|pair) of")
_TIMES = {"twice": 2.0, "thrice": 3.0}
_ARTICLE = re.compile(r"an? ")
# Thousands and decimals as different countries set them: one mark between the groups of a number, another before its
# decimals. 1,234.5 · 12,34,567 · 1.234,5 · 1.234.567 · 1'234'567.5 · 1 234 567,5 · 3.5 · 3,5 · .5
_POINT_DECIMALS = r"\.\d+(?!\d{0,9}\.\d)"
_DIGITS = re.compile(
    rf"(?P<int>\d{{1,3}}(?:,\d{{2,3}})*,\d{{3}}(?!\d))(?P<dec>{_POINT_DECIMALS})?"
    r"|(?P<int2>\d{1,3}(?:\.\d{3})+(?=,\d)|\d{1,3}(?:\.\d{3}){2,}(?![\d.]))(?P<dec2>,\d+(?![\d,]))?"
    r"|(?P<int3>\d{1,3}(?P<mark>['’ \u00a0\u202f\u2009])\d{3}(?:(?P=mark)\d{3})*(?!\d))(?P<dec3>[.,]\d+(?![.,]?\d))?"
    rf"|(?P<int4>\d+|(?=\.\d))(?P<dec4>{_POINT_DECIMALS}|,(?:\d\d?|\d{{4,}})(?![\d,]))?"
)
_NOT_A_DIGIT = re.compile(r"\D")
_SMALL_PORTION = re.compile(r" ?(?:g|mg|ml|cl|mm|cm|m|w|v|px|page|word)\b")  # "20 500 g bags"
_TEN_TO_THE = re.compile(r"10\s?(?:(?:\^|\*\*)\s?(\d{1,2})(?!\d)|([⁰¹²³⁴-⁹]{1,2}))")
_POWER = re.compile(
    r"\s?[×x*·]\s?10\s?(?:(?:\^|\*\*)\s?([-−]?\d{1,2})(?!\d)|(⁻?[⁰¹²³⁴-⁹]{1,2}))|e([+-]?\d{1,2})(?![a-z0-9])"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_FRACTION_AFTER = re.compile(rf"(?:\s|-)?([{FRACTION_SIGNS}])|\s(\d{{1,2}})[/⁄](\d{{1,3}})(?![\d/])")
_SLASH = re.compile(r"(\d{1,3})[/⁄](\d{1,3})(?![\d/]|\.\d)")
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100, 1000})
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th)(?![a-z])")
_MULTIPLIER = re.compile(
    r"[ \u00a0-]?(hundred|thousand|lakh|crore|million|billion|trillion|dozen|mn|bn|tn|mln|bln|mio|mrd|cr"
    r"|millionen|milliarden?|milliard)s?(?![a-z0-9])(?:(?<=mio)\.|(?<=mrd)\.)?"
    r"|([kmb])(?![a-z0-9²³/])"
)
_MULTIPLIERS: dict[str, int] = {**_SCALES, **_LISTS["multipliers"]}
_LARGEST = 10**40  # beyond it, number words are no number
_MANY = re.compile(
    r"m (?:people|users|customers|visitors|passengers|inhabitants|residents|viewers|copies|units|members|followers"
    r"|subscribers|households|homes|jobs|workers|employees|voters|tonnes|barrels|views|downloads|records|patients|students"
    r"|children|adults|women|men|containers|shares|vehicles|cars|tourists|refugees|accounts|doses|cases|books|trees)\b"
)
_MONEY_BEFORE = re.compile(r"[$€£¥₹] ?$|(?:usd|eur|gbp|inr|cad|aud|chf) ?$")
_OF_BIG = re.compile(r" of an? (hundred|thousand|lakh|million|crore|billion|trillion)\b")
_TABLE = [row.split() for row in rows("units.txt")]
CURRENCY_SIGNS: dict[str, str] = {sign: row[1] for row in _TABLE if row[0] == "sign" for sign in row[2:]}
DOLLARS = frozenset(f"money:{code}" for code in ("USD", "CAD", "AUD", "NZD", "HKD", "SGD"))
"""Dimensions that a bare "$" may mean."""


def _any(words: dict[str, int] | dict[str, float]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_BIG = f"dozen|{_any(_SCALES)}"
_START = re.compile(
    rf"(?<![a-z0-9_])(?:[0-9{FRACTION_SIGNS}]|(?<![^\s(+=<>~≈±-])\.[0-9]"
    rf"|an? (?:(?:{_BIG}|half|third|quarter|fifth|tenth)\b|(?:couple|pair) of (?!the\b|days\b))"
    rf"|(?:{_any(_WORDS)}|{_any(_ORDINALS)}|half|twice|thrice)\b)"
)
_HALF_OF_BIG = re.compile(rf"[ -](?:an?[ -])?({_BIG})\b")
_NEXT_WORD = re.compile(rf"(?: - |[ \u00a0-]| and )({_any(_WORDS)}|{_any(_ORDINALS)})(?![a-z])")
_AND_PART = re.compile(
    rf"(?:,? and |-and-| )(?:an?[ -]|one[ -])?({_any(_PARTS)})(?![a-z])|,? and ([a-z]+)[ -]({_any(_PARTS)})(?![a-z])"
)
_PART_OF = re.compile(rf"[ -]({_any(_PARTS)})(?![a-z])")


class Number(NamedTuple):
    """A number in a text: `value` has a stated precision of `step`; `kind` is cardinal, ordinal, fraction or times.

    `rounded`: written so that its last digit may be rounded ("2.8", "2.8 million"), not a plain whole number.
    `scale` is the multiplier word or letter it ends in, or "". `other` is what the digits may mean elsewhere, where
    1.234 is how one writes 1,234; 0 where they mean one thing.
    """

    value: float
    start: int
    end: int
    kind: str = "cardinal"
    step: float = 0.0
    rounded: bool = False
    scale: str = ""
    other: float = 0.0


def numbers(low: str, text: str) -> Iterator[Number]:
    """Read the numbers of `text` in order; `low` is `text` in lower case, of the same length."""
    done = 0
    for match in _START.finditer(low):
        at = match.start()
        if at < done:
            continue
        digits = low[at].isdecimal() or low[at] in _VULGAR or low[at] == "."
        number = _in_digits(low, text, at) if digits else _in_words(low, at)
        if number is not None:
            done = number.end
            yield number


def _in_digits(low: str, text: str, at: int) -> Number | None:
    if low[at] in _VULGAR:
        return _scaled(low, text, Number(_VULGAR[low[at]], at, at + 1, "fraction"))
    if match := _SLASH.match(low, at):
        above, below = int(match[1]), int(match[2])
        if below in _DENOMINATORS and 0 < above < below:
            return _scaled(low, text, Number(above / below, at, match.end(), "fraction"))
        return None
    if match := _TEN_TO_THE.match(low, at):
        return Number(10.0 ** int(match[1] or match[2].translate(_RAISED)), at, match.end())
    match = _DIGITS.match(low, at)
    if match is None or match.end() - at > 40:
        return None
    digits, decimals, end = _split(low, match)
    value, step = float((digits or "0") + decimals), 10.0 ** -max(0, len(decimals) - 1)
    if not decimals:
        if ordinal := _ORDINAL_END.match(low, end):
            return Number(value, at, ordinal.end(), "ordinal")
        if part := _FRACTION_AFTER.match(low, end):
            share = _VULGAR[part[1]] if part[1] else 1.0
            if part[3] and int(part[3]) in _DENOMINATORS:
                share = int(part[2]) / int(part[3])
            if share < 1:
                return _scaled(low, text, Number(value + share, at, part.end()))
        halves = _AND_PART.match(low, end)
        if halves is not None and halves[1] and "and" in halves[0]:
            return _scaled(low, text, Number(value + _PARTS[halves[1]], at, halves.end()))
    number = Number(value, at, end, step=step, rounded=bool(decimals))
    if len(decimals) == 4 and 1 <= len(digits) <= 3 and digits[0] != "0" and low[at + len(digits)] == ".":
        number = number._replace(other=value * 1000)
    if power := _POWER.match(low, end):
        times = 10.0 ** int((power[1] or power[2] or power[3]).translate(_RAISED))
        return number._replace(value=value * times, step=step * times, end=power.end(), rounded=True, other=0.0)
    return _scaled(low, text, number, len((digits + decimals).replace(".", "").lstrip("0")))


def _split(low: str, match: re.Match[str]) -> tuple[str, str, int]:
    """Give the digits before the decimals, the decimals with a point before them ("" for none), and the end."""
    grouped = match["int3"]
    if grouped is not None and match["mark"] == " " and _SMALL_PORTION.match(low, match.end("int3")):
        first = grouped.partition(" ")[0]
        return first, "", match.start() + len(first)
    whole = match["int"] or match["int2"] or grouped or match["int4"] or ""
    part = match["dec"] or match["dec2"] or match["dec3"] or match["dec4"] or ""
    return _NOT_A_DIGIT.sub("", whole), part.replace(",", "."), match.end()


def _scaled(low: str, text: str, number: Number, significant: int = 0) -> Number:
    """Apply "million", "k", "bn" and their like after a number."""
    match = _MULTIPLIER.match(low, number.end)
    if match is None:
        return number
    scale, letter = match[1] or match[2], match.start(2)
    small = scale in ("m", "b") and text[letter].islower() and _MANY.match(low, letter) is None
    if small and _MONEY_BEFORE.search(low[max(0, number.start - 4) : number.start]) is None:
        return number  # 5m is a length
    times = _MULTIPLIERS[scale]
    rounded = scale not in ("dozen", "hundred") and significant >= 2
    return Number(number.value * times, number.start, match.end(), "cardinal", number.step * times, rounded, scale)


def _in_words(low: str, at: int) -> Number | None:
    """Read a number in words, as far as it goes on."""
    if article := _ARTICLE.match(low, at):
        if pair := _PAIR.match(low, article.end()):
            return Number(2.0, at, pair.end())
        word, end = _word_at(low, article.end())
        if word == "half" and (several := _half_of_big(low, at, end)):
            return several
        if word in _PARTS and word not in _SCALES:
            return _of_big(low, Number(_PARTS[word], at, end, "fraction"))
        return _sum_of_words(low, at, article.end(), 1)
    word, end = _word_at(low, at)
    if word in _TIMES:
        return Number(_TIMES[word], at, end, "times")
    if word == "half":
        return _half_of_big(low, at, end) or Number(0.5, at, end, "fraction")
    if word in _ORDINALS:
        return Number(float(_ORDINALS[word]), at, end, "ordinal")
    return _sum_of_words(low, at, at, 0)


def _half_of_big(low: str, start: int, end: int) -> Number | None:
    """Read "half a million" and "a half dozen", where "half" ends at `end`."""
    multiple = _HALF_OF_BIG.match(low, end)
    return multiple and Number(0.5 * _MULTIPLIERS[multiple[1]], start, multiple.end(), scale=multiple[1])


def _word_at(low: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(low) and "a" <= low[end] <= "z":
        end += 1
    return low[at:end], end


def _sum_of_words(low: str, start: int, at: int, implied: int) -> Number | None:
    """Add up "two hundred and five thousand": `group` is what the next scale multiplies, `total` what is done."""
    word, end = _word_at(low, at)
    if word not in _WORDS:
        return None
    total, group, scale = 0, implied, ""
    while True:
        if word in _SCALES or word == "dozen":
            group, scale = max(group, 1) * _WORDS[word], word
            if _WORDS[word] >= 1000:
                total, group = total + group, 0
        else:
            group += _WORDS[word]
        if total + group > _LARGEST:
            return None
        following = _NEXT_WORD.match(low, end)
        if following is None or not _goes_on(word, following[1], " and " in following[0]):
            return _with_part(low, Number(float(total + group), start, end, scale=scale))
        word, end = following[1], following.end()
        if word in _ORDINALS:
            return Number(float(total + group + _ORDINALS[word]), start, end, "ordinal")


def _goes_on(last: str, word: str, joined: bool) -> bool:
    """Say whether `word` continues the number that `last` ended so far."""
    if word in _ORDINALS:
        return not joined and (last in _TENS or last in _SCALES) and (_ORDINALS[word] < 10 or last in _SCALES)
    if joined:
        return last in _SCALES and word not in _SCALES and word != "dozen"
    if word in _SCALES or word == "dozen":
        return word != last and (last not in _SCALES or _SCALES.get(word, 0) > _SCALES[last] or last == "hundred")
    if last in _SCALES:
        return True
    return last in _TENS and 0 < _SMALL.get(word, 0) < 10


def _with_part(low: str, number: Number) -> Number:
    """Add "and a half", or take "two thirds" as the fraction it is."""
    part = _PART_OF.match(low, number.end)
    if part is not None and 1 <= number.value < 10 and (part[1].endswith("s") or number.value == 1):
        return _of_big(low, Number(number.value * _PARTS[part[1]], number.start, part.end(), "fraction"))
    more = _AND_PART.match(low, number.end)
    share = 0.0
    if more is not None and more[1] and "and" in more[0]:
        share = _PARTS[more[1]]
    elif more is not None and more[2] in _SMALL:
        share = _SMALL[more[2]] * _PARTS[more[3]]
    if more is None or not 0 < share < 1:
        return number
    scaled = _MULTIPLIER.match(low, more.end())
    if scaled is None or not scaled[1]:
        return number._replace(value=number.value + share, end=more.end())
    value = (number.value + share) * _MULTIPLIERS[scaled[1]]
    return number._replace(value=value, end=scaled.end(), scale=scaled[1])


def _of_big(low: str, number: Number) -> Number:
    """Read "a quarter of a million"."""
    match = _OF_BIG.match(low, number.end)
    return (
        number if match is None else Number(number.value * _SCALES[match[1]], number.start, match.end(), scale=match[1])
    )


def scale_value(scale: str) -> float:
    """Give what a multiplier word or letter multiplies by; 1 for none."""
    return float(_MULTIPLIERS.get(scale, 1))


class Unit(NamedTuple):
    """A unit: ``base = value * factor + shift``. `system` tells units that convert exactly from those that do not.

    `other` is a second factor where the same word means two things, as a British and an American pint; 0 for none.
    """

    name: str
    dimension: str
    factor: float
    system: str = ""
    shift: float = 0.0
    other: float = 0.0


def _units() -> Iterator[tuple[str, Unit]]:
    for dimension, system, name, factors, *written in (row for row in _TABLE if row[0] != "sign"):
        factor, _, other = factors.partition("/")
        unit = Unit(name, dimension, float(factor), system, other=float(other or 0.0))
        yield from ((form.replace("_", " "), unit) for form in written)
    signs = ("°", "º", "degrees", "degree", "deg")
    for word, scale, shift in (("celsius", 1.0, 0.0), ("fahrenheit", 5 / 9, -160 / 9), ("kelvin", 1.0, -273.15)):
        unit = Unit(word, "temperature", scale, word, shift)
        yield from ((f"{sign} {form}", unit) for sign in signs for form in (word[0], word))
        yield from ((sign + form, unit) for sign in "°º" for form in (word[0], word))
        yield from ((form, unit) for form in (word, *(("degrees centigrade", "centigrade") if word[0] == "c" else ())))
    yield from ((sign, Unit("degree", "temperature", 1.0, "degree")) for sign in signs)


UNITS: dict[str, Unit] = dict(_units())
"""Unit by what is written, in lower case, words joined by one space."""
