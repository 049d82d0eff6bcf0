"""Word lists of the verifier: which single words turn a statement around, weaken it, or count.

Every word here is a `Token.norm`. They are inputs of the fitted model, so changing one means training again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from everyclaim.text.tokens import word_set

NEGATIONS = word_set(
    """
    no not never none neither nor nobody nothing nowhere without cannot can't don't doesn't didn't isn't aren't
    wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't mustn't needn't ain't n't
    """
)
_NO_APOSTROPHE = {word.replace("'", ""): word for word in NEGATIONS if word.endswith("n't") and word != "n't"}
_LIMITS = word_set("later more less fewer greater longer earlier only undue further delay")
# "Avoid bleach", "refrain from smoking" and "steer clear of it" forbid as "never" does.
_ABSTAINING = word_set("avoid refrain refrains refrained refraining abstain abstains abstained abstaining skip")
_AWAY = {("steer", "clear"), ("stay", "clear"), ("keep", "clear"), ("stay", "away"), ("keep", "away"), ("kept", "away")}
_HELPING = word_set("to help helps helped helping can could may might let lets")  # "to avoid stains", "can skip it"
_ADVISED = word_set(
    """
    advised recommended best better important told asked urged need needs needed have has had ought required try tries
    careful sure want wants advises recommends advisable wise essential
    """
)
_BEFORE = 3  # words before "avoid" that may say what for: "helps you to avoid it"


def negating(norms: Sequence[str], low: int = 0, high: int | None = None) -> list[tuple[str, int]]:
    """List the words from `low` to `high` that negate a statement, and where.

    "Avoid" and its like do where they forbid. "No later than", "not only", "no. 5" and "to avoid stains" do not.
    """
    return [
        (norm, place)
        for place, norm in enumerate(norms[low:high], low)
        if (
            norm in NEGATIONS
            and not (place + 1 < len(norms) and (norms[place + 1] in _LIMITS or norms[place + 1][:1].isdigit()))
        )
        or abstains(norms, place)
    ]


def abstains(norms: Sequence[str], place: int) -> bool:
    """Say whether a word forbids what follows, as "avoid" does; not where it says what something is good for."""
    norm = norms[place]
    if norm not in _ABSTAINING:
        return tuple(norms[place : place + 2]) in _AWAY
    if norm not in ("avoid", "skip"):
        return True
    before = norms[max(0, place - _BEFORE) : place]
    return _HELPING.isdisjoint(before) or not _ADVISED.isdisjoint(before)


LEXICAL_NEGATIONS = word_set(
    """
    fail fails failed failing lack lacks lacked lacking refuse refuses refused deny denies denied reject rejects
    rejected avoid avoids avoided avoiding refrain refrains refrained refraining abstain abstains abstained skip
    skips skipped omit omits omitted forbid forbids forbidden prohibit prohibits prohibited banned unavailable
    prevent prevents prevented stop stops stopped exclude excludes excluded except false untrue unable unlikely
    impossible absent absence hardly rarely seldom barely
    """
)
HEDGES = word_set(
    """
    may might could can possibly perhaps probably likely suggest suggests suggested suggesting appear appears
    appeared seem seems seemed reportedly allegedly apparently potentially presumably believed thought estimated
    expected roughly approximately about around nearly almost sometimes often usually generally typically
    indicate indicates indicated claims claimed should would if unless whether
    """
)
QUANTIFIERS = word_set(
    """
    all every each always any entire entirely whole only solely exclusively most many some several few both half
    majority minority none never sometimes often mostly mainly partly largely
    """
)
COMPARATIVES = word_set(
    """
    more less most least greater fewer higher lower larger smaller bigger longer shorter older younger earlier
    later better worse best worst first last largest smallest biggest highest lowest longest shortest oldest
    youngest above below over under before after than increase increased increases decrease decreased decreases
    rise rose risen fall fell fallen up down
    """
)
SPEECH = word_set(
    """
    said says say told tells according stated states claimed claims argued argues reported reports announced
    announces wrote writes added explained suggested believes believed thinks thought noted warned
    """
)
PRONOUNS = word_set(
    """
    he she it they his her its their him them this that these those
    """
)
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SPELLED = {
    **{word: str(value) for value, word in enumerate(_UNITS.split())},
    **{word: str(value * 10) for value, word in enumerate(_TENS.split(), start=1)},
    **{word: str(value) for value, word in enumerate(_ORDINALS.split(), start=1)},
    "thousand": "1000",
    "once": "1",
    "twice": "2",
}
_NUMBER = re.compile(r"(\d[\d,.]*)(?:st|nd|rd|th|s|([a-z]{1,3}))?")


def number_value(norm: str) -> str | None:
    """Give the plain decimal form of a number word (`1,000`, `20th`, `three`), or None when it is not one.

    A unit or scale that is written onto it stays: `1.2m`.
    """
    if norm in _SPELLED:
        return _SPELLED[norm]
    if not norm[0].isdigit():
        return None
    match = _NUMBER.fullmatch(norm)
    if match is None:
        return None
    digits = match.group(1).rstrip(".,")
    if "," in digits and "." not in digits and len(digits.rsplit(",", 1)[1]) != 3:
        digits = digits.replace(",", ".")  # a decimal comma
    digits = digits.replace(",", "")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    return digits + (match.group(2) or "")


_MONTHS = {
    "jan": "january",
    "feb": "february",
    "mar": "march",
    "apr": "april",
    "jun": "june",
    "jul": "july",
    "aug": "august",
    "sep": "september",
    "sept": "september",
    "oct": "october",
    "nov": "november",
    "dec": "december",
}


def in_full(norms: list[str]) -> list[str]:
    """Write short names of months that stand beside a number out, so that "Jan 15" is the words "January 15".

    "dont" and its like get their apostrophe back.
    """
    found = [_NO_APOSTROPHE.get(norm, norm) for norm in norms]
    for place, norm in enumerate(norms):
        if norm in _MONTHS:
            beside = norms[max(0, place - 1) : place + 2]
            found[place] = _MONTHS[norm] if any(near[:1].isdigit() for near in beside) else norm
    return found
