"""Rule 9 as a check: a claim may hold no number, date or name that its sentence does not hold, and commits to the same.

A pronoun must be replaced by what it stands for, so a name may come from elsewhere in the answer or from
the question, with a number that is part of it ("Boeing 747"). A claim must also be made of the answer's
own words: one in another language, or about something else, is a stranger as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everyclaim.decompose.commitments import Drift, drift
from everyclaim.decompose.contexts import BEHIND
from everyclaim.decompose.function_words import COUNTS
from everyclaim.text.agreement import Fact, covers, same
from everyclaim.text.antonyms import antonyms
from everyclaim.text.dates import moments
from everyclaim.text.names import covered, names
from everyclaim.text.quantities import Quantity, quantities
from everyclaim.text.tokens import STOPWORDS, Token, stem, tokenize

BEFORE = 1500  # characters of an answer before a sentence that its claims may be completed from
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|hers?|this|that|these|those|such|both|neither|either|former|"
    r"latter|there|then|here|one|ones|same|all of|none|each|latter|later|earlier|afterwards|"
    r"(?:before|after|previous|following)(?=\s*[,.;])|er|sie|es|ihre?|diese[rsnm]?|dort|"
    r"ils?|elles?|leurs?|cel(?:a|ui|le|les)|cet(?:te)?|ces|ellos|ellas|est[aeo]s?|es[aeo]s?|essi|esse|quest[aeio])\b|^the\b",
    re.IGNORECASE,
)
_POINTER = re.compile(r"\[\d{1,3}\]|\b(?:passage|source|document) \d{1,3}\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)[.,'](?=\d{3}(?!\d))")
_NEAR = 60  # characters on either side of a name that say whether it is one
_GRAM = 4  # characters, for scripts with an alphabet
_SIBLINGS = 64  # claims of one sentence that are looked through for what a claim of it does not say
_OWN_WORDS = 0.5  # share of a claim's wording that must come from the answer or the question
_INFLECTED = 3  # letters by which two forms of one name may differ
_CLOSING = ".!?;,"
_STEM = 4  # letters they must share


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a claim may take its names from: the answer and the question, read once."""

    source: str
    text: str  # the same in small letters, with single spaces
    tokens: tuple[Token, ...]
    words: frozenset[str]
    stems: frozenset[str]
    grams: frozenset[str]

    @classmethod
    def of(cls, *texts: str) -> Surroundings:
        """Read the texts."""
        text = "\n".join(texts)
        tokens = tuple(tokenize(text))
        words = frozenset(token.norm for token in tokens)
        small = " ".join(text.casefold().split())
        return cls(text, small, tokens, words, frozenset(map(stem, words)), _grams(tokens))


class Faults(NamedTuple):
    """Why a claim is not its sentence's: words that it cannot have from there, and words that it must not leave out."""

    foreign: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def faults(claim: str, sentence: str, around: Surroundings, before: str = "", siblings: Sequence[str] = ()) -> Faults:
    """Compare a claim with its sentence; every claim of every decomposer passes here. Both empty: it is faithful.

    `sentence` is all that the claim may be made of: a list item stands behind its lead-in. A sentence that refers back
    ("they", "this") may be completed from what stands `before` it in the answer, as its author meant it, but nothing of
    its own may give way to that. `siblings`: the other claims of the sentence; what one of them says, the rest need
    not say again.
    """
    found = _faults(claim, sentence, around, tuple(siblings[:_SIBLINGS]))
    if found.foreign in {(), (claim,)} or not before or _gives_way(claim, sentence):
        return found
    if not _REFERS_BACK.search(sentence):
        return Faults(tuple(word for word in found.foreign if not _is_part(claim, word, before)), found.lost)
    wide = f"{before} {sentence}"
    foreign = set() if is_copied(claim, wide) else set(ungrounded_terms(claim, wide, around))
    added = set(drift(claim, sentence).added)
    kept = [word for word in found.foreign if (word in added and not _quotes(claim, word, before)) or word in foreign]
    return Faults(tuple(kept), found.lost)


def _is_part(claim: str, number: str, before: str) -> bool:
    """Whether a number only says which ones are meant: "four of the 47 pumps", "the two pumps", as said before."""
    points = re.search(rf"\b(?:the|these|those)\s+{re.escape(number)}(?![\w.,]*\d)", claim, re.IGNORECASE)
    counted = number.isdigit() or number.lower() in COUNTS
    return bool(points) and counted and _quotes(claim, number, before)


def _quotes(claim: str, word: str, before: str) -> bool:
    """Whether a word stands in a claim as it stands before: "over 65", "may be red", up to the next word of content."""
    start = claim.find(word)
    rest = tokenize(claim[start + len(word) :])
    governed = next((token for token in rest if token.norm not in STOPWORDS), None)
    said = claim[start:] if governed is None else claim[start : start + len(word) + governed.end]
    phrase = re.escape(" ".join(said.casefold().split()))  # whole: "7 pumps" does not stand in "47 pumps"
    return start >= 0 and re.search(rf"(?<![\w.,]){phrase}(?!\w)", " ".join(before.casefold().split())) is not None


