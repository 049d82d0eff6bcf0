"""The two places that differ, and the reason in words, for a claim whose failure mode is known.

Every mode looks for its own: two values, two speakers, a small word on one side. Where it finds none, the words of
the claim that are doubted most are named, and what may stand in their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from everyclaim.core.types import FailureMode
from everyclaim.models.local.tree import tree_of
from everyclaim.text.cues import Cue
from everyclaim.text.tokens import STOPWORDS, content_stems, in_unspaced_script, stem, tidied
from everyclaim.verify.lexical.checks import facts, span
from everyclaim.verify.lexical.features import denies_by_verb, hedges, negations
from everyclaim.verify.lexical.parting import (
    FIGURE,
    DifferencePlace,
    Doubt,
    FoundDifference,
    Parting,
    Swap,
    clash,
    doubt_of,
    missing,
    numbered,
    one_instead,
    reckoned,
    stands,
    stated_elsewhere,
)
from everyclaim.verify.lexical.reading import NAME, Reading
from everyclaim.verify.lexical.roles import finished, turned
from everyclaim.verify.lexical.speech import same_speaker

_CLAUSE = re.compile(r"[.,;:!?()|–—]")
_HYPHENED = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")
_STANDS = 0.4  # likeness above which a word of the window is said to stand in the place of a claim's
_DENIED = 3  # words between a word that denies and what it denies, at most
_DOUBTED = 0.25  # weight from which a neighbour of the most doubted word is doubted with it


def find(mode: FailureMode, parting: Parting, doubts: Sequence[Doubt]) -> FoundDifference:
    """Find what differs, in the light of the mode."""
    found = stated_elsewhere(parting) if mode in (*_OF_VALUES, *_ALONE) else None
    if found := found or _reckoned(parting, mode, doubted(parting, doubts)):
        return found
    if mode in _OF_VALUES:
        found = _value(parting, time=mode is FailureMode.TEMPORAL)
    elif mode is FailureMode.WRONG_ATTRIBUTION:
        found = _speaker(parting)
    elif mode is FailureMode.HEDGE_MISMATCH:
        found = _hedge(parting, doubts)
    elif mode in (FailureMode.NEGATION, *_ALONE) and (found := _answered(parting, doubts)):
        return found
    elif mode is FailureMode.NEGATION:
        found = _negation(parting, doubts)
    elif mode is FailureMode.RELATION:
        found = _turned(parting)
    elif mode in _ALONE:
        found = _unsaid(parting, at, mode, doubts) if (at := doubted(parting, doubts)) else None
    found = found or _answered(parting, doubts) or clash(parting, time=True) or clash(parting, time=False)
    found = found or _in_place(parting, doubts, mode)
    return found._replace(theirs=found.theirs or _across(parting)) if mode is FailureMode.RELATION else found


def _unsaid(parting: Parting, at: tuple[int, int], mode: FailureMode, doubts: Sequence[Doubt]) -> FoundDifference:
    """Say that the passages do not mention some words; of words they do mention, that they do not state them so."""
    said = _cut(parting, at)
    if said.startswith(("and ", "or ")):
        at = at[0] + said.index(" ") + 1, at[1]
        said = _cut(parting, at)
    words, at = said, numbered(parting, at)
    if not said[:1].isupper():  # a name says enough alone
        at = finished(parting.it.spelling.written, *_phrase(parting, at))
    said = _cut(parting, at)
    whose = ""
    if _are_there(said, parting):
        return FoundDifference(at, None, _there(said, parting))
    if parting.is_contradicted:
        reason, whose = "contradicted by the passages", "the claim's "
    elif not said[:1].isdigit() and _are_mentioned(said, parting):
        if found := _hedge(parting, doubts, _HEDGING[:1]):
            return found._replace(mode=FailureMode.HEDGE_MISMATCH)
        return FoundDifference(at, None, _there(said, parting))
    elif mode in _OTHERWISE or (words != said and _are_mentioned(words, parting)) or _is_half_there(said, parting):
        reason = "not stated in the passages"
    elif mode is FailureMode.IMPLICIT_KNOWLEDGE:
        reason = "general knowledge that the passages do not mention"
    else:
        reason = "not mentioned in the passages"
    written = parting.it.spelling.written
    is_all = said == written[slice(*tidied(written, 0, len(written)))]
    return FoundDifference(at, None, reason if is_all else f"{reason}: {whose}'{said}'")


def _phrase(parting: Parting, at: tuple[int, int]) -> tuple[int, int]:
    """Widen a single telling word, which says little, to the next one in its clause, or to the one before it."""
    it, written = parting.it, parting.it.spelling.written
    values = [check.at for check in it.checks]
    telling = [it.spelling.origin(*it.claim.spans[one]) for one in it.claim.content]
    if _overlaps(at, values) or sum(_overlaps(one, [at]) for one in telling) != 1:
        return at
    for low, high in (
        *[one for one in telling if at[1] <= one[0]][:1],
        *[one for one in telling if one[1] <= at[0]][-1:],
    ):
        between = written[at[1] : low] if at[1] <= low else written[high : at[0]]
        if not _CLAUSE.search(between):
            whole = [(low, high), at, *(value for value in values if _overlaps((low, high), [value]))]
            return tidied(written, *_whole_words(written, min(one[0] for one in whole), max(one[1] for one in whole)))
    return at


def _there(said: str, parting: Parting) -> str:
    but = "contradict the claim" if parting.is_contradicted else "the judge does not find the claim in them"
    values = [check for check in parting.it.checks if check.said == said]
    mentioned = f"'{said}'" if not values else said if values[0].status != "found" else values[0].instead
    if not _are_there(said, parting):
        mentioned = f"the words of '{said}'"
    return f"the passages mention {mentioned}, but {but}"


def _are_there(said: str, parting: Parting) -> bool:
    is_found = any(check.said == said and check.status == "found" for check in parting.it.checks)  # in other digits
    return is_found or stands(said, (text.lower() for text in parting.whole))


def _are_mentioned(said: str, parting: Parting) -> bool:
    """Whether one passage has some words, or all telling ones of them, wherever: "E05: temperature sensor fault"."""
    if _are_there(said, parting):
        return True
    words = content_stems(said)
    return bool(words) and any(words <= content_stems(text) for text in (parting.nearest, *parting.whole))


def _is_half_there(said: str, parting: Parting) -> bool:
    words = content_stems(said)
    return 2 * len(words & content_stems(parting.nearest)) > len(words)


_ALONE = (FailureMode.INVENTION, FailureMode.IMPLICIT_KNOWLEDGE, FailureMode.OTHER)
_OTHERWISE = FailureMode.NEGATION, FailureMode.HEDGE_MISMATCH, FailureMode.RELATION, FailureMode.WRONG_ATTRIBUTION
_OF_VALUES = (FailureMode.NUMERIC_MISMATCH, FailureMode.TEMPORAL)


def _cut(parting: Parting, at: tuple[int, int]) -> str:
    return parting.it.spelling.written[slice(*at)]


def _value(parting: Parting, *, time: bool) -> FoundDifference | None:
    """Name a value that clashes with one of the same thing, or one that no passage states."""
    if found := clash(parting, time=time):
        return found
    check = missing(parting, time=time)
    if check is None:
        return None
    if _is_of_another(parting, check.said):
        return FoundDifference(check.at, None, f"the passages use {check.said} for a different item")
    at = numbered(parting, check.at)
    if at == check.at and _are_there(check.said, parting):
        return FoundDifference(at, None, _there(check.said, parting))
    said = _cut(parting, at)
    against = f"contradicted by the passages: the claim's '{said}'"
    reason = against if parting.is_contradicted else f"not stated in the passages: {said}"
    return one_instead(parting, check) or FoundDifference(at, None, reason)


def _reckoned(parting: Parting, mode: FailureMode, at: tuple[int, int] | None) -> FoundDifference | None:
    """Name the values of the passages that make one of the claim, which may be what fails: it is doubted (`at`)."""
    for check in parting.it.checks:
        may_fail = mode in (*_OF_VALUES, FailureMode.RELATION) or (at is not None and _overlaps(at, [check.at]))
        if may_fail and (reason := reckoned(parting.it, check)):
            return FoundDifference(check.at, None, reason)
    return None


def _is_of_another(parting: Parting, said: str) -> bool:
    """Whether the numbers of a value stand in rows or columns that are about something else."""
    pairs = list(zip(parting.whole, parting.it.source.readings, strict=False))
    sought = [re.compile(rf"(?<![\d.,]){re.escape(number)}(?![.,]?\d)") for number in FIGURE.findall(said)]
    return bool(sought) and all(
        any(one.search(text) and not one.search(reading.text) for text, reading in pairs) for one in sought
    )


def _speaker(parting: Parting) -> FoundDifference | None:
    """Name who the claim says said it, and who the passages say did."""
    it = parting.it
    for report in parting.reports:
        if not content_stems(report.speaker):
            continue  # a pronoun may be anyone
        said = content_stems(it.claim.text[slice(*report.content_span)])
        others = [
            (len(said & content_stems(it.source.readings[number].text[slice(*other.content_span)])), number, other)
            for number, other in parting.their_reports
            if not same_speaker(report.speaker, other.speaker)
        ]
        at = it.spelling.origin(*report.speaker_span)
        speaker = _cut(parting, at)
        if others:
            shared, number, other = max(others, key=lambda one: one[0])
            if shared:
                where = DifferencePlace(number, *other.speaker_span)
                reason = f"the passage attributes this to {other.speaker}, the claim to {speaker}"
                return FoundDifference(at, where, reason)
        return FoundDifference(at, None, f"no passage attributes this to {speaker}")
    return None


def _hedge(
    parting: Parting, doubts: Sequence[Doubt], kinds: Sequence[tuple[str, bool, str]] | None = None
) -> FoundDifference | None:
    """Name the word that makes one side less certain or less general than the other."""
    at = doubted(parting, doubts)
    of_claim, of_passage = hedges(parting.it)
    for kind, is_ours, said in kinds or _HEDGING:
        cues = parting.only(kind, mine=is_ours)
        if kind == "hedge":
            cues = [cue for cue in cues if cue in (of_claim if is_ours else of_passage)]
        if cues and is_ours:
            place = parting.it.spelling.origin(cues[0].start, cues[0].end)
            theirs = parting.only(kind, mine=False) if kind == "quantifier" else []
            both = f"the passage says '{theirs[0].text}', the claim says '{cues[0].text}'" if theirs else ""
            return FoundDifference(place, _across(parting), both or said.format(cues[0].text))
        if cues:
            return FoundDifference(at, _theirs(parting, cues[0]), said.format(cues[0].text))
    return None


_HEDGING = (
    ("hedge", False, "the passage says '{}', the claim states it as certain"),
    ("conditional", False, "the passage adds a condition ('{}'), the claim has none"),
    ("booster", True, "the claim says '{}', the passage is less certain"),
    ("quantifier", True, "the claim says '{}', the passage does not"),
    ("quantifier", False, "the passage says '{}', the claim does not"),
    ("hedge", True, "the claim says '{}', the passage states it as certain"),
)


def _negation(parting: Parting, doubts: Sequence[Doubt]) -> FoundDifference | None:
    """Name the word that denies on one side what the other affirms."""
    it = parting.it
    ours, theirs = negations(it)
    if it.answers or bool(ours) == bool(theirs) or denies_by_verb(it)[1 if ours else 0]:
        return None  # with a field that answers, the claim agrees
    reading, places = (it.claim, ours) if ours else (it.reading, theirs)
    place = max(places, key=lambda one: " " in reading.text[slice(*denial(reading, one))])  # the first that says what
    if theirs and not _shares(parting, reading.sentence[place]):
        return None  # what it denies is something else
    start, end = denial(reading, place)
    said = reading.text[start:end]
    if ours and _are_there(said, parting):
        return None  # of something else
    if ours:
        mine = it.spelling.origin(start, end)
        return FoundDifference(mine, _across(parting), f"the claim says '{said}', the passage does not")
    there = DifferencePlace(parting.number, start, end)
    return FoundDifference(doubted(parting, doubts), there, f"the passage says '{said}', the claim affirms it")


def denial(reading: Reading, place: int) -> tuple[int, int]:
    """Say where in a text a word that denies stands with what it denies: "not covered", "no cafe", "Pets: no"."""
    same = [at for at in reading.content if reading.sentence[at] == reading.sentence[place]]
    behind = next((at for at in same if place < at <= place + _DENIED), place)
    if "," in reading.text[reading.spans[place][1] : reading.spans[behind][0]]:
        behind = place  # "No, dogs are not allowed"
    before = place if behind > place else next((at for at in reversed(same) if place - _DENIED <= at < place), place)
    return _whole_words(reading.text, reading.spans[before][0], reading.spans[behind][1])


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a stretch to the hyphenated words that it cuts: "no Wi" to "no Wi-Fi"."""
    cut = [one.span() for one in _HYPHENED.finditer(text) if one.start() < end and start < one.end()]
    return min([start, *(low for low, _ in cut)]), max([end, *(high for _, high in cut)])


