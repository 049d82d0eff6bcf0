"""Whether the passages bear out what a claim compares: "The Graukar is ready sooner than the Bergfried".

    The Bergfried ripens for twelve months, the Graukar for four weeks.      agrees: 4 weeks are less than 12 months

Two values of one kind that belong to the two things are set beside each other; or the passage compares the two itself,
either way round; or it says that something rose or fell. Silent where belonging is not sure, and where several answers
differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, product
from textwrap import shorten
from typing import NamedTuple

from everyclaim.text import gradables
from everyclaim.text.agreement import Fact
from everyclaim.text.dates import Moment
from everyclaim.text.gradables import Grade, Scale
from everyclaim.text.quantities import Quantity
from everyclaim.text.tokens import content_stems, stem, tokenize, word_set
from everyclaim.text.units import is_unit_word
from everyclaim.verify.lexical.alignment import Source
from everyclaim.verify.lexical.apart import is_apart
from everyclaim.verify.lexical.belonging import Held, in_prose
from everyclaim.verify.lexical.checks import facts
from everyclaim.verify.lexical.labels import names
from everyclaim.verify.lexical.likened import YEAR, Likened, likened
from everyclaim.verify.lexical.shortlist import Piece
from everyclaim.verify.lexical.tabled import columns, in_records, in_tables, listed

_NEAR = 0.1  # how far about the same reaches, and "twice as"
_FAR = 0.25  # from where on "twice as" is not so
_ROSE = frozenset(map(stem, word_set("rise rose risen increase grow grew grown climb gain surge raise improve")))
_FELL = frozenset(map(stem, word_set("fall fell fallen decrease drop decline shrink shrank reduce lower plunge cut")))
_REVERSE = word_set("not n't no never if may might could would unless whether")
_FILLERS = frozenset(
    map(stem, word_set("follow only just about around roughly some respectively already even per each"))
)
_MOST = 200  # values that are set beside each other
_QUOTED = 160  # characters of a sentence
_COUNTS = word_set("two three four five six seven eight nine ten all")
_FACTORS = word_set("twice half thrice times")
_LONGEST = 20_000  # characters of a passage that is read


class Settled(NamedTuple):
    """What the passages say of a comparison: whether they agree, in words, and where.

    ``claim[at[0]:at[1]]`` is the comparing word; `held` are the stems of the claim that the passages bear out so.
    """

    agrees: bool
    said: str
    reading: int
    start: int
    end: int
    at: tuple[int, int] = (0, 0)
    held: frozenset[str] = frozenset()


def settle(claim: str, source: Source, pieces: Sequence[Piece] = ()) -> Settled | None:
    """Say whether passages agree with what a claim compares; None where it compares nothing, or they do not say."""
    mine = likened(claim)
    if mine is None:
        return None
    whole = [piece.text for piece in pieces] or [reading.text for reading in source.readings]
    texts = [text[:_LONGEST] for text in whole]  # of tables and records nothing is blanked out
    sentences = [
        [(low, reading.text[low:high]) for low, high in reading.sentences if high <= _LONGEST]
        for reading in source.readings
    ]
    if mine.second is None:
        found = list(_extremes(mine, pieces))
    else:
        found = list(_by_words(mine, sentences))
        if not mine.is_past:
            found += _by_values(mine, texts, sentences, pieces)
    if not found or len({one.agrees for one in found}) > 1:
        return None
    return found[0]._replace(at=mine.at, held=_borne_out(claim, mine))


def _borne_out(claim: str, mine: Likened) -> frozenset[str]:
    """Give the stems of the things, of the comparing word and of words that name the scale."""
    things = mine.first.whole | (mine.second.whole if mine.second else frozenset())
    if mine.second is None:
        things |= mine.noun | _COUNTS
    if mine.factor is not None:
        things |= _FACTORS | content_stems(claim[max(0, mine.at[0] - 20) : mine.at[0]])
    return things.union(content_stems(claim[slice(*mine.at)]), _FILLERS, *(grade.scale.cues for grade in _scales(mine)))


def _by_values(
    mine: Likened, texts: Sequence[str], sentences: Sequence[Sequence[tuple[int, str]]], pieces: Sequence[Piece]
) -> Iterator[Settled]:
    """Set the values of the two things beside each other, those that fit the claim's words best."""
    assert mine.second is not None
    things = (mine.first.stems, mine.second.stems)
    held = list(islice(_held(things, texts, sentences, pieces), _MOST))
    pairs = []
    for one, other in product((it for it in held if it.of == 0), (it for it in held if it.of == 1)):
        worth = _worth(mine, one, other)
        if worth is not None and (outcome := _outcome(mine, one.fact, other.fact)) is not None:
            pairs.append((worth, outcome, one, other))
    best = max((worth for worth, *_ in pairs), default=None)
    for worth, agrees, one, other in pairs:
        if worth == best:
            said = f"the passage says {one.said} for {mine.first.said} and {other.said} for {mine.second.said}"
            together = one.reading == other.reading and abs(one.start - other.start) < 300
            low, high = (min(one.start, other.start), max(one.end, other.end)) if together else (one.start, one.end)
            yield Settled(agrees, said, one.reading, low, high)


