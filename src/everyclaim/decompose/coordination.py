"""The predicates that share one subject: "X was born in A and died in B" → two pieces with X.

A verb is taken as a second predicate only where no other reading is likely: a participle, a noun in
-s, or the verb of a clause in between would make another sentence of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everyclaim.decompose import grammar
from everyclaim.decompose.grammar import RELATIVES, Skeleton
from everyclaim.text.tagger import FINITE, Word

JOINERS = frozenset({"and", "but"})
_OBJECT = frozenset({"DT", "PRP$", "NNP", "NNPS", "CD", "JJ", "NN", "NNS", "PRP", "$"})
_AFTER_VERB = frozenset({"DT", "PRP$", "IN", "TO", "CD", "PRP"})


class ClauseWords(NamedTuple):
    """Words carried in front (subject, lead), and the clause's own words."""

    carried: tuple[Word, ...]
    own: tuple[Word, ...]


def predicates(words: list[Word], bones: Skeleton) -> list[ClauseWords]:
    """The predicates of one subject, each with the subject (and the auxiliaries it needs) carried over."""
    whole = [ClauseWords((), tuple(words))]
    subject = tuple(words[: bones.verb])
    chain = words[bones.verb : bones.rest]
    if any(word.low in {"both", "each"} for word in subject):
        return whole
    cuts: list[tuple[int, int, tuple[Word, ...]]] = []  # end of the part before, start of the next, auxiliaries
    part = bones.rest
    for index in range(bones.rest, len(words) - 2):
        if words[index].low not in JOINERS:
            continue
        start = index + 1
        verb = next((i for i in range(start, min(start + 3, len(words))) if words[i].tag != "RB"), start)
        auxiliaries = _joins(words, bones, part, index, verb)
        if auxiliaries is None:
            continue
        end = index - 1 if words[index - 1].low == "," else index
        commas = _listed(words, bones, part, end, verb)
        points = [*((comma, comma + 1) for comma in commas), (end, start)]
        cuts += [(before, after, auxiliaries) for before, after in points]
        part = grammar.chain_end(words, verb)
    if not cuts or grammar.has_scope([word for word in chain if word.tag != "MD"]):
        return whole
    pieces = []
    edges = [bones.verb, *(after for _, after, _ in cuts)]
    ends = [*(before for before, _, _ in cuts), len(words)]
    for number, (begin, finish) in enumerate(zip(edges, ends, strict=True)):
        own = tuple(words[begin:finish])
        if not _says_something(own):
            return whole
        if number == 0:
            pieces.append(ClauseWords((), tuple(words[:finish])))
        else:
            pieces.append(ClauseWords((*subject, *cuts[number - 1][2]), own))
    return pieces


def _listed(words: list[Word], bones: Skeleton, part: int, end: int, verb: int) -> list[int]:
    """Commas that part further predicates of a list: "wrote A, directed B, and produced C"."""
    found = []
    for index in range(part, end - 1):
        same = words[index + 1].tag == words[verb].tag and words[index + 1].tag in {"VBD", "VBZ"}
        if words[index].low == "," and same and words[bones.verb].tag == words[verb].tag:
            found.append(index)
    return found


def _says_something(own: Sequence[Word]) -> bool:
    """Whether a predicate has more than its verb, so that it shares no object with the next."""
    start = next((i for i, word in enumerate(own) if word.tag != "RB"), len(own))
    rest = own[grammar.chain_end(own, start) :]
    return any(word.tag not in {"RB", ",", "IN", "TO"} for word in rest)


def _joins(words: list[Word], bones: Skeleton, part: int, joiner: int, verb: int) -> tuple[Word, ...] | None:
    """Auxiliaries to carry when the verb after a joiner surely goes with the subject; None when unsure."""
    between = words[part:joiner]
    if any(word.low in RELATIVES or word.tag in {"WDT", "WP", "WRB"} for word in between):
        return None
    listed = {i + 1 for i in range(len(between) - 1) if between[i].low == ","}
    inside = {word.tag for i, word in enumerate(between) if i not in listed}
    if inside & FINITE:
        return None
    word, following = words[verb], words[verb + 1].tag if verb + 1 < len(words) else ""
    chain = words[bones.verb : bones.rest]
    if word.tag == "MD":
        return ()
    if word.tag in {"VBD", "VBN"}:
        passive = grammar.is_passive(words, bones) and not grammar.never_passive(word)
        if passive:
            return _joins_passive(words, bones, word, following, inside if part == bones.rest else {"VBN"})
        return () if _joins_past(words, bones, word, following, inside) else None
    if word.tag == "VB" and chain[0].tag == "MD" and chain[-1].tag == "VB" and len(chain) <= 3:
        sure = following in {"DT", "PRP$", "IN", "TO", "CD", "PRP", "VBN"} or word.low == "be"
        free = not inside & {"TO", "VB"}
        return (chain[0],) if sure and free and not grammar.has_scope(chain[1:-1]) else None
    return () if _joins_present(words, bones, word, following) else None


def _joins_passive(
    words: list[Word], bones: Skeleton, word: Word, following: str, inside: set[str]
) -> tuple[Word, ...] | None:
    """What to carry for a past form behind a passive: its auxiliaries for a second participle, else nothing."""
    chain = words[bones.verb : bones.rest]
    if following in _OBJECT and (word.tag == "VBD" or following in {"DT", "PRP$"}):
        return () if chain[0].tag == "VBD" and not grammar.doubtful(word, following) else None
    if following not in {"IN", "TO"} or inside & {"VBN", "VBD"} or grammar.has_scope(chain):
        return None
    main = next(i for i in range(bones.rest - 1, bones.verb, -1) if words[i].tag in {"VBN", "VBD"})
    return tuple(words[bones.verb : main])


def _joins_past(words: list[Word], bones: Skeleton, word: Word, following: str, inside: set[str]) -> bool:
    """Whether a past form is a second finite verb of the subject."""
    first = words[bones.verb].tag
    if word.tag == "VBN" and not (
        first == "VBD" and (grammar.never_passive(word) or following in {"DT", "PRP$"})  # a participle takes no object
    ):
        return False
    if grammar.doubtful(word, following):
        return False
    unclear = grammar.is_past_participle_form(word) and following not in _OBJECT
    if unclear and (first in {"VBZ", "VBP"} or inside & {"VBN", "VBD"}):
        return False
    return grammar.agrees(words[bones.subject : bones.verb], word)


def _joins_present(words: list[Word], bones: Skeleton, word: Word, following: str) -> bool:
    """Whether a present form is a second finite verb of the subject, and not a plural noun."""
    subject = words[bones.subject : bones.verb]
    if word.tag == "VBZ":
        sure = word.low in {"is", "has", "does"} or following in _AFTER_VERB | {"VBN", "VBG", "NNP"}
        return sure and grammar.agrees(subject, word)
    if word.tag == "VBP":
        sure = word.low in {"are", "have", "do"} or (words[bones.verb].tag == "VBP" and following in _AFTER_VERB)
        return sure and grammar.agrees(subject, word) and grammar.is_plural(subject) is not False
    return False