def _answered(parting: Parting, doubts: Sequence[Doubt]) -> FoundDifference | None:
    """Name the field that answers otherwise than the claim does, or the one that is not given and doubted for it."""
    at = doubted(parting, doubts)
    answer = next((answer for answer in parting.it.answers if not answer.agrees), None)
    if answer is None and at is not None:
        words = content_stems(_cut(parting, at))
        blank = (answer for answer in parting.it.named if answer.agrees is None)
        answer = next((answer for answer in blank if words & content_stems(answer.field.partition(":")[0])), None)
    if answer is None:
        return None
    where = DifferencePlace(answer.reading, answer.start, answer.end)
    shown = FailureMode.NEGATION if answer.agrees is False else None
    return FoundDifference(at, where, f"the passage says '{answer.field}'", shown)


def _turned(parting: Parting) -> FoundDifference | None:
    """Name the subjects that differ, or the words that stand in another order."""
    it = parting.it
    found = turned(it)
    if found is None:
        return None
    text = it.source.readings[found.reading].text
    there = DifferencePlace(found.reading, *_whole_words(text, *found.theirs))
    mine = _whole_words(it.spelling.written, *it.spelling.origin(*found.ours))
    said = f"the passage says '{text[slice(*there[1:])]}', the claim says '{_cut(parting, mine)}'"
    return FoundDifference(mine, there, said)


