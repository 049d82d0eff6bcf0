"""Sentence → clauses that can each be read and checked alone; the sentence itself when unsure.

Splits: predicates that share a subject, clauses with subjects of their own, relative clauses and
appositions. A clause is put together from pieces of the sentence, word for word; the only words
ever added are *is* and *was* between a name and its apposition. `holds_only` checks that (rule 9).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from everyclaim.decompose import grammar
from everyclaim.decompose.adjuncts import where_and_when
from everyclaim.decompose.coordination import JOINERS, ClauseWords, predicates
from everyclaim.decompose.grammar import RELATIVES, Skeleton
from everyclaim.decompose.parentheticals import insertion, main_words, relative_clause
from everyclaim.text.tagger import FINITE, NOUNS, Word, tag

MAX_CHARACTERS = 1200  # a "sentence" longer than this is a list or a dump, not a sentence to take apart
_TRIGGER = re.compile(r"\b(?:and|but|who|which|that)\b|;|,\s+(?:an?|the|born)\s", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\w{2,}(?:\(\)|\.\w|_\w)")  # code, whose case tells
_END = re.compile(r"(?:\s*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|\s*[.!;,…])+\s*$")


class Clause(NamedTuple):
    """A readable statement and where its own words stand in the sentence."""

    text: str
    start: int
    end: int


def clauses(sentence: str, *, keep_asides: bool = True) -> list[Clause]:
    """Split an English sentence into clauses, in order; one clause, the sentence, when unsure.

    Without `keep_asides`, what `without_asides` leaves out is in none of them.
    """
    if len(sentence) > MAX_CHARACTERS:
        return [Clause(sentence, 0, len(sentence))]
    found = _clauses(sentence, keep_asides=keep_asides)
    return [part for clause in found for part in _by_circumstance(clause, sentence)]


def without_asides(sentence: str) -> Clause:
    """Return an English sentence without what only adds to it; the sentence itself when unsure.

    Left out are brackets, what is inserted behind the subject (", who ...,", ", a German physicist,"), and a final
    relative clause that could stand alone.
    """
    words = _readable(sentence)
    main = main_words(words) if words else []
    if not words or len(main) == len(words):
        return Clause(sentence, 0, len(sentence))
    return _clause(ClauseWords((), tuple(main)))


def asides(sentence: str) -> list[tuple[int, int]]:
    """Return the stretches that `without_asides` leaves out, as offsets."""
    words = _readable(sentence) or []
    kept = {word.start for word in main_words(words)} if words else set()
    found: list[tuple[int, int]] = []
    before = True
    for word in words:
        if word.start not in kept:
            start = word.start if before else found.pop()[0]
            found.append((start, word.end))
        before = word.start in kept
    return found


def _by_circumstance(clause: Clause, sentence: str) -> list[Clause]:
    """The place and the date of a once-only event apart, else the clause."""
    parts = where_and_when(clause.text)
    if parts is None or "." in clause.text[:-1].strip():
        return [clause]
    shift = clause.start if sentence.startswith(clause.text.rstrip("."), clause.start) else None
    if shift is None:  # a carried subject: both parts stand where the clause stands
        return [Clause(part.text, clause.start, clause.end) for part in parts]
    return [Clause(part.text, shift + part.start, shift + part.end) for part in parts]


def _clauses(sentence: str, *, keep_asides: bool) -> list[Clause]:
    whole = [Clause(sentence, 0, len(sentence)) if keep_asides else without_asides(sentence)]
    if _TRIGGER.search(sentence) is None:
        return whole
    words = _readable(sentence)
    if words is None:
        return whole
    pieces = _split(words if keep_asides else main_words(words))
    if len(pieces) < 2:
        return whole
    found = [_clause(piece) for piece in pieces]
    if any(not holds_only(clause.text, sentence) for clause in found):
        return whole
    return sorted(found, key=lambda clause: (clause.start, clause.end))


def _readable(sentence: str) -> list[Word] | None:
    """The words of a sentence that may be taken apart, without its full stop; None for all others."""
    if len(sentence) > MAX_CHARACTERS:
        return None
    cut = _END.search(sentence)
    words = _opaque(tag(sentence[: cut.start()] if cut else sentence))
    return None if words is None or len(words) < 6 or grammar.stays_whole(words) else words


def holds_only(claim: str, sentence: str) -> bool:
    """Whether every word and number of a claim stands in its sentence (rule 9), copulas apart."""
    allowed = Counter(_tokens(sentence))
    return all(allowed[token] > 0 or token in {"is", "was"} for token in _tokens(claim))


def _tokens(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,:]\d+)*|[^\W\d_]+|[%$€£¥°]", text.lower())


def _opaque(words: list[Word]) -> list[Word] | None:
    """Make quotes and brackets opaque names, so that nothing is split inside; None when one never closes."""
    result: list[Word] = []
    closer, opened = "", 0
    for index, word in enumerate(words):
        if closer:
            result.append(word._replace(tag="NNP" if closer in {'"', "''"} else "X", low=f"\x00{word.low}"))
            if word.low in {closer, '"'} if closer == "''" else word.low == closer:
                if closer in {'"', "''"} and any(w.tag in FINITE for w in words[opened:index]) and index - opened > 8:
                    return None
                closer = ""
            continue
        if word.low in {'"', "``", "(", "[", "'"}:
            if word.low == "'":
                return None
            closer, opened = {'"': '"', "``": "''", "(": ")", "[": "]"}[word.low], index
            result.append(word._replace(tag="NNP" if closer in {'"', "''"} else "X", low=f"\x00{word.low}"))
        else:
            result.append(word)
    return None if closer else result


def _split(words: list[Word]) -> list[ClauseWords]:
    """The pieces of a sentence: at semicolons first, then clause by clause."""
    cuts = [index for index, word in enumerate(words) if word.low == ";"]
    if not cuts:
        return _clause_pieces(words)
    parts = [words[a:b] for a, b in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(words)], strict=True)]
    if any(not part or grammar.skeleton(part) is None for part in parts):
        return []
    return [piece for part in parts for piece in _clause_pieces(part)]


def _clause_pieces(words: list[Word], depth: int = 0) -> list[ClauseWords]:
    """The pieces of one stretch between semicolons."""
    whole = [ClauseWords((), tuple(words))]
    inner, words = insertion(words)
    bones = grammar.skeleton(words)
    if bones is None:
        return whole if not inner else [inner, ClauseWords((), tuple(words))]
    first = [inner] if inner else []
    for index in range(bones.rest, len(words) - 3):
        pair = _clause_boundary(words, bones, index)
        if pair and depth < 4:
            left, right = pair
            carried = _carried_subject(left, bones, right)
            return [*first, *_clause_pieces(left, depth + 1), *_with_subject(right, carried, depth + 1)]
    return [*first, *_single(words, bones)]


def _with_subject(right: list[Word], subject: Sequence[Word], depth: int) -> list[ClauseWords]:
    """The pieces of a clause, its leading pronoun replaced by the words it stands for."""
    if not subject:
        return _clause_pieces(right, depth)
    return [
        ClauseWords((*subject, *piece.carried[1:]), piece.own)
        if piece.carried
        else ClauseWords(tuple(subject), piece.own[1:])
        for piece in _clause_pieces(right, depth)
        if piece.own
    ]


def _clause_boundary(words: list[Word], bones: Skeleton, index: int) -> tuple[list[Word], list[Word]] | None:
    """The two clauses around a joiner at `index`, when both surely have a subject and a verb."""
    if words[index].low not in JOINERS:
        return None
    comma = words[index - 1].low == ","
    left = words[: index - 1] if comma else words[:index]
    right = words[index + 1 :]
    if any(word.low in RELATIVES or word.tag in {"WDT", "WP", "WRB"} for word in left[bones.rest :]):
        return None
    if bones.rest >= len(left):  # a bare verb: its object may come later
        return None
    other = grammar.skeleton(right)
    if other is None or other.subject != 0 or _is_elliptic(right, other):
        return None
    subject = right[: other.verb]
    if len(subject) > 7 or any(word.low in JOINERS or word.tag in {"TO", "VBG"} for word in subject):
        return None
    if not grammar.agrees(subject, right[other.verb]):
        return None
    if any(word.low in {"too", "likewise", "vice", "so", "also"} for word in right[:2]):
        return None
    nominative = subject[0].low in {"he", "she", "they", "we", "i"} or (subject[0].low == "it" and len(subject) == 1)
    if not comma and not nominative:
        if any(word.tag == "IN" for word in subject[1:]) or any(w.tag in FINITE for w in left[bones.rest :]):
            return None
        if left[-1].tag in {"IN", "TO", "DT", "JJ"}:
            return None
    if _shared_with_list(left, bones):
        return None
    return left, right


def _is_elliptic(words: list[Word], bones: Skeleton) -> bool:
    """Whether a clause leaves its main verb to the one before ("but they were not")."""
    main = next((word for word in reversed(words[bones.verb : bones.rest]) if word.tag != "RB"), None)
    helps = main is None or main.tag == "MD" or main.low in grammar.AUXILIARIES
    return helps and all(word.tag in {"RB", ","} for word in words[bones.rest :])


def _shared_with_list(left: list[Word], bones: Skeleton) -> bool:
    """Whether the left side may be the start of a list of nouns ("likes A, B, and C ...")."""
    return any(word.low == "," and nxt.tag in NOUNS for word, nxt in pairwise(left[bones.rest :]))


def _carried_subject(left: list[Word], bones: Skeleton, right: list[Word]) -> Sequence[Word]:
    """The left subject, when a pronoun that opens the right clause can stand for nothing else."""
    subject = left[bones.subject : bones.verb]
    pronoun = right[0].low
    if subject[-1].tag == "PRP" or any(word.tag == "POS" for word in subject):
        return ()
    rest = left[bones.rest :]
    after_verb_noun = rest[0].tag in NOUNS | {"DT", "PRP$", "JJ", "CD"} and not grammar.is_copula(left, bones)
    plural = grammar.is_plural(subject)
    if pronoun == "it":
        fits = plural is False and not after_verb_noun
    elif pronoun == "they":
        fits = plural is True and not after_verb_noun
    elif pronoun in {"he", "she"}:
        others = [i for i, word in enumerate(rest) if word.tag == "NNP" and (i == 0 or rest[i - 1].tag != "NNP")]
        fits = all(word.tag == "NNP" for word in subject) and all(
            i and rest[i - 1].low in {"in", "at", "on", "from", "to"} for i in others
        )
    else:
        fits = False
    return subject if fits else ()


def _single(words: list[Word], bones: Skeleton) -> list[ClauseWords]:
    """The pieces of a clause with one subject: its predicates, and a relative clause at its end."""
    cut, antecedent = relative_clause(words, bones)
    if cut is None:
        return predicates(words, bones)
    start = cut + 1
    body = words[start:]
    rest = grammar.chain_end(body, next((i for i, word in enumerate(body) if word.tag != "RB"), 0))
    head = words[: cut - 1] if words[cut - 1].low == "," else words[:cut]
    main = predicates(head, bones)
    bodied = [*antecedent, *body]
    inner = predicates(bodied, Skeleton(0, len(antecedent), len(antecedent) + rest))
    relative = [
        piece if piece.carried else ClauseWords(tuple(antecedent), piece.own[len(antecedent) :]) for piece in inner
    ]
    return [*main, *relative]


def _clause(piece: ClauseWords) -> Clause:
    """Put the words of a piece together as a readable sentence."""
    own = list(piece.own)
    while own and own[0].low == ",":
        own = own[1:]
    while own and own[-1].low == ",":
        own = own[:-1]
    text = ""
    previous: Word | None = None
    for word in (*piece.carried, *own):
        if previous is not None:
            near = previous.end == word.start and word.start >= 0
            tight = near or word.low in {",", ";"} or (word.low in {".", ":", ")"} and previous.end < 0)
            text += "" if tight else " "
        text += word.text
        previous = word
    if text and (*piece.carried, *own)[0].text.islower() and not _IDENTIFIER.match(text):
        text = text[0].upper() + text[1:]
    stop = "" if text.rstrip("\"'”’)").endswith((".", "!", "?")) else "."
    return Clause(f"{text}{stop}", own[0].start, own[-1].end)