def _gives_way(claim: str, sentence: str) -> bool:
    """Whether a value of the sentence is missing from a claim that has another of its kind in its place."""
    mine, own = _values(claim), _values(sentence)
    missing = [value for value in own if not any(same(value, other) for other in mine)]
    added = {_kind(value) for value in mine if not any(same(value, other) for other in own)}
    told = {stem(token.norm) for token in tokenize(claim)}
    return any(_kind(value) in added and _is_spoken_of(value, sentence, told) for value in missing)


def _is_spoken_of(value: Fact, sentence: str, told: set[str]) -> bool:
    """Whether a text has a word that stands beside a value in its sentence."""
    before = [token for token in tokenize(sentence[: value.start]) if token.norm not in STOPWORDS][-1:]
    after = [token for token in tokenize(sentence[value.end :]) if token.norm not in STOPWORDS][:1]
    inside = [token for token in tokenize(sentence[value.start : value.end]) if not _has_digit(token.norm)]
    return not (before or after) or any(stem(token.norm) in told for token in (*before, *inside, *after))


def _values(text: str) -> list[Fact]:
    """Return the dates and the quantities of a text, without those that are a part of a name or point at a source."""
    dates = moments(text)
    apart = [(date.start, date.end) for date in dates] + [(name.start, name.end) for name in names(text)]
    apart += [found.span() for found in _POINTER.finditer(text)]
    plain = [q for q in quantities(text) if not any(q.start < end and start < q.end for start, end in apart)]
    return [*dates, *plain]


def _kind(value: Fact) -> str:
    return value.dimension if isinstance(value, Quantity) else "date"


def _faults(claim: str, sentence: str, around: Surroundings, siblings: tuple[str, ...]) -> Faults:
    moved = drift(claim, sentence, siblings)
    lead, _, item = sentence.partition(BEHIND)
    if item and any(moved):  # what the item says by itself, its lead-in does not take back
        alone = drift(claim, item, siblings)
        added = moved.added if alone.added else ()
        moved = Drift(added, tuple(word for word in moved.lost if word in lead or word in alone.lost))
    foreign: Sequence[str] = ()
    if not is_copied(claim, sentence):
        foreign = [claim] if _says_less(claim, sentence) else ungrounded_terms(claim, sentence, around)
    added_words = [word for word in moved.added if not _is_term(claim, sentence, word, around)]
    return Faults(tuple(dict.fromkeys([*foreign, *added_words])), moved.lost)


def _is_term(claim: str, sentence: str, word: str, around: Surroundings) -> bool:
    """Whether a comparative is a part of what something is called: "lower pole", where it is called so elsewhere."""
    if not word.endswith("er") or not word.isalpha():
        return False
    start = claim.find(word)
    noun = next(iter(tokenize(claim[start + len(word) :])), None)
    known = {stem(token.norm) for token in tokenize(sentence)}
    if noun is None or noun.norm in STOPWORDS or stem(noun.norm) in known or antonyms(word.lower()) & known:
        return False
    return f"{word} {noun.text}".casefold() in around.text


def _says_less(claim: str, sentence: str) -> bool:
    """Whether a claim ("the same", a dash) says nothing, of a sentence that says something."""
    return not _has_content(claim) and _has_content(sentence)


def _has_content(text: str) -> bool:
    return any(token.norm not in STOPWORDS for token in tokenize(text))


def is_copied(claim: str, sentence: str) -> bool:
    """Whether a claim is a stretch of its sentence, word for word from one word's beginning to another's end.

    Such a claim can hold nothing foreign. One that stops at a number may have left its unit behind, and is no copy
    then, unless a semicolon or the sentence's end is what follows.
    """
    words = claim.strip().rstrip(_CLOSING)
    place = sentence.find(words) if words else -1
    if place < 0 or (place and not sentence[place - 1].isspace()):
        return False
    rest = sentence[place + len(words) :]
    after = rest.lstrip(_CLOSING)
    if words[-1].isdigit() and after and rest[0] != ";":
        return False
    return not after or after[0].isspace()


def ungrounded_terms(claim: str, sentence: str, around: Surroundings) -> list[str]:
    """Return what a claim holds that it cannot have from its sentence, in order; empty for a faithful claim."""
    tokens, own = tokenize(claim), tokenize(sentence)
    if not _same_wording(tokens, own, around):
        return [claim]
    found = {*_numbers(claim, sentence, tokens, own, around), *_dates(claim, sentence, own)}
    found |= {(name.start, name.end) for name in names(claim) if not _is_named(name.text, own, around)}
    return list(dict.fromkeys(claim[start:end] for start, end in sorted(found)))