def _in_place(parting: Parting, doubts: Sequence[Doubt], mode: FailureMode) -> FoundDifference:
    """Name the words that are doubted most, and what the window has in their place."""
    it, at = parting.it, doubted(parting, doubts)
    if at is None:
        return FoundDifference(None, None, "not mentioned in the passages")
    said = _cut(parting, at)
    for swap in parting.swaps if mode is not FailureMode.HEDGE_MISMATCH else ():
        low, high = it.spelling.origin(*it.claim.spans[swap.mine])
        if swap.likeness > _STANDS and low < at[1] and at[0] < high and _is_in_place(parting, swap, at):
            start, end = _name_around(it.reading, swap.theirs, range(it.start, it.end))
            named = it.spelling.origin(*_name_around(it.claim, swap.mine, range(len(it.claim.kinds))))
            at = min(at[0], named[0]), max(at[1], named[1])
            said, theirs = _cut(parting, named), it.reading.text[start:end]
            where = DifferencePlace(parting.number, start, end)
            return FoundDifference(at, where, f"the passage says '{theirs}', the claim says '{said}'")
    return _unsaid(parting, at, mode, doubts)


def _shares(parting: Parting, sentence: int) -> bool:
    """Whether a sentence of the window's reading shares a telling word with the claim."""
    reading, said = parting.it.reading, {parting.it.claim.keys[at] for at in parting.it.claim.content}
    return any(reading.keys[at] in said for at in reading.content if reading.sentence[at] == sentence)


