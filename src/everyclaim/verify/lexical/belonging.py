"""Which values of sentences belong to which of the things that a claim compares.

In prose a value belongs to the thing that its clause is about, or the label of its field. Where that is not sure, it
belongs to nothing. Rows of tables and lists of records are read by `tabled`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from everyclaim.text.agreement import Fact
from everyclaim.text.dates import Moment
from everyclaim.text.gradables import more
from everyclaim.text.quantities import Quantity
from everyclaim.text.tagger import tag
from everyclaim.text.tokens import STOPWORDS, Token, content_stems, stem, tokenize
from everyclaim.verify.lexical.checks import facts, span
from everyclaim.verify.lexical.labels import label_of

_CLAUSE = re.compile(r"[,;:()–—]|\b(?:and|but|while|whereas|against|versus|vs|than)\b", re.IGNORECASE)
_JOINT = re.compile(r",? and |, | ")
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_GOES_ON = frozenset({"VBZ", "VBD", "VBP", "VBN", "VBG", "MD", "IN", "CD", "RB"})
_IT = frozenset({"it", "its", "they", "their", "he", "she"})
_APART = frozenset({"by", "another", "additional", "extra", "within", "every", "than"})
_AFTER = frozenset(
    {"after", "before", "ago", "later", "earlier", "off", "apart", "away", "ahead", "behind", "difference"}
)
_LONGEST = 600  # characters of a sentence
_NOT_VALUES = frozenset({"label", "ordinal", "score"})


class Held(NamedTuple):
    """A value that belongs to thing number `of`; `words` are the stems that say of what it is the value.

    `group` is the same for values that stand side by side: in one sentence, one column, under one label. `around` are
    the stems of all that stands there. ``readings[reading].text[start:end]`` is where it is said.
    """

    of: int
    fact: Fact
    said: str
    words: frozenset[str]
    around: frozenset[str]
    group: tuple[object, ...]
    reading: int
    start: int
    end: int
    is_labelled: bool = False


class _Mention(NamedTuple):
    of: int
    start: int
    end: int


class _Part(NamedTuple):
    """A clause with what it mentions and the values in it."""

    start: int
    end: int
    mentions: list[_Mention]
    values: list[Fact]


def in_prose(sentences: Sequence[tuple[int, str]], number: int, things: Sequence[frozenset[str]]) -> Iterator[Held]:
    """Yield the values that sentences of reading `number`, each with where it starts, give of some things."""
    before: int | None = None
    for start, sentence in sentences:
        if len(sentence) > _LONGEST or "|" in sentence:
            before = None
            continue
        tokens = tokenize(sentence)
        mentions = [one for of, thing in enumerate(things) for one in _mentions(of, thing, tokens)]
        leans = bool(tokens) and tokens[0].norm in _IT
        carried = before if leans and not mentions else None
        if mentions and label_of(sentence):
            yield from _in_field(sentence, start, number, mentions, things)
        elif mentions or carried is not None:
            around = content_stems(sentence)
            for of, value, words in _belonging(sentence, mentions, carried):
                low, high = span(value, whole=True)
                group, at = ("sentence", number, start), (start + low, start + high)
                yield Held(of, value, sentence[low:high], words - things[of], around, group, number, *at)
        if mentions or not leans:
            before = mentions[0].of if len({one.of for one in mentions}) == 1 and _opens(mentions[0], tokens) else None


def _in_field(
    sentence: str, start: int, number: int, mentions: Sequence[_Mention], things: Sequence[frozenset[str]]
) -> Iterator[Held]:
    """Yield the one value of a field whose label names one thing: "Graukar, ripening: 4 weeks"."""
    label = label_of(sentence)
    owners = {one.of for one in mentions}
    values = [value for value in facts(sentence) if value.start > len(label)]
    if len(owners) != 1 or len(values) != 1 or any(one.end > len(label) for one in mentions):
        return
    (of,), value = owners, values[0]
    low, high = span(value, whole=True)
    words = content_stems(label) - things[of]
    at = (start + low, start + high)
    yield Held(of, value, sentence[low:high], words, words, ("label", words), number, *at, is_labelled=True)


def _opens(mention: _Mention, tokens: Sequence[Token]) -> bool:
    """Say whether a sentence is about what it mentions first."""
    return sum(token.start < mention.start and token.norm not in STOPWORDS for token in tokens) == 0


def _mentions(of: int, thing: frozenset[str], tokens: Sequence[Token]) -> Iterator[_Mention]:
    """Yield where all stems of a thing stand together."""
    if not thing:
        return
    at = 0
    stems = [stem(token.norm) for token in tokens]
    while at < len(tokens):
        behind = at + len(thing) + 1
        if stems[at] in thing and thing <= set(stems[at:behind]):
            last = max(n for n in range(at, min(behind, len(tokens))) if stems[n] in thing)
            yield _Mention(of, tokens[at].start, tokens[last].end)
            at = last
        at += 1


def _belonging(
    sentence: str, mentions: list[_Mention], carried: int | None
) -> Iterator[tuple[int, Fact, frozenset[str]]]:
    """Yield the values of a sentence with what they belong to."""
    values = [value for value in facts(sentence) if _is_value(value, sentence, mentions)]
    if not values:
        return
    kinds = [dimension(value) for value in values]
    counted = next((kind for kind in kinds if kind.startswith("count ") and kind != "count "), "count ")
    kinds = [counted if kind == "count " else kind for kind in kinds]  # "4,100 and 9,800 inhabitants"
    joined = {
        at
        for at, (one, other) in enumerate(pairwise(values))
        if _JOINT.fullmatch(sentence[one.end : other.start]) and not _RESPECTIVELY.search(sentence)
    }
    if joined:  # "an hour and ten minutes"
        kinds = ["" if {at, at - 1} & joined else kind for at, kind in enumerate(kinds)]
    for each in dict.fromkeys(filter(None, kinds)):
        alike = [value for value, kind in zip(values, kinds, strict=True) if kind == each]
        paired = _respectively(sentence, mentions, alike) or list(_by_clause(sentence, mentions, alike, carried))
        owners = [of for of, _, _ in paired]
        yield from (one for one in paired if owners.count(one[0]) == 1)


def _is_value(value: Fact, sentence: str, mentions: Sequence[_Mention]) -> bool:
    """Say whether something is a value of something, and not part of a name, nor a difference between two."""
    if any(one.start < value.end and value.start < one.end for one in mentions):
        return False
    if isinstance(value, Quantity) and value.dimension in _NOT_VALUES:
        return False
    low, high = span(value, whole=True)
    before, behind = tokenize(sentence[max(0, low - 30) : low]), tokenize(sentence[high : high + 30])
    if behind and (behind[0].norm in _AFTER or more(behind[0].norm)):
        return False
    return not (before and before[-1].norm in _APART and isinstance(value, Quantity))


def dimension(value: Fact) -> str:
    """Name what kind of value it is, so that only those of one kind are set beside each other."""
    if isinstance(value, Moment):
        return "year" if value.year is not None else "hour" if value.hour is not None else "month"
    return f"{value.dimension} {value.noun}" if value.dimension == "count" or value.noun == "age" else value.dimension


def _respectively(
    sentence: str, mentions: Sequence[_Mention], values: Sequence[Fact]
) -> list[tuple[int, Fact, frozenset[str]]]:
    """Pair things and values that stand in one order each."""
    if not _RESPECTIVELY.search(sentence) or len(mentions) != 2 or len(values) != 2:
        return []
    if mentions[0].of == mentions[1].of or max(one.end for one in mentions) > values[0].start:
        return []
    words = content_stems(sentence)
    ordered = sorted(mentions, key=lambda one: one.start)
    return [(one.of, value, words) for one, value in zip(ordered, values, strict=True)]


def _by_clause(
    sentence: str, mentions: Sequence[_Mention], values: Sequence[Fact], carried: int | None
) -> Iterator[tuple[int, Fact, frozenset[str]]]:
    """Give a value to the thing that its clause is about, or the clause before that it goes on with."""
    holder = carried
    for part in _parts(sentence, mentions, values):
        text = sentence[part.start : part.end]
        words = content_stems(text)
        owners = {one.of for one in part.mentions}
        if not owners and holder is not None and not _goes_on(sentence, part):
            holder = None
        if len(owners) == 2 and len(part.values) == 2:
            yield from ((of, value, words) for of, value in _alternating(part))
        elif len(owners) == 1 and len(part.values) == 1:
            if _is_of(part.mentions[0], part.values[0], sentence, part):
                yield part.mentions[0].of, part.values[0], words
        elif not owners and len(part.values) == 1 and holder is not None:
            yield holder, part.values[0], words
        if owners:
            first = min(part.mentions, key=lambda one: one.start)
            leads = {token.norm for token in tokenize(sentence[part.start : first.start])}
            opens = leads <= {"the", "a", "an"}
            holder = first.of if len(owners) == 1 and opens else None


def _parts(sentence: str, mentions: Sequence[_Mention], values: Sequence[Fact]) -> list[_Part]:
    """Cut a sentence into clauses; nothing is cut within a value or a name."""
    whole = [span(value, whole=True) for value in facts(sentence)] + [(one.start, one.end) for one in mentions]
    cuts = [
        match.span()
        for match in _CLAUSE.finditer(sentence)
        if not any(low < match.end() and match.start() < high for low, high in whole)
    ]
    edges = [(0, 0), *cuts, (len(sentence), len(sentence))]
    found = []
    for (_, low), (high, _) in pairwise(edges):
        found.append(
            _Part(
                low,
                high,
                [one for one in mentions if low <= one.start < high],
                [value for value in values if low <= value.start < high],
            )
        )
    return [part for part in found if sentence[part.start : part.end].strip()]


def _goes_on(sentence: str, part: _Part) -> bool:
    """Say whether a clause says more of what the clause before is about: "and costs 5 euros", "founded in 1900"."""
    words = tag(sentence[part.start : part.end])
    return bool(words) and (words[0].tag in _GOES_ON or words[0].low in _IT)


def _alternating(part: _Part) -> Iterator[tuple[int, Fact]]:
    """Pair two things and two values of a clause that stand in turn."""
    if len(part.mentions) != 2:
        return
    order = sorted([*((one.start, one.of) for one in part.mentions), *((value.start, value) for value in part.values)])
    kinds = [isinstance(one, int) for _, one in order]
    if kinds in ([True, False, True, False], [False, True, False, True]):
        for (_, one), (_, other) in (order[:2], order[2:]):
            of, value = (one, other) if isinstance(one, int) else (other, one)
            if isinstance(of, int) and not isinstance(value, int):
                yield of, value


def _is_of(mention: _Mention, value: Fact, sentence: str, part: _Part) -> bool:
    """Say whether a clause's only value is one of the only thing it mentions, and of no other name's."""
    start, end = (mention.end, value.start) if mention.start < value.start else (value.end, mention.start)
    words = tag(sentence[part.start : part.end], part.start)
    names = [
        at
        for at, word in enumerate(words)
        if word.tag in ("NNP", "NNPS") and not mention.start <= word.start < mention.end
    ]
    own = {at for at, word in enumerate(words) if mention.start <= word.start < mention.end}
    for at in names:
        if all(each in own or each in names for each in range(min(at, *own), max(at, *own))):
            continue  # of one name: "Station Ebnat"
        between = start <= words[at].start < end
        leads = words[at].start < min(mention.start, value.start) and words[at].start > 0
        behind = at and words[at - 1].tag in ("IN", "TO", "NNP", "DT")
        if (between and not behind) or (leads and not behind):
            return False
    if mention.start > value.start:
        joined = [word.low for word in words if start <= word.start < end]
        return not joined or joined[-1] in ("the", "a", "for", "in", "at", "on", "of", "to", "is") or len(joined) <= 1
    return True
