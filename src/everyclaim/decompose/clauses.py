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
from everyclaim.decompose.circumstances import where_and_when
from everyclaim.decompose.grammar import FINITE, NOUNS, RELATIVES, Skeleton, word_set
from everyclaim.decompose.predicates import JOINERS, Piece, predicates
from everyclaim.text.tagger import Word, tag

MAX_CHARACTERS = 1200  # a "sentence" longer than this is a list or a dump, not a sentence to take apart
_TRIGGER = re.compile(r"\b(?:and|but|who|which|that)\b|;|,\s+(?:an?|the|born)\s", re.IGNORECASE)
_END = re.compile(r"(?:\s*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|\s*[.!;,…])+\s*$")
_WHOLE_SITUATION = word_set(  # after ", which", these speak of the whole statement before
    "means meant led leads lead allowed allows made makes caused causes resulted results helped helps gave gives "
    "enabled enables ensures ensured explains suggests contributes contributed brought brings forced requires "
    "required prompted happened happens occurred occurs takes took can may might could should would will"
)


class Clause(NamedTuple):
    """A readable statement and where its own words stand in the sentence."""

    text: str
    start: int
    end: int


def clauses(sentence: str) -> list[Clause]:
    """Split an English sentence into clauses, in order; one clause, the sentence, when unsure."""
    if len(sentence) > MAX_CHARACTERS:
        return [Clause(sentence, 0, len(sentence))]
    return [part for clause in _clauses(sentence) for part in _by_circumstance(clause, sentence)]


def _by_circumstance(clause: Clause, sentence: str) -> list[Clause]:
    """The place and the date of a once-only event apart, else the clause."""
    parts = where_and_when(clause.text)
    if parts is None or "." in clause.text[:-1].strip():
        return [clause]
    shift = clause.start if sentence.startswith(clause.text.rstrip("."), clause.start) else None
    if shift is None:  # a carried subject: both parts stand where the clause stands
        return [Clause(part.text, clause.start, clause.end) for part in parts]
    return [Clause(part.text, shift + part.start, shift + part.end) for part in parts]


def _clauses(sentence: str) -> list[Clause]:
    whole = [Clause(sentence, 0, len(sentence))]
    if _TRIGGER.search(sentence) is None:
        return whole
    cut = _END.search(sentence)
    words = _opaque(tag(sentence[: cut.start()] if cut else sentence))
    if words is None or len(words) < 6 or grammar.stays_whole(words):
        return whole
    pieces = _split(words)
    if len(pieces) < 2:
        return whole
    found = [_clause(piece) for piece in pieces]
    if any(not holds_only(clause.text, sentence) for clause in found):
        return whole
    return sorted(found, key=lambda clause: (clause.start, clause.end))


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


def _split(words: list[Word]) -> list[Piece]:
    """The pieces of a sentence: at semicolons first, then clause by clause."""
    cuts = [index for index, word in enumerate(words) if word.low == ";"]
    if not cuts:
        return _clause_pieces(words)
    parts = [words[a:b] for a, b in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(words)], strict=True)]
    if any(not part or grammar.skeleton(part) is None for part in parts):
        return []
    return [piece for part in parts for piece in _clause_pieces(part)]


def _clause_pieces(words: list[Word], depth: int = 0) -> list[Piece]:
    """The pieces of one stretch between semicolons."""
    whole = [Piece((), tuple(words))]
    inner, words = _inserted(words)
    bones = grammar.skeleton(words)
    if bones is None:
        return whole if not inner else [inner, Piece((), tuple(words))]
    first = [inner] if inner else []
    for index in range(bones.rest, len(words) - 3):
        pair = _clause_boundary(words, bones, index)
        if pair and depth < 4:
            left, right = pair
            carried = _carried_subject(left, bones, right)
            return [*first, *_clause_pieces(left, depth + 1), *_with_subject(right, carried, depth + 1)]
    return [*first, *_single(words, bones)]