def _is_in_place(parting: Parting, swap: Swap, doubted: tuple[int, int]) -> bool:
    """Whether a word of the passage is in a claim's word's place: in grammar, in a sentence with most of the rest.

    It is no part of a value.
    """
    it = parting.it
    if _role(it.claim, swap.mine) != _role(it.reading, swap.theirs):
        return False
    reading, place = it.reading, it.reading.sentence[swap.theirs]
    low, high = reading.sentences[place]
    held = {key for key, at in zip(reading.keys, reading.sentence, strict=True) if at == place}
    rest = [at for at in it.claim.content if not _overlaps(it.spelling.origin(*it.claim.spans[at]), [doubted])]
    if 2 * sum(it.claim.keys[at] in held for at in rest) <= len(rest):
        return False
    start, end = reading.spans[swap.theirs]
    values = [span(fact, whole=True) for fact in facts(reading.text[low:high])]
    return not _overlaps((start - low, end - low), values)


def _role(reading: Reading, at: int) -> tuple[str, ...]:
    """Give a word's part of speech (a name's is a noun's), its relation, and its head; of a main verb its subject."""
    low, high = reading.sentences[reading.sentence[at]]
    tree, start = tree_of(reading.text[low:high]), reading.spans[at][0] - low
    place = next((i for i, token in enumerate(tree.tokens) if token.start <= start < token.end), None)
    if place is None:
        return ()
    head = tree.subject(place) if place == tree.root else tree.head(place)
    return tree.pos(place).replace("PROPN", "NOUN"), tree.kind(place), "" if head is None else stem(tree.low(head))


