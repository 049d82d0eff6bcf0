"""What a sentence compares: "The Graukar is ready sooner than the Bergfried", "There is less pectin in A than in B".

Reads two things, the word that compares them, and what is compared, in English. Where it is not sure which the two
things are, it reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from everyclaim.text import gradables
from everyclaim.text.gradables import Grade, Grades
from everyclaim.text.tagger import FINITE, NOUNS, Word, tag
from everyclaim.text.tokens import STOPWORDS, stem, word_set

_COMPARES = re.compile(
    r"\bthan\b|\bas \w+(?: \w+){0,3} as\b|\b(?:compared|relative) (?:with|to)\b|\b(?:the|its|their) (?:\w+ )?"
    r"(?:\w+est|most|least|farthest|furthest)\b",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_LONGEST = 600  # characters of a sentence that is read
_STOPS = word_set(", ; : ( ) . — – while whereas but although though because when if since so")
_PREPOSITIONS = word_set("in at on for from by of with during among to under inside over per")
_PRONOUNS = word_set("it they he she this that these those its their his her one ones others other we i you")
_VAGUE = word_set("average usual expected ever necessary normal planned others other anything anyone rest most")
_WITH = word_set("at with by")
_PAST = word_set("before previously earlier")
_UNSURE = word_set("may might could would should can if unless whether perhaps possibly probably likely almost nearly")
_DENIES = word_set("not n't no never hardly neither nor")
_TIMES = {"half": 0.5, "twice": 2.0, "thrice": 3.0}
_NUMBERS = {"two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "ten": 10.0}
_SAYS_HOW = word_set("compared relative twice half thrice times much far slightly even considerably significantly only")
_CURRENCIES = frozenset("$€£¥")
_GENERAL = frozenset(map(stem, word_set("time amount number level value total")))
_NO_GRADES = word_set(
    "rather other another either neither whether former latter upper inner outer ever never over under"
)
_WHOLE = word_set("kind type one thing lot item row option all any")


class Thing(NamedTuple):
    """One of the things compared: the stems that tell it from the other, all of its stems, and its words."""

    stems: frozenset[str]
    whole: frozenset[str]
    said: str


class Likened(NamedTuple):
    """A comparison: `first` is more (`sign` 1), less (-1) or as much (0) on one of some scales as `second`.

    `second` is None for "the most of all", and has no stems for "than before". `of` are the stems of what else is said,
    `noun` those of what there is more of, `names` of other names and years. `factor` is what "twice as" says, `apart`
    the words that say how far the two lie apart: "40 km".
    """

    first: Thing
    second: Thing | None
    grades: Grades
    sign: int
    of: frozenset[str]
    noun: frozenset[str]
    names: frozenset[str]
    denied: bool
    factor: float | None
    apart: str
    is_bare: bool  # of a superlative: nothing narrows what it is the most of
    at: tuple[int, int]  # where the comparing word stands

    @property
    def is_past(self) -> bool:
        """Say whether a thing is compared with itself as it was."""
        return self.second is not None and not self.second.stems


class _Pivot(NamedTuple):
    """Where a comparison is said: its word, the first word behind it, and where the second thing starts."""

    at: int
    after: int
    second: int
    grades: Grades
    sign: int  # what the scale's own sign is multiplied with
    factor: float | None = None


def likened(text: str) -> Likened | None:
    """Read what a sentence compares; None where it compares nothing, or it is not sure what."""
    return _likened(text) if len(text) <= _LONGEST and _COMPARES.search(text) else None


@lru_cache(maxsize=4096)
def _likened(text: str) -> Likened | None:
    words = tag(text)
    if words and words[-1].low in ".!":
        words = words[:-1]
    if any((word.low in _UNSURE and word.text != "May") or word.low == "?" for word in words):
        return None
    words, moved = _fronted(words)
    pivot = _than(words) or _as_much(words) or _beside(words)
    if pivot is not None:
        return _pair(text, words, pivot)
    return _most(text, words) if not moved else None


def _fronted(words: list[Word]) -> tuple[list[Word], bool]:
    """Put "Compared with the B," behind what it stands before."""
    if len(words) > 3 and words[0].low in ("compared", "relative") and words[1].low in ("with", "to"):
        comma = next((at for at, word in enumerate(words) if word.low == ","), 0)
        if comma:
            return [*words[comma + 1 :], *words[:comma]], True
    return words, False


def _graded(words: Sequence[Word], at: int) -> tuple[Grades, int, int] | None:
    """Give the scales of the comparative at a place, the sign it gives them, and the first place behind it."""
    low = words[at].low
    if low in ("more", "less") and at + 1 < len(words):
        for ahead in range(at + 1, min(at + 3, len(words))):
            if (found := gradables.plain(words[ahead].low)) and words[ahead].tag[:2] in ("JJ", "RB"):
                return found, 1 if low == "more" else -1, ahead + 1
        if words[at + 1].tag in ("JJ", "RB") and words[at + 2 : at + 3] and words[at + 2].low == "than":
            return gradables.unlisted(words[at + 1].low), 1 if low == "more" else -1, at + 2
    found = gradables.more(low)
    if not found and _may_grade(words, at):
        found = gradables.unlisted(gradables.root_of_more(low))
    return (found, 1, at + 1) if found else None


def _may_grade(words: Sequence[Word], at: int) -> bool:
    """Say whether a word is a comparative in -er; not "butter", "counter"."""
    word, before, behind = words[at], words[at - 1].tag if at else "", words[at + 1].tag if at + 1 < len(words) else ""
    if word.tag not in ("JJR", "RBR") or not word.low.endswith("er") or word.low in _NO_GRADES or before == "IN":
        return False
    return before not in ("DT", "PRP$") or behind in NOUNS


def _than(words: Sequence[Word]) -> _Pivot | None:
    """Find "cheaper … than …"."""
    for than in (at for at, word in enumerate(words) if word.low == "than"):
        for at in range(than - 1, -1, -1):
            graded = _graded(words, at)
            if at and words[at - 1].low in ("more", "less") and graded is not None and words[at - 1].tag != "NN":
                graded = _graded(words, at - 1) or graded
            if graded is None:
                continue
            if words[than + 1 : than + 2] and (words[than + 1].tag == "CD" or words[than + 1].low in _TIMES):
                break  # "more than 30", "more than twice as long as"
            return _Pivot(at, graded[2], than + 1, graded[0], graded[1])
    return None


def _as_much(words: Sequence[Word]) -> _Pivot | None:
    """Find "as heavy as", "twice as long as"."""
    for at in range(1, len(words) - 2):
        if words[at - 1].low != "as" or not (found := gradables.plain(words[at].low)):
            continue
        behind = next((n for n in range(at + 1, min(at + 5, len(words))) if words[n].low == "as"), None)
        if behind is None:
            continue
        before = words[at - 2].low if at > 1 else ""
        factor = _TIMES.get(before)
        if before == "times" and at > 2:
            factor = _number(words[at - 3].low)
            if factor is None:
                return None
        return _Pivot(at, at + 1, behind + 1, found, 0, factor)
    return None


def _number(low: str) -> float | None:
    if low in _NUMBERS:
        return _NUMBERS[low]
    try:
        return float(low)
    except ValueError:
        return None


def _beside(words: Sequence[Word]) -> _Pivot | None:
    """Find "is cheaper compared with …"."""
    for behind in range(1, len(words) - 2):
        if words[behind].low in ("compared", "relative") and words[behind + 1].low in ("with", "to"):
            for at in range(behind - 1, -1, -1):
                if (graded := _graded(words, at)) is not None:
                    return _Pivot(at, graded[2], behind + 2, graded[0], graded[1])
    return None


def _pair(text: str, words: Sequence[Word], pivot: _Pivot) -> Likened | None:
    """Read the two things that are compared."""
    end = next((n for n in range(pivot.second, len(words)) if _ends(words, n)), len(words))
    second = _stripped(words[pivot.second : end])
    if not second or any(word.low in _VAGUE for word in second):
        return None
    denied = any(word.low in _DENIES for word in words[: pivot.second])
    if len(second) == 1 and second[0].low in _PAST:
        first, second = _subject(words, pivot.at), []
        first = first if first and first[0].low != "there" else list(words[pivot.after : pivot.second - 1])
    else:
        first = _first(words, pivot, second)
        second = _headed_alike(_bare(second), _subject(words, pivot.at))
    if len(second) > 1 and second[-1].low in ("one", "ones"):
        second = second[:-1]
    if not first or any(word.low in _PRONOUNS for word in (*first, *second)):
        return None
    mine, theirs = _stems(first), _stems(second)
    if mine <= theirs:
        first = _subject(words, pivot.at)
        mine = _stems(first)
    things = _telling(first, theirs), _telling(second, mine)
    if not things[0] or (second and not things[1]):
        return None
    start = pivot.at if pivot.factor is not None else _apart(words, pivot.at, things[0])
    own = {words[at].low for at in range(start, pivot.after)}
    own |= {words[pivot.at - 1].low} & {"more", "less"} if pivot.at else set()
    rest = [word for word in words[_clause_start(words, pivot.at) : end] if word.low not in own]
    behind = words[pivot.after : pivot.second - 1]
    noun = behind[: next((at for at, word in enumerate(behind) if word.tag not in (*NOUNS, "JJ")), len(behind))]
    of = _stems(rest) - mine - theirs
    sign = pivot.sign
    return Likened(
        Thing(things[0], frozenset(mine), _said(text, first)),
        Thing(things[1], frozenset(theirs), _said(text, second)),
        tuple(Grade(grade.scale, grade.sign * (sign or 1)) for grade in pivot.grades),
        1 if sign else 0,
        frozenset(of),
        frozenset(_stems(noun)) - mine - theirs - _GENERAL,
        frozenset(_names(rest) - mine - theirs),
        denied,
        pivot.factor,
        text[words[start].start : words[pivot.at].start].rstrip(),
        is_bare=True,
        at=(words[start].start, words[pivot.after - 1].end),
    )


def _apart(words: Sequence[Word], before: int, first: frozenset[str]) -> int:
    """Find where it is said by how much, before a comparative; a number of the first thing's name is none of that."""
    near = range(max(0, before - 5), before)
    said = [at for at in near if words[at].tag == "CD" or words[at].low in ("times", "twice", "%")]
    numbers = {stem(words[at].low) for at in said if words[at].tag == "CD"}
    if not said or (numbers and numbers <= first):
        return before
    return said[0] - 1 if said[0] and words[said[0] - 1].text in _CURRENCIES else said[0]