def _held(
    things: Sequence[frozenset[str]], texts: Sequence[str], sentences: Sequence[Sequence[tuple[int, str]]],
    pieces: Sequence[Piece],
) -> Iterator[Held]:  # fmt: skip
    for number, text in enumerate(texts):
        yield from in_prose(sentences[number], number, things)
        yield from in_tables(text, number, things)
    if any(piece.fields for piece in pieces):
        yield from in_records(pieces, texts, things)


def _scales(mine: Likened) -> list[Grade]:
    """Give the scales that a claim's comparative may mean: "less" of a cost is one of money."""
    sign = mine.grades[0].sign
    if not any(grade.scale.is_general for grade in mine.grades):
        return list(mine.grades)
    named = [Grade(_amounts(scale), sign) for scale in gradables.named(mine.of)]
    own = [grade for grade in mine.grades if not grade.scale.is_general]
    return [*named, *(mine.grades if mine.of or not own else own)]  # "is larger": not just any number is


def _amounts(scale: Scale) -> Scale:
    """Give a scale with the kinds alone of which there is more: a "larger price" is one of more money."""
    return scale._replace(kinds={kind: 1 for kind, sign in scale.kinds.items() if sign > 0 and kind != "moment"})


def _worth(mine: Likened, one: Held, other: Held) -> tuple[int, int] | None:
    """Say how well two values fit what a claim says is compared; None where they are of something else."""
    beside = one.group == other.group
    if one.is_labelled != other.is_labelled or not _is_named(mine, one, other):
        return None
    cues = {cue for grade in _scales(mine) if not grade.scale.is_general for cue in grade.scale.cues}
    words = [it.words | _noun(it.fact) for it in (one, other)]
    if beside and not one.is_labelled:
        bare = [_is_bare(mine, it) for it in (one, other)]
        if bare != [False, False]:  # "… ripens for twelve months, the Graukar for four weeks"
            words = [words[0] | words[1] | (one.around if all(bare) else frozenset())] * 2
    own = min(len(_shared(mine.of, each)) for each in words)
    cued = [min(len(grade.scale.cues & each) for each in words) > 0 for grade in _scales(mine)]
    is_named = own > 0 or any(hit for hit, grade in zip(cued, _scales(mine), strict=True) if not grade.scale.is_general)
    if mine.noun and not all(_shared(mine.noun, each) for each in words) and not (any(cued) and mine.noun & cues):
        return None
    if not is_named:
        alike = words[0] & words[1] - mine.first.stems
        is_open = all(grade.scale.is_general for grade in _scales(mine)) or _kind(one.fact) in ("count", "percent")
        known = {kind for grade in _scales(mine) if not grade.scale.is_general for kind in grade.scale.kinds}
        if is_open or _kind(one.fact) not in known or one.is_labelled or _is_of_another(mine, words[0] | words[1]):
            return None
        both_bare = all(_is_bare(mine, it) for it in (one, other)) and _kind(one.fact) != "moment"
        if not both_bare and not (alike and beside):
            return None
    return own, len(cued) - cued.index(True) if any(cued) else 0


def _shared(keys: frozenset[str], words: frozenset[str]) -> list[str]:
    """List the stems that some words name, in one form or another: "rain" of "rainfall"."""
    return [key for key in keys if names(key, words)]


def _is_named(mine: Likened, one: Held, other: Held) -> bool:
    """Say whether the other names and years of a claim stand beside both values."""
    return all(mine.names <= it.around for it in (one, other))


