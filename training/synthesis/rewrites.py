"""Rewrites that keep what a sentence says, or say less of it: each gives another sentence, or None."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from training.synthesis.lexicon import MONTHS, NUMBER_WORDS, PEOPLE, SYNONYMS, UNIT_FORMS
from training.synthesis.tags import tag

from everyclaim.text.names import names

Rewrite = Callable[[str, random.Random], str | None]
_MONTHS = "|".join(MONTHS)


def detokenized(text: str) -> str:
    """Undo the spacing of tokenized text: `` season '' , one - year -> "season", one-year."""
    text = re.sub(r"\s*`` ?", ' "', text) if "``" in text else text
    text = re.sub(r" ?''", '"', text)
    text = re.sub(r" ([,.;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[]) ", r"\1", text)
    text = re.sub(r"(\w) - (?=\w)", r"\1-", text)
    text = re.sub(r" (n't|'(?:s|re|ve|ll|d|m))\b", r"\1", text)
    text = re.sub(r"(\d), (\d{3})(?!\d)", r"\1,\2", text)
    text = re.sub(r"([$€£]) (?=\d)", r"\1", text)
    return text.strip()


def _sub(pattern: str, new: str | Callable[[re.Match[str]], str], text: str) -> str | None:
    changed = re.sub(pattern, new, text, count=1)
    return changed if changed != text else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def parenthesis(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Leave out what stands in brackets."""
    return _sub(r" \(\s?[^()]{2,80}\)", "", text)