def _same_wording(tokens: Sequence[Token], own: Sequence[Token], around: Surroundings) -> bool:
    """Whether a claim is made of words of the answer and the question, and shares one with its sentence."""
    content = [token for token in tokens if token.norm not in STOPWORDS]
    if not content:
        return True
    grams = _grams(content)
    known = around.grams | _grams(own)
    if len(grams & known) < _OWN_WORDS * len(grams):
        return False
    return bool(grams & _grams(own)) or not any(token.norm not in STOPWORDS for token in own)


def _grams(tokens: Sequence[Token]) -> frozenset[str]:
    """Return what two texts are compared by, whatever their script: the beginnings of their words."""
    return frozenset(token.norm[:_GRAM] for token in tokens)


def _numbers(
    claim: str, sentence: str, tokens: Sequence[Token], own: Sequence[Token], around: Surroundings
) -> Iterator[tuple[int, int]]:
    digits = {_plain(token.norm) for token in own}
    missing = [token for token in tokens if _has_digit(token.norm) and _plain(token.norm) not in digits]
    here = quantities(claim)
    there = quantities(sentence) if here else []
    words = {token.norm for token in own}
    stems = {stem(word) for word in words}
    for token in missing:
        inside = [q for q in here if q.start <= token.start < q.end]
        if not _known(inside, there) and not _in_name(claim, token, around) and not _in_date(claim, sentence, token):
            yield token.start, token.end
    for quantity in here:
        parts = [token for token in tokens if quantity.start <= token.start < quantity.end]
        if any(token in missing for token in parts) or _known([quantity], there):
            continue
        if parts and _in_name(claim, parts[0], around):
            continue
        # A number word ("two") must be there as well; a unit may also stand in the lead-in or the question.
        has_digits = any(_has_digit(token.norm) for token in parts)
        loose = [t for t in parts if not _has_digit(t.norm) and t.norm not in words and stem(t.norm) not in stems]
        if loose and not (has_digits and all(_said_around(token, around) for token in loose)):
            yield quantity.start, quantity.end


def _known(inside: Sequence[Quantity], there: Sequence[Quantity]) -> bool:
    return any(same(mine, other) for mine in inside for other in there)


def _said_around(token: Token, around: Surroundings) -> bool:
    return token.norm in around.words or stem(token.norm) in around.stems


def _in_name(claim: str, token: Token, around: Surroundings) -> bool:
    """Whether a number belongs to a name ("iPhone 15") that the answer or the question holds as it stands."""
    for name in names(claim):
        if name.start < token.start < name.end and name.text.casefold() in around.text:
            return True
        if token.start == name.end + 1 and _is_called(f"{name.text} {token.text}", around.source):
            return True
    return False


def _is_called(name: str, source: str) -> bool:
    """Whether a text has a name with its number, which before a plural ("the Apollo 11 pilots") is read as a count."""
    found = (match.start() for match in re.finditer(re.escape(name), source))
    near = (source[max(0, at - _NEAR) : at + len(name) + _NEAR] for at in found)
    return any(other.text == name for text in near for other in names(text))


def _in_date(claim: str, sentence: str, token: Token) -> bool:
    inside = [moment for moment in moments(claim) if moment.start <= token.start < moment.end]
    there = moments(sentence) if inside else []
    return any(same(mine, other) or covers(other, mine) for mine in inside for other in there)


def _dates(claim: str, sentence: str, own: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Dates in words: "last March", "Tuesday"; their digits are checked with the numbers."""
    words = {token.norm for token in own}
    there = None
    for moment in moments(claim):
        parts = tokenize(claim[moment.start : moment.end])
        if any(_has_digit(token.norm) for token in parts) or all(token.norm in words for token in parts):
            continue
        there = moments(sentence) if there is None else there
        if not any(same(moment, other) or covers(other, moment) for other in there):
            yield moment.start, moment.end


def _is_named(name: str, own: Sequence[Token], around: Surroundings) -> bool:
    if covered(name, own) or covered(name, around.tokens):
        return True
    return all(
        _has_digit(word)
        or word in STOPWORDS
        or stem(word) in around.stems
        or any(_same_word(word, other) for other in around.words)
        for word in (token.norm for token in tokenize(name))
    )


def _same_word(a: str, b: str) -> bool:
    """Whether two words are forms of one: they begin alike and differ in a few letters at the end."""
    shared = min(len(a), len(b))
    if a == b:
        return True
    return shared >= _STEM and abs(len(a) - len(b)) <= _INFLECTED and a[: shared - 1] == b[: shared - 1]


def _plain(norm: str) -> str:
    return _THOUSANDS.sub("", norm)


def _has_digit(norm: str) -> bool:
    return any(character.isdigit() for character in norm)