def _clause_start(words: Sequence[Word], at: int) -> int:
    """Find where the clause of a word starts: behind a comma, or an "and" that a verb follows."""
    for place in range(at - 1, 0, -1):
        joins = words[place].low in ("and", "but") and words[place + 1].tag in FINITE
        if joins or (words[place].low in (",", ";", ":") and any(one.tag in FINITE for one in words[place:at])):
            return place
    return 0


def _ends(words: Sequence[Word], at: int) -> bool:
    """Say whether what is compared ends before a word."""
    word = words[at]
    return word.low in _STOPS or word.tag in FINITE or word.tag in ("WDT", "WP")


def _stripped(words: Sequence[Word]) -> list[Word]:
    """Take off "that", "those" and articles before a thing."""
    found = list(words)
    while found and (found[0].low in ("that", "those", "the", "a", "an", "its", "their")):
        found = found[1:]
    return found


def _bare(words: Sequence[Word]) -> list[Word]:
    """Take the preposition and the possessive off a thing."""
    found = _stripped(words[1:]) if words and words[0].low in _PREPOSITIONS else list(words)
    possessor = next((at for at, word in enumerate(found) if word.tag == "POS"), None)
    return found[:possessor] if possessor else found


def _first(words: Sequence[Word], pivot: _Pivot, second: Sequence[Word]) -> list[Word]:
    """Find the thing that is compared with a second one: of the same preposition, else what the sentence is about."""
    subject = _subject(words, pivot.at)
    before = words[: pivot.second - 1]
    if second[0].low in _PREPOSITIONS:
        found = list(_phrases(before, second[0].low))
        if found:
            return found[-1]
        return _possessor(subject) if second[0].low == "of" else []
    if any(word.tag == "POS" for word in second):
        return _possessor(subject) or next(_phrases(subject, "of"), [])
    if subject and subject[0].low != "there":
        return next(_phrases(subject, "of"), []) or _headed(subject)
    behind = [phrase for each in _PREPOSITIONS for phrase in _phrases(words[pivot.at : pivot.second - 1], each)]
    return behind[0] if len(behind) == 1 else []