def aside(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Leave out a clause between commas that only adds."""
    return _sub(r",? , (?:which|who|where|whose) [^,.;]{5,90} ,|, (?:which|who|where|whose) [^,.;]{5,90},", "", text)


def tail(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Leave out a last clause that only adds."""
    return _sub(r"\s?, (?:which|including|such as|especially|although|while|whereas) [^.;]{10,120}(?=\s?\.$)", "", text)


def connective(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Leave out a word that only ties the sentence to the one before."""
    match = re.match(
        r"(?:However|Therefore|Moreover|Furthermore|In addition|Additionally|Thus|Nevertheless|Meanwhile|Consequently"
        r"|As a result|Indeed|In fact|Finally|Also|Hence|Similarly|For example|For instance|Overall|Likewise) ?, ",
        text,
    )
    return _capital(text[match.end() :]) if match else None


def adverb(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Leave out an adverb that says little."""
    if re.search(r"\bnot\b|n't", text):
        return None
    return _sub(
        r" (?:also|very|extremely|highly|quite|successfully|eventually|subsequently|officially|famously|briefly"
        r"|personally|quickly|immediately|therefore|thus|then|however ,|in fact)(?= [a-z])",
        "",
        text,
    )


_SHORT = {"do not": "don't", "does not": "doesn't", "did not": "didn't", "is not": "isn't", "are not": "aren't",
          "was not": "wasn't", "were not": "weren't", "has not": "hasn't", "have not": "haven't",
          "cannot": "can't", "will not": "won't", "would not": "wouldn't", "could not": "couldn't",
          "should not": "shouldn't", "it is": "it's", "we will": "we'll", "we have": "we've"}  # fmt: skip
_LONG = {short: long for long, short in _SHORT.items() if short != "it's"}


def contraction(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Do not and don't, either way."""
    for table in (_SHORT, _LONG):
        found = re.search(r"\b(?:" + "|".join(table) + r")\b", text)
        if found:
            return text[: found.start()] + table[found.group()] + text[found.end() :]
    return None


def typography(text: str, rng: random.Random) -> str | None:
    """Quotes, dashes, percent and currency signs, the comma of thousands: another way to write the same."""
    ways: list[str | None] = [
        text.replace("'", "’") if re.search(r"\w'\w", text) else None,
        text.replace("’", "'") if "’" in text else None,
        re.sub(r'"([^"]*)"', r"“\1”", text) if '"' in text else None,
        text.replace("–", "-") if "–" in text else None,
        _sub(r"(?<=\d)%", " percent", text),
        _sub(r"(?<=\d) (?:percent|per cent)\b", "%", text),
        _sub(r"\$(\d[\d.,]*\d|\d)(?: (million|billion|trillion))\b", r"\1 \2 dollars", text),
        _sub(r"\b(\d[\d.,]*)( million| billion)? (?:US )?dollars\b", r"$\1\2", text),
        _sub(r"(?<![\d,.])(\d{1,3}),(\d{3})(?![,\d])", r"\1\2", text),
        _sub(r"(?<![\d,.$£€:/-])(\d{2})(\d{3})(?![,.\d/:-])", r"\1,\2", text),
        _sub(r" & ", " and ", text),
        _sub(r"(?<=\d)(?: -|–| –|-| to )(?=\d)", " to ", text) if re.search(r"\bfrom \d", text) else None,
    ]
    found = [way for way in ways if way and way != text]
    return rng.choice(found) if found else None


def fronted(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """In 1989, X did. <-> X did in 1989."""
    when = rf"(?:the )?(?:early |late |summer of |end of )?(?:(?:{_MONTHS})\s?(?:\d\d?\s?,? )?)?(?:1\d|20)\d\d(?:s)?"
    match = re.fullmatch(rf"(In|On|By|Since|During) ({when})\s?, ([^,;:()]{{15,160}})\s?\.", text)
    if match and not re.search(r"\b(?:and|but|which|that|who|while|in \d)\b", match[3]):
        return f"{_capital(match[3])} {match[1].lower()} {match[2].strip()}."
    match = re.fullmatch(rf"([^,;:()]{{15,160}}) (in|on|by|since|during) ({when})\s?\.", text)
    if match and not re.search(r"\b(?:and|but|which|that|who|while)\b", match[1]):
        first = match[1].split()[0]
        small = {"The", "A", "An", "He", "She", "It", "They", "This", "These", "His", "Her", "Its", "Their", "Some"}
        rest = match[1][0].lower() + match[1][1:] if first in small else match[1]
        if first in small or any(name.start == 0 for name in names(match[1])):
            return f"{_capital(match[2])} {match[3]}, {rest}."
    return None


def digits(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Number words for small numbers in digits, and the other way round."""
    match = re.search(r"(?<= )(?:" + "|".join(NUMBER_WORDS[1:]) + r")(?= [a-z]{3,})", text)
    if match and "one" not in text.split():
        return text[: match.start()] + str(NUMBER_WORDS.index(match.group()) + 1) + text[match.end() :]
    match = re.search(r"(?<![-–/.,:$€£({] )(?<!{)(?<= )([2-9]|1[0-9]|20)(?= [a-z]{4,})(?<!(?:ge|xt|st|nd) )", text)
    if match and not re.search(rf"(?:{_MONTHS}|[A-Z]\w*|±|=|<|>) $", text[: match.start()]):
        return text[: match.start()] + NUMBER_WORDS[int(match[1]) - 1] + text[match.end() :]
    return None


def date_format(text: str, rng: random.Random) -> str | None:
    """July 20, 2012 as 20 July 2012 or 2012-07-20."""
    match = re.search(rf"\b({_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)?\s?, (\d{{4}})\b\s?,?(?= ?\.$| ?\)|;| [a-z])", text)
    if match:
        month, day, year = match[1], match[2], match[3]
    else:
        match = re.search(rf"\b(\d{{1,2}}) ({_MONTHS}) (\d{{4}})\b", text)
        if not match:
            return None
        day, month, year = match[1], match[2], match[3]
    ways = [f"{day} {month} {year}", f"{month} {day}, {year}", f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02}"]
    new = rng.choice([way for way in ways if way != match.group().rstrip(" ,")])
    return text[: match.start()] + new + text[match.end() :]


def unit_form(text: str, rng: random.Random) -> str | None:  # noqa: ARG001 -- one signature for all
    """Units spelled out, or abbreviated."""
    match = re.search(r"(?<=\d )(?:" + "|".join(map(re.escape, UNIT_FORMS)) + r")(?![\w/²])", text)
    return text[: match.start()] + UNIT_FORMS[match.group()] + text[match.end() :] if match else None


_SYNONYM = re.compile(
    r"(?<![\w-])(?:" + "|".join(sorted(map(re.escape, SYNONYMS), key=len, reverse=True)) + r")(?![\w-])"
)


def synonym(text: str, rng: random.Random) -> str | None:
    """One or two words for others that mean the same."""
    found = list(_SYNONYM.finditer(text))
    if not found:
        return None
    chosen = rng.sample(found, min(len(found), rng.choice((1, 1, 2, 3))))
    for match in sorted(chosen, key=lambda one: -one.start()):
        text = text[: match.start()] + rng.choice(SYNONYMS[match.group()]) + text[match.end() :]
    return text


def conjunct(text: str, rng: random.Random) -> str | None:
    """Leave out one member of a list, or turn two names joined by `and` round."""
    if re.search(r"\b(?:not|no|never|only|all|both|between|three|four|five|total|respectively|or)\b|n't", text):
        return None
    word = r"[A-Za-z][\w'’.-]*(?: [A-Za-z][\w'’.-]*)?"
    match = re.search(
        rf"(?<=\w )({word}) ?, ({word})( ?,?) and ({word})(?= ?\.$| ?,| (?:is|are|was|were|in|on|at)\b)", text
    )
    if match:
        items = [match[1], match[2], match[4]]
        items.pop(rng.randrange(1, 3))
        return f"{text[: match.start()]}{items[0]} and {items[1]}{text[match.end() :]}"
    name = r"(?:[A-Z][\w'’-]+ ?){1,3}"
    match = re.search(rf"(?<=[a-z] )({name}) and ({name})(?= ?\.$| (?:is|are|was|were|have|had|signed|met)\b)", text)
    if match and not text[: match.start()].rstrip().endswith((",", "of")):
        space = " " if match[2].endswith(" ") else ""
        return f"{text[: match.start()]}{match[2].strip()} and {match[1].strip()}{space}{text[match.end() :]}"
    return None


def weaker(text: str, rng: random.Random) -> str | None:
    """State less surely what the source states."""
    tables = {
        " will ": " may ", " shows that ": " suggests that ", " showed that ": " suggested that ",
        " demonstrates that ": " indicates that ", " always ": " often ", " all of the ": " many of the ",
        " proves that ": " suggests that ", " significantly ": " ", " is caused by ": " is linked to ",
        " demonstrated that ": " indicated that ", " confirmed that ": " indicated that ",
    }  # fmt: skip
    if re.search(r"\bnot\b|n't", text):
        return None
    found = [key for key in tables if key in text]
    if not found:
        return None
    key = rng.choice(found)
    return text.replace(key, tables[key], 1)


_LARGE = re.compile(r"(?<![\w.,$€£/–-])([$€£]?)(\d{1,3}(?:,\d{3})+|\d+\.\d+)(?=( ?%| percent| [a-z]{3,}))(?![\d,.])")
_BOUND_BEFORE = re.compile(
    r"(?:than|least|most|over|under|about|around|approximately|nearly|almost|roughly|to|and|the|a|an|"
    r"first|another|additional|exceed|exceeded|exceeds|exceeding|reached|[±=<>]|between)\s?$"
)


def rounded(text: str, rng: random.Random) -> str | None:
    """A number rounded and said to be, or a bound that it keeps."""
    found = [m for m in _LARGE.finditer(text) if not _BOUND_BEFORE.search(text[: m.start()])]
    if not found or re.search(r"±|\bp ?[<=>]", text):
        return None
    match = rng.choice(found)
    value = float(match[2].replace(",", ""))
    if value < 5:
        return None
    size = 10 ** (len(str(int(value))) - 2) if value >= 100 else 1
    way = rng.choice(("about", "about", "around", "approximately", "more than", "over", "less than", "nearly"))
    count = value / size
    near = round(count)
    if way in ("more than", "over"):
        near = int(count) - (count == int(count))
    elif way in ("less than", "nearly"):
        near = int(count) + 1
    elif way in ("about", "around", "approximately") and near == count:
        near = round(count / 5) * 5 if count >= 50 else near
        if near == count:
            return None
    new = near * size
    if new <= 0:
        return None
    written = f"{new / 1_000_000:g} million" if new >= 1_000_000 else f"{new:,.0f}"
    return f"{text[: match.start()]}{way} {match[1]}{written}{text[match.end() :]}"


def named(sentence: str, before: str) -> tuple[str, str] | None:
    """The sentence with its first pronoun replaced by the one name of the sentence before; and the name."""
    match = re.match(r"(He|She|His|Her) (?=[a-z])", sentence)
    if match is None:
        return None
    found = names(before)
    if len(found) != 1 or found[0].start > 0 or len(found[0].text.split()) not in (1, 2, 3):
        return None
    if " " not in found[0].text and found[0].text not in PEOPLE[0]:
        return None
    if re.match(r"(?: ,|,)? (?:and|or|of|'s)\b|'s", before[found[0].end :]):
        return None
    words = tag(before)
    if not any(word.tag in ("VBD", "VBZ") for word in words):
        return None
    who = found[0].text
    owner = match[1] == "His" or (match[1] == "Her" and tag(sentence)[0].tag == "PRP$")
    if match[1] == "Her" and not owner:
        return None
    return f"{who}{'’s' if owner else ''} {sentence[match.end() :]}", who


REWRITES: dict[str, Rewrite] = {
    "parenthesis": parenthesis, "aside": aside, "tail": tail, "connective": connective, "adverb": adverb,
    "contraction": contraction, "typography": typography, "fronted": fronted, "digits": digits,
    "date_format": date_format, "unit_form": unit_form, "synonym": synonym, "conjunct": conjunct,
}  # fmt: skip


def rewritten(text: str, rng: random.Random) -> str:
    """Apply one to three rewrites that fit, and undo odd spacing more often than not."""
    ways = list(REWRITES)
    rng.shuffle(ways)
    left = rng.choice((1, 1, 2, 3))
    for way in ways:
        changed = REWRITES[way](text, rng)
        if changed and changed != text and len(changed) >= 25:
            text, left = changed, left - 1
            if not left:
                break
    return detokenized(text) if rng.random() < 0.7 else text
