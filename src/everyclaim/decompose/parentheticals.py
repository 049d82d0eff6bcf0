"""What in a sentence only adds to it: brackets, insertions behind the subject, a relative clause at the end.

Each can stand alone as a claim of its own, or be left out without changing what the rest says.
"""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.decompose import grammar
from everyclaim.decompose.coordination import JOINERS, ClauseWords
from everyclaim.decompose.grammar import RELATIVES, Skeleton, word_set
from everyclaim.text.tagger import FINITE, NOUNS, Word

_WHOLE_SITUATION = word_set(  # after ", which", these speak of the whole statement before
    "means meant led leads lead allowed allows made makes caused causes resulted results helped helps gave gives "
    "enabled enables ensures ensured explains suggests contributes contributed brought brings forced requires "
    "required prompted happened happens occurred occurs takes took can may might could should would will"
)


def main_words(words: list[Word]) -> list[Word]:
    """The words without asides; all of them when nothing is surely one."""
    plain = [word for word, inside in zip(words, _bracketed(words), strict=True) if not inside]
    if not any(word.tag in FINITE for word in plain):
        return words  # a label, a formula: the brackets may be all it says
    plain = insertion(plain)[1]
    bones = grammar.skeleton(plain)
    cut = relative_clause(plain, bones)[0] if bones else None
    if cut is not None:
        plain = plain[: cut - 1] if plain[cut - 1].low == "," else plain[:cut]
    return plain


def _bracketed(words: list[Word]) -> list[bool]:
    """For every word, whether it stands in brackets or is one; `_opaque` has checked that they close."""
    depth, found = 0, []
    for word in words:
        low = word.low.removeprefix("\x00")
        depth += low in {"(", "["}
        found.append(depth > 0)
        depth -= low in {")", "]"} and depth > 0
    return found


def insertion(words: list[Word]) -> tuple[ClauseWords | None, list[Word]]:
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
            return ClauseWords(tuple(subject), tuple(inner[1:])), remaining
        return None, words
    known = next((word for word in inner if word.tag not in {"RB", "RBR", "RBS"}), inner[0])
    if known.low in {"born", "known", "called", "nicknamed"} and len(inner) > 2:
        if any(word.tag in FINITE for word in inner):
            return None, words
        past = known.low == "born" or verb.tag == "VBD"
        return ClauseWords((*subject, _added("was" if past else "is")), tuple(inner)), remaining
    if subject[-1].tag == "NN" and subject[0].tag in {"DT", "PRP$", "NNP"} and all(w.tag == "NNP" for w in inner):
        return ClauseWords((*subject, _added("was" if verb.tag == "VBD" else "is")), tuple(inner)), remaining
    named = any(word.tag in {"NNP", "NNPS"} for word in subject) and grammar.is_plural(subject) is False
    nominal = all(word.tag in NOUNS | {"DT", "JJ", "JJS", "IN", "CD", "HYPH", "POS", "PRP$", "VBN"} for word in inner)
    if named and nominal and inner[0].low in {"a", "an", "the"} and inner[-1].tag in NOUNS and len(inner) > 1:
        copula = _added("was" if verb.tag == "VBD" else "is")
        return ClauseWords((*subject, copula), tuple(inner)), remaining
    return None, words


def relative_clause(words: list[Word], bones: Skeleton) -> tuple[int | None, Sequence[Word]]:
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


def _added(text: str) -> Word:
    """A copula that the sentence leaves out."""
    return Word(text, -1, -1, "VBD" if text == "was" else "VBZ", text)