def _possessor(subject: Sequence[Word]) -> list[Word]:
    at = next((at for at, word in enumerate(subject) if word.tag == "POS"), 0)
    return list(subject[:at])


def _headed(subject: Sequence[Word]) -> list[Word]:
    """Cut a subject before what only describes it: "the Graukar from Tyrol"."""
    end = next((at for at, word in enumerate(subject) if at and word.tag in ("IN", "VBN", "VBG", "WDT", ",")), None)
    return list(subject[:end])


def _headed_alike(second: Sequence[Word], subject: Sequence[Word]) -> list[Word]:
    """Cut a second thing before what is said of both: "than the Lyra on one fill", not "than the tower of Bruck"."""
    said = {word.low for word in subject} | {"of"}
    end = next((at for at, word in enumerate(second) if at and word.tag == "IN" and word.low not in said), None)
    return list(second[:end])


def _phrases(words: Sequence[Word], preposition: str) -> Iterator[list[Word]]:
    """Yield what stands behind a preposition."""
    for at, word in enumerate(words):
        if word.low == preposition:
            found = []
            for behind in _stripped(words[at + 1 :]):
                ends = behind.tag in ("IN", "TO", "POS", "MD") or behind.tag[:2] == "VB" or behind.low in _STOPS
                if ends or gradables.more(behind.low) or behind.low in ("compared", "than", "as", "is", "was"):
                    break
                found.append(behind)
            if found:
                yield found