def _with_subject(right: list[Word], subject: Sequence[Word], depth: int) -> list[Piece]:
    """The pieces of a clause, its leading pronoun replaced by the words it stands for."""
    if not subject:
        return _clause_pieces(right, depth)
    return [
        Piece((*subject, *piece.carried[1:]), piece.own) if piece.carried else Piece(tuple(subject), piece.own[1:])
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


def _inserted(words: list[Word]) -> tuple[Piece | None, list[Word]]:
    """Take out what stands between commas behind the subject: ", who ...," ", a German physicist,"."""
    commas = [index for index, word in enumerate(words) if word.low == ","]
    if len(commas) < 2:
        return None, words
    opening, closing = commas[0], commas[1]
    subject, inner, after = words[:opening], words[opening + 1 : closing], words[closing + 1 :]
    verb = next((word for word in after if word.tag != "RB"), None)
    if not subject or not inner or verb is None or verb.tag not in FINITE or not grammar.agrees(subject, verb):
        return None, words
    if subject[0].tag not in NOUNS | {"DT", "PRP$", "JJ"} or subject[0].low in {"a", "an", "no", "some", "any"}:
        return None, words
    if any(word.tag not in NOUNS | {"DT", "PRP$", "JJ", "POS", "CD", "HYPH", "X"} for word in subject):
        return None, words
    remaining = [*subject, *after]
    if inner[0].low in {"who", "which"} and len(inner) > 2:
        start = next((i for i in range(1, len(inner)) if inner[i].tag != "RB"), 1)
        simple = inner[start].tag in FINITE and not any(
            word.tag in FINITE or word.low in RELATIVES for word in inner[grammar.chain_end(inner, start) :]
        )
        if simple and grammar.agrees(subject, inner[start]):
            return Piece(tuple(subject), tuple(inner[1:])), remaining
        return None, words
    known = next((word for word in inner if word.tag not in {"RB", "RBR", "RBS"}), inner[0])
    if known.low in {"born", "known", "called", "nicknamed"} and len(inner) > 2:
        if any(word.tag in FINITE for word in inner):
            return None, words
        past = known.low == "born" or verb.tag == "VBD"
        return Piece((*subject, _added("was" if past else "is")), tuple(inner)), remaining
    if subject[-1].tag == "NN" and subject[0].tag in {"DT", "PRP$", "NNP"} and all(w.tag == "NNP" for w in inner):
        return Piece((*subject, _added("was" if verb.tag == "VBD" else "is")), tuple(inner)), remaining
    named = any(word.tag in {"NNP", "NNPS"} for word in subject) and grammar.is_plural(subject) is False
    nominal = all(word.tag in NOUNS | {"DT", "JJ", "JJS", "IN", "CD", "HYPH", "POS", "PRP$", "VBN"} for word in inner)
    if named and nominal and inner[0].low in {"a", "an", "the"} and inner[-1].tag in NOUNS and len(inner) > 1:
        copula = _added("was" if verb.tag == "VBD" else "is")
        return Piece((*subject, copula), tuple(inner)), remaining
    return None, words


def _added(text: str) -> Word:
    """A copula that the sentence leaves out."""
    return Word(text, -1, -1, "VBD" if text == "was" else "VBZ", text)


def _single(words: list[Word], bones: Skeleton) -> list[Piece]:
    """The pieces of a clause with one subject: its predicates, and a relative clause at its end."""
    cut, antecedent = _relative(words, bones)
    if cut is None:
        return predicates(words, bones)
    start = cut + 1
    body = words[start:]
    rest = grammar.chain_end(body, next((i for i, word in enumerate(body) if word.tag != "RB"), 0))
    head = words[: cut - 1] if words[cut - 1].low == "," else words[:cut]
    main = predicates(head, bones)
    bodied = [*antecedent, *body]
    inner = predicates(bodied, Skeleton(0, len(antecedent), len(antecedent) + rest))
    relative = [piece if piece.carried else Piece(tuple(antecedent), piece.own[len(antecedent) :]) for piece in inner]
    return [*main, *relative]


def _relative(words: list[Word], bones: Skeleton) -> tuple[int | None, Sequence[Word]]:
    """The place of a final relative pronoun that can be split off, and what it stands for."""
    nothing: tuple[None, Sequence[Word]] = (None, ())
    cut = next((i for i in range(bones.rest, len(words)) if words[i].low in RELATIVES), None)
    if cut is None or words[cut].low not in {"who", "which", "that"} or cut + 2 >= len(words):
        return nothing
    body = words[cut + 1 :]
    verb = next((word for word in body if word.tag != "RB"), None)
    if verb is None or verb.tag not in FINITE or any(word.low in RELATIVES for word in body):
        return nothing
    if any(word.tag in FINITE for word in words[bones.rest : cut]):
        return nothing
    subject = words[bones.subject : bones.verb]
    comma = words[cut - 1].low == ","
    end = cut - 1 if comma else cut
    start = grammar.noun_phrase_start(words, end)
    phrase = words[start:end]
    if not phrase or phrase[-1].tag not in NOUNS:
        return nothing
    if grammar.is_copula(words, bones) and _describes(words[bones.rest : end], by_who=words[cut].low == "who"):
        vague = subject[0].low in {"it", "this", "that", "there", "these", "those", "what"}
        empty = phrase[-1].low in {"one", "someone", "something", "person", "thing", "way"}
        if vague or empty or grammar.has_scope(words[bones.verb : bones.rest]) or not grammar.agrees(subject, verb):
            return nothing
        return cut, subject
    if not comma or words[cut].low == "that" or any(word.low in {",", *JOINERS} for word in body):
        return nothing
    if words[cut].low == "which" and verb.low in _WHOLE_SITUATION:
        return nothing
    if phrase[0].low in {"a", "an", "some", "any", "no", "another"} or not grammar.agrees(phrase, verb):
        return nothing
    before = words[start - 1]
    attached = before.tag.startswith("VB") or (before.tag == "IN" and words[start - 2].tag.startswith("VB"))
    return (cut, phrase) if attached and before.low != "of" else nothing


def _describes(phrase: Sequence[Word], *, by_who: bool) -> bool:
    """Whether "a ..." behind a copula describes the subject alone, so that its relative clause does too."""
    if phrase[0].low not in {"a", "an"}:
        return False
    for index, word in enumerate(phrase[1:], 1):
        if word.tag in {"IN", "CC", ","} and by_who:
            following = phrase[index + 1].tag if index + 1 < len(phrase) else ""
            if word.low == "of" and following in {"DT", "NNP", "PRP$", "CD", "NNS"}:
                return False  # "a brother of John who": which of the two?
            if word.tag == "IN" and following in {"CD", "PRP$"}:
                return False
        elif word.tag not in NOUNS | {"JJ", "JJR", "HYPH", "CD", "VBN", "VBG", "POS", "RB"} and not (
            word.low == "the" and phrase[index - 1].low in {"in", "from", "at"}
        ):
            return False
    return True


def _clause(piece: Piece) -> Clause:
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
            tight = near or (word.low in {",", ".", ";", ":", ")"} and previous.end < 0)
            text += "" if tight else " "
        text += word.text
        previous = word
    if text and (*piece.carried, *own)[0].text.islower():
        text = text[0].upper() + text[1:]
    stop = "" if text.rstrip("\"'”’)").endswith((".", "!", "?")) else "."
    return Clause(f"{text}{stop}", own[0].start, own[-1].end)