def _noun(fact: Fact) -> frozenset[str]:
    return frozenset({fact.noun} - {""}) if isinstance(fact, Quantity) else frozenset()


def _is_bare(mine: Likened, it: Held) -> bool:
    """Say whether a clause says nothing beside a thing and its value."""
    things = mine.first.whole | (mine.second.whole if mine.second else frozenset())
    return not it.words - content_stems(it.said) - things - _FILLERS


def _is_of_another(mine: Likened, words: frozenset[str]) -> bool:
    """Say whether some words name another scale than a claim's."""
    own = {grade.scale.number for grade in mine.grades}
    return any(scale.number not in own for scale in gradables.named(words))


def _outcome(mine: Likened, one: Fact, other: Fact) -> bool | None:
    """Say whether two values stand as a claim says; None where they cannot be compared on its scale."""
    found = {
        verdict
        for grade in _scales(mine)
        if (sign := _sign(grade, one, other)) is not None and (verdict := _stands(mine, sign, one, other)) is not None
    }
    return found.pop() if len(found) == 1 else None


def _sign(grade: Grade, one: Fact, other: Fact) -> int | None:
    """Give the sign of a scale for values of their kind; None where it does not measure them."""
    kinds = {_kind(one), _kind(other)}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind in grade.scale.kinds:
        return grade.sign * grade.scale.kinds[kind]
    return grade.sign if grade.scale.is_general and kind != "moment" else None


def _kind(fact: Fact) -> str:
    if isinstance(fact, Moment):
        return "moment"
    if fact.noun == "age":
        return "age"
    if fact.dimension == "count" and fact.noun == "time" and fact.rate is not None:
        return "frequency"
    return fact.dimension.partition(":")[0]


def _stands(mine: Likened, sign: int, one: Fact, other: Fact) -> bool | None:
    order = _order(one, other)
    if order is None:
        return None
    if mine.factor is not None or not mine.sign:
        return _is_as(mine, one, other, order, sign)
    if order == 0 and mine.denied:
        return True
    stands = order == sign
    if mine.denied:
        return not stands
    return _is_apart(mine.apart, one, other) if stands and mine.apart else stands


def _is_apart(said: str, one: Fact, other: Fact) -> bool | None:
    """Say whether two values lie as far apart as a claim says; None where it says so in a way that is not read."""
    amounts = facts(said)
    if len(amounts) != 1 or not isinstance(amounts[0], Quantity):
        return None
    return is_apart(amounts[0], one, other)


def _is_as(mine: Likened, one: Fact, other: Fact, order: int, sign: int) -> bool | None:
    """Judge "as heavy as" and "twice as heavy as"; "not as heavy as" is less."""
    if mine.factor is None:
        return order == -sign if mine.denied else order == 0
    if mine.denied or not isinstance(one, Quantity) or not isinstance(other, Quantity) or not one.low or not other.low:
        return None
    if one.low != one.high or other.low != other.high or sign < 0:
        return None
    off = abs(math.log(one.low / other.low / mine.factor)) if one.low / other.low > 0 else math.inf
    return True if off <= _NEAR else False if off >= _FAR else None


def _order(one: Fact, other: Fact) -> int | None:
    """Say which of two values is more: 1, -1, or 0 where they are the same; None where that is open."""
    if isinstance(one, Moment) or isinstance(other, Moment):
        return _order_in_time(one, other) if isinstance(one, Moment) and isinstance(other, Moment) else None
    if one.dimension != other.dimension or (one.rate is None) != (other.rate is None):
        return None
    if one.rate and other.rate and one.rate[:2] != other.rate[:2]:
        return None
    if one.noun and other.noun and one.noun != other.noun:
        return None
    about = one.approximate or other.approximate
    if one.low == other.low and one.high == other.high:
        return None if about else 0
    if about and abs(one.low - other.low) <= _NEAR * max(abs(one.low), abs(other.low)):
        return None
    return 1 if one.low > other.high else -1 if one.high < other.low else None


def _order_in_time(one: Moment, other: Moment) -> int | None:
    mine, theirs = ((it.year, it.quarter, it.half, it.month, it.day, it.hour, it.minute) for it in (one, other))
    if one.any_half != other.any_half or one.any_century or other.any_century or one.years != other.years:
        return None
    if one.weekday is not None and one.month is None:
        return None
    for a, b in zip(mine, theirs, strict=True):
        if (a is None) != (b is None):
            return None
        if a is not None and b is not None and a != b:
            return 1 if a > b else -1
    return None if one.any_half else 0