def _subject(words: Sequence[Word], before: int) -> list[Word]:
    """Give what a sentence is about: what stands before its verb."""
    verb = next((at for at, word in enumerate(words[:before]) if word.tag in FINITE), None)
    if verb is None:  # "Rye dough rests longer": tagged as a noun
        verb = next((at for at in range(before - 1, 0, -1) if words[at].tag not in ("RB", "IN", "DT", "JJ")), None)
    if not verb or words[0].tag in ("IN", "EX"):
        return []
    label = next((at for at, word in enumerate(words[:verb]) if word.low == ":"), -1)
    found = list(words[label + 1 : verb])
    comma = max((at for at, word in enumerate(found) if word.low == ","), default=-1)
    if comma >= 0:
        opens = found[0].tag in ("IN", "TO", "RB", "VBN", "VBG") or found[0].low in ("with", "according")
        found = found[comma + 1 :] if opens else found[: next(at for at, word in enumerate(found) if word.low == ",")]
    while found and found[-1].tag == "RB":
        found.pop()
    return _stripped(found)


def _most(text: str, words: Sequence[Word]) -> Likened | None:
    """Read "The Graukar is the cheapest of the three", "The cheapest room is the attic"."""
    for at, word in enumerate(words):
        grades, after, sign = gradables.most(word.low), at + 1, 1
        if word.low in ("most", "least") and after < len(words) and gradables.plain(words[after].low):
            sign = 1 if word.low == "most" else -1
            grades, after = gradables.plain(words[after].low), after + 1
        if not grades or not at or words[at - 1].low not in ("the", "its", "their"):
            continue
        if (
            after == at + 1
            and word.low in ("most", "least")
            and [one.low for one in words[after : after + 1]] == ["of"]
        ):
            return None
        verb = next((n for n in range(after, len(words)) if words[n].tag in FINITE), None)
        if at <= 1 and verb is not None and words[verb].low in ("is", "are", "was", "were"):
            first, between = _stripped(words[verb + 1 :]), words[after:verb]
        else:
            subject = _subject(words, at)
            first, between = next(_phrases(subject, "of"), []) or _headed(subject), words[after:]
        if not first or any(one.low in (*_PRONOUNS, "and", ",", "with", "there") for one in first):
            return None
        between = between[: next((n for n, one in enumerate(between) if one.low in _STOPS or one.low in _WITH), None)]
        noun = [one for one in between if one.tag in NOUNS]
        limits = any(one.tag in ("IN", "JJ", "NNP", "VBN", "WDT") and one.low != "of" for one in between)
        stems = _telling(first, set())
        return Likened(
            Thing(stems, frozenset(_stems(first)), _said(text, first)),
            None,
            tuple(Grade(grade.scale, grade.sign * sign) for grade in grades),
            1,
            frozenset(_stems(words) - stems - {stem(word.low)}),
            frozenset(_stems(noun)) - _WHOLE,
            frozenset(_names(words) - _stems(first)),
            any(one.low in _DENIES for one in words),
            None,
            apart="",
            is_bare=not limits and len(noun) <= 2,
            at=(word.start, words[after - 1].end),
        )
    return None


def _names(words: Sequence[Word]) -> set[str]:
    """Give the stems of names and years."""
    return _stems([one for one in words if one.tag in ("NNP", "NNPS") or (one.tag == "CD" and YEAR.fullmatch(one.low))])


def _stems(words: Sequence[Word]) -> set[str]:
    """Give the stems of words that tell something."""
    return {
        stem(word.low)
        for word in words
        if word.low not in STOPWORDS and word.low[0].isalnum() and word.low not in _SAYS_HOW
    }


def _telling(words: Sequence[Word], others: set[str]) -> frozenset[str]:
    """Give the stems a thing is known by: of names and numbers those that `others` have not, else all there are."""
    named = [word for word in words if word.tag in ("NNP", "NNPS", "CD")]
    if len(named) == 1 and not named[0].start and len(words) > 1:
        named = []  # "Wheat dough": it only opens the sentence
    return frozenset((_stems(named) - others) or (_stems(words) if _stems(words) - others else ()))


def _said(text: str, words: Sequence[Word]) -> str:
    return text[words[0].start : words[-1].end] if words else ""
