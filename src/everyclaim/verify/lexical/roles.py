"""Who does what in a claim and in a passage that have the same words: another subject, or another order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from everyclaim.models.local.tree import tree_of
from everyclaim.text.tokens import content_stems, stem
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.reading import Reading

Place = tuple[int, int]
_OPEN = frozenset({"ADP", "DET", "SCONJ", "CCONJ"})  # words at which no phrase ends


class Turned(NamedTuple):
    """Where a claim and a reading, by its number, differ in who does what."""

    ours: Place
    reading: int
    theirs: Place


def turned(it: LexicalComparison) -> Turned | None:
    """Compare the subjects of the claim and of the sentence that covers it best, then the order of words."""
    number, place = it.source.places[it.alignment.best[1][0]]
    low, high = it.source.readings[number].sentences[place]
    if found := subjects_apart(it.claim.text, it.source.readings[number].text[low:high]):
        return Turned(found[0], number, (found[1][0] + low, found[1][1] + low))
    ours, theirs = ({token.relation for token in tree_of(text).tokens} for text in (it.claim.text, it.text))
    if any(relation.endswith("pass") for relation in ours ^ theirs):
        return None  # in the passive words change their order
    if found := order_apart(it.claim, it.reading, range(it.start, it.end)):
        return Turned(found[0], it.source.places[it.alignment.main[0]][0], found[1])
    return None


def subjects_apart(claim: str, sentence: str) -> tuple[Place, Place] | None:
    """Place the subjects of a verb that both texts have, where neither subject is part of the other."""
    theirs = _subjects(sentence)
    for verb, ours in _subjects(claim).items():
        if verb in theirs:
            words = [content_stems(text[slice(*at)]) for text, at in ((claim, ours), (sentence, theirs[verb]))]
            if all(words) and not (words[0] <= words[1] or words[1] <= words[0]):
                return ours, theirs[verb]
    return None


def finished(text: str, start: int, end: int) -> Place:
    """Give ``text[start:end]`` without a preposition or article at its end, or with the pronoun that it belongs to.

    A name with a number stays whole ("Version 1"), and so does what somebody owns ("the project's owners").
    """
    tree = tree_of(text)
    inside = [place for place, token in enumerate(tree.tokens) if start <= token.start < end]
    if inside and inside[0] and tree.tag(inside[0]) == "CD" and tree.head(inside[0]) == inside[0] - 1:
        start = tree.tokens[inside[0] - 1].start
    behind = inside[-1] + 1 if inside else 0
    if inside and behind < len(tree.tokens) and tree.tag(behind) == "POS":
        return start, max(tree.tokens[behind].end, tree.tokens[tree.head(inside[-1])].end)
    while len(inside) > 1 and tree.pos(inside[-1]) in _OPEN and (head := tree.head(inside[-1])) > inside[-1]:
        if tree.pos(head) == "PRON":
            return start, tree.tokens[head].end
        inside.pop()
        end = tree.tokens[inside[-1]].end
    return start, end


def _subjects(text: str) -> dict[str, Place]:
    """Place who does it for every verb, by the verb's stem: its subject; in the passive the one after "by"."""
    tree, found = tree_of(text), dict[str, Place]()
    for place, token in enumerate(tree.tokens):
        if token.relation in {"nsubj", "nsubj:outer", "obl:agent"} and token.pos != "NUM":  # "all three" are others
            start, end = tree.span([one for one in tree.clause(place) if one not in tree.of(place, "case")])
            verb = stem(tree.text(token.head))
            verb = "have" if verb in {"has", "had"} else verb
            found[verb] = found.get(verb, (start,))[0], end  # "MV Osprey", read as two
    return found


def order_apart(claim: Reading, passage: Reading, window: range) -> tuple[Place, Place] | None:
    """Place two words around a verb that stand once in both texts, in opposite order: "A beat B", "B beat A"."""
    theirs = _once(passage, [at for at in passage.content if at in window])
    ours = [(key, at) for key, at in _once(claim, claim.content).items() if key in theirs]
    for (key, first), (after, last) in pairwise(ours):
        low, high = theirs[after], theirs[key]
        mine, other = (claim.spans[first][0], claim.spans[last][1]), (passage.spans[low][0], passage.spans[high][1])
        if (
            low < high
            and passage.sentence[low] == passage.sentence[high]
            and _verb(claim, mine) & _verb(passage, other)
        ):
            return mine, other
    return None


def _verb(reading: Reading, place: Place) -> bool:
    """Whether a verb stands within some characters of a sentence."""
    low, high = next(at for at in reading.sentences if at[0] <= place[0] < at[1])
    tokens = tree_of(reading.text[low:high]).tokens
    return any(token.pos == "VERB" and place[0] <= token.start + low < place[1] for token in tokens)


def _once(reading: Reading, places: Sequence[int]) -> dict[str, int]:
    counted = Counter(reading.keys[at] for at in places)
    return {reading.keys[at]: at for at in places if counted[reading.keys[at]] == 1}