def _name_around(reading: Reading, at: int, within: range) -> tuple[int, int]:
    """Give a word whole, with the rest of the name it belongs to."""
    low = high = at
    if reading.kinds[at] == NAME:
        while low - 1 in within and reading.kinds[low - 1] == NAME and _is_near(reading, low - 1):
            low -= 1
        while high + 1 in within and reading.kinds[high + 1] == NAME and _is_near(reading, high):
            high += 1
    return _whole_words(reading.text, reading.spans[low][0], reading.spans[high][1])


def _is_near(reading: Reading, at: int) -> bool:
    """Say whether only a blank parts a word from the next."""
    return reading.spans[at + 1][0] - reading.spans[at][1] <= 1


def _theirs(parting: Parting, cue: Cue) -> DifferencePlace:
    start = parting.it.reading.spans[parting.it.start][0]
    return DifferencePlace(parting.number, start + cue.start, start + cue.end)


def _across(parting: Parting) -> DifferencePlace | None:
    """Give the stretch of the window from the first to the last word that it shares with the claim."""
    it = parting.it
    shared = set(it.claim.keys)
    held = [at for at in it.reading.content if it.start <= at < it.end and it.reading.keys[at] in shared]
    if not held:
        return None
    start, end = _whole_words(it.reading.text, it.reading.spans[held[0]][0], it.reading.spans[held[-1]][1])
    return DifferencePlace(parting.number, start, end)


def doubted(parting: Parting, doubts: Sequence[Doubt]) -> tuple[int, int] | None:
    """Give the most doubted words of the claim as it was written, values whole; all of it where none is doubted.

    All of it, too, in scripts without blanks, where a stretch would be cut out of a word.
    """
    it = parting.it
    weights = [doubt_of(low, high, doubts) for low, high in it.claim.spans]
    telling_ones = [at for at, norm in enumerate(it.claim.norms) if norm not in STOPWORDS] or range(len(weights))
    found = [check.at for check in it.checks if check.status == "found"]
    stated = {at for at, place in enumerate(it.claim.spans) if _overlaps(it.spelling.origin(*place), found)}
    # What a passage states is not what fails, where something else may be.
    if any(weights[at] >= _DOUBTED for at in telling_ones if at not in stated):
        weights = [0.0 if at in stated else weight for at, weight in enumerate(weights)]
    top = max(telling_ones, key=lambda at: (weights[at], -at), default=None)
    if top is None:
        return None
    if not weights[top]:
        return 0, len(it.spelling.written)
    first = last = top
    while first > 0 and weights[first - 1] >= _DOUBTED:
        first -= 1
    while last + 1 < len(weights) and weights[last + 1] >= _DOUBTED:
        last += 1
    start, end = it.spelling.origin(it.claim.spans[first][0], it.claim.spans[last][1])
    written = it.spelling.written
    for low, high in (check.at for check in it.checks):
        if low < end and start < high:
            start, end = min(start, low), max(end, high)
    start, end = _whole_words(written, start, end)
    return (0, len(written)) if in_unspaced_script(written[start:end]) else tidied(written, start, end)


def _overlaps(place: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(low < place[1] and place[0] < high for low, high in others)