def _by_words(mine: Likened, sentences: Sequence[Sequence[tuple[int, str]]]) -> Iterator[Settled]:
    """Read what the passages compare themselves, and what they say rose or fell."""
    for number, lines in enumerate(sentences):
        for start, sentence in lines:
            agrees = _changed(mine, sentence)
            if agrees is None and not mine.is_past:
                agrees = _compared(mine, sentence)
            if agrees is not None:
                said = f"the passage says '{shorten(sentence, _QUOTED, placeholder=' …')}'"
                yield Settled(agrees, said, number, start, start + len(sentence))


def _compared(mine: Likened, sentence: str) -> bool | None:
    """Say whether a sentence compares the same two things the same way."""
    theirs = likened(sentence)
    if theirs is None or mine.second is None or theirs.second is None or not theirs.second.stems:
        return None
    if (
        theirs.denied
        or not theirs.sign
        or not mine.sign
        or not mine.names <= content_stems(sentence)
        or theirs.names - mine.names
    ):
        return None
    if _is_same(mine.first.stems, theirs.first.stems) and _is_same(mine.second.stems, theirs.second.stems):
        turn = 1
    elif _is_same(mine.first.stems, theirs.second.stems) and _is_same(mine.second.stems, theirs.first.stems):
        turn = -1
    else:
        return None
    signs = {
        one.sign * other.sign
        for one, other in product(mine.grades, theirs.grades)
        if one.scale.number == other.scale.number
    }
    is_general = all(grade.scale.is_general for grade in mine.grades) or mine.noun or theirs.noun
    if len(signs) != 1 or (is_general and not mine.of & theirs.of):
        return None
    if mine.noun and theirs.noun and not mine.noun & theirs.noun:
        return None
    agrees = signs.pop() * turn == 1
    if mine.denied:
        return not agrees
    return None if agrees and mine.apart and not theirs.apart else agrees


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _changed(mine: Likened, sentence: str) -> bool | None:
    """Say whether a sentence says that something rose or fell as a claim says: since before, or from year to year."""
    stems, turn = content_stems(sentence), 1
    if mine.second is not None and mine.second.stems:
        years = [int(one) for thing in (mine.first, mine.second) for one in thing.stems if YEAR.fullmatch(one)]
        if len(years) != 2 or len(mine.first.stems | mine.second.stems) != 2:
            return None
        if {int(one) for one in stems if YEAR.fullmatch(one)} != set(years):
            return None
        needed, turn = mine.of | mine.first.stems | mine.second.stems, 1 if years[0] > years[1] else -1
    else:
        needed = mine.first.stems | mine.of
    if mine.denied or not needed <= stems or any(token.norm in _REVERSE for token in tokenize(sentence)):
        return None
    rose, fell = bool(stems & _ROSE), bool(stems & _FELL)
    signs = {grade.sign for grade in mine.grades if grade.scale.is_general}
    if rose == fell or len(signs) != 1 or mine.apart:
        return None
    return rose == (signs.pop() * turn > 0)


def _extremes(mine: Likened, pieces: Sequence[Piece]) -> Iterator[Settled]:
    """Hold a thing that is said to be the most of all against all that stand beside it in a table or a list."""
    cues = {cue for grade in _scales(mine) if not grade.scale.is_general for cue in grade.scale.cues}
    named = cues | {word for word in mine.of if not is_unit_word(word)}
    for entries in (*columns(pieces), *listed(pieces)):
        own = [entry for entry in entries if mine.first.stems <= entry.about]
        if len(own) != 1 or len(entries) < 2 or not entries[0].words & named:
            continue
        others = [entry for entry in entries if entry is not own[0]]
        outcomes = [(_outcome(mine, own[0].fact, other.fact), other) for other in others]
        rival = next((other for outcome, other in outcomes if outcome is False), None)
        if mine.denied or mine.names:
            continue
        at = (own[0].reading, own[0].start, own[0].end)
        if all(outcome for outcome, _ in outcomes):
            yield Settled(True, f"the passage says {own[0].said} for {mine.first.said}", *at)
        elif rival is not None and mine.is_bare:
            said = f"the passage says {own[0].said} for {mine.first.said} and {rival.said} for {rival.name}"
            yield Settled(False, said, *at)
