"""What the clause splitter must know of English: subjects, verb chains, and what forbids a split.

Everything works on tagged words (`text.tagger.Word`). When a sentence does not fit the few shapes
known here the answer is None, and the sentence stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from everyclaim.text.tagger import FINITE, NOUNS, Word


def word_set(text: str) -> frozenset[str]:
    """Read a set of words written as one text."""
    return frozenset(text.split())


RELATIVES = frozenset({"who", "which", "that", "whom", "whose", "where", "what", "how", "why"})
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s", "'re"})
AUXILIARIES = BE | {"do", "does", "did", "has", "have", "had"}
_NOMINAL = NOUNS | {"DT", "JJ", "JJR", "JJS", "CD", "PRP$", "POS", "HYPH", "$", "VBN", "VBG", "PDT", ","}
_SUBJECT = _NOMINAL - {","} | {"PRP", "EX", "IN", "CC", "TO", "SYM", "NFP", "X", "RB"}
_SUBJECT_START = NOUNS | {"DT", "JJ", "JJS", "JJR", "CD", "PRP$", "PRP", "EX", "VBG", "PDT", "$", "VBN"}

# A sentence that holds one of these is judged as it stands: the parts would say something else.
_WHOLE = word_set(
    "if unless when whenever whether provided assuming until once than neither nor either respectively versus vs "
    "because although though despite while whereas since so lest except without otherwise instead rather "
    "according reportedly allegedly supposedly purportedly apparently"
)
_REPORTING = word_set(
    "say says said saying claim claims claimed argue argues argued believe believes believed think thinks thought "
    "suggest suggests suggested state states stated report reports reported announce announces announced "
    "tell tells told add adds assert asserts asserted allege alleges alleged deny denies denied admit admits admitted "
    "suspect suspects suspected insist insists insisted estimate estimates note notes noted warn warns warned "
    "conclude concludes concluded propose proposes proposed predict predicts predicted expect expects "
    "doubt doubts doubted explain explains explained confirm confirms confirmed maintain maintains maintained "
    "acknowledge acknowledges acknowledged hope hopes hoped imply implies implied indicate indicates indicated "
    "write writes mention mentions mentioned recommend recommends recommended ask asks asked "
    "know knows knew find finds show shows showed demonstrate demonstrates demonstrated reveal reveals revealed "
    "ensure ensures ensured mean means feel feels felt hear heard"
)
_SCOPE = word_set(
    "not n't never no hardly barely rarely seldom only both possibly probably perhaps maybe likely potentially "
    "might could would may"
)

# Past forms that cannot be participles, and past forms of verbs that have no passive.
_PAST_ONLY = word_set(
    "was were had did became went began wrote took gave knew came saw ran drew grew flew spoke rose fell broke chose "
    "drove ate sang swam wore threw forgot showed"
)
_NO_PASSIVE = word_set(
    "died moved lived worked served graduated retired emigrated migrated remained returned appeared starred resigned "
    "arrived resided belonged existed happened occurred disappeared debuted participated competed travelled traveled "
    "enrolled ranked lasted"
)
_TWO_OBJECTS = word_set(
    "assigned given awarded granted offered named elected called paid sent taught told shown appointed made declared "
    "considered dubbed crowned"
)
_TAKES_BARE_NOUN = word_set(
    "studied received earned attended joined gained played hosted featured included defeated married entered visited "
    "represented supported released starred"
)


class Skeleton(NamedTuple):
    """A clause taken apart: ``words[:subject]`` leads in, then the subject, the verb chain, the rest."""

    subject: int
    verb: int
    rest: int  # first word after the verb chain


def stays_whole(words: Sequence[Word]) -> bool:
    """Whether anything in a sentence forbids splitting it at all (rule 9)."""
    lows = [word.low for word in words]
    for index, low in enumerate(lows):
        if low in _WHOLE or (low in _REPORTING and words[index].tag.startswith("VB")):
            return True
        if low == "as" and "as" in lows[index + 2 : index + 5]:
            return True
        if low == "that" and index and words[index - 1].tag in FINITE | {"JJ", "VBN", "VBG"}:
            return True
        if low in {"not", "n't"} and "only" in lows[index + 1 : index + 3]:
            return True
        if low == "only" and index + 1 < len(lows) and lows[index + 1] == "the":
            return True
        if low in {"as", "in"} and lows[index + 1 : index + 2] in (["long"], ["soon"], ["case"], ["order"]):
            return True
    return False


def skeleton(words: Sequence[Word]) -> Skeleton | None:
    """Find the lead, the subject and the verb chain of one clause; None when unsure."""
    subject = _lead(words)
    if subject is None or subject >= len(words) or words[subject].tag not in _SUBJECT_START:
        return None
    verb = next((i for i in range(subject, len(words)) if words[i].tag in FINITE), None)
    if verb is None or verb == subject:
        return None
    while verb - 1 > subject and words[verb - 1].tag == "RB":
        verb -= 1  # "X later moved": the adverb goes with the verb
    inside = words[subject:verb]
    if any(word.tag not in _SUBJECT or word.low in RELATIVES for word in inside):
        return None
    if len(inside) > 1 and any(word.tag == "PRP" for word in inside):
        return None  # "the film I love": a relative clause without its pronoun
    if not any(word.tag in NOUNS or word.tag in {"PRP", "CD", "VBG", "DT"} for word in inside):
        return None
    rest = chain_end(words, verb)
    return Skeleton(subject, verb, rest)


def chain_end(words: Sequence[Word], verb: int) -> int:
    """Where the verb chain that begins at `verb` ends: auxiliaries, adverbs among them, the main verb."""
    index = verb
    end = verb
    while index < len(words):
        word = words[index]
        if word.tag in FINITE or word.tag in {"VB", "VBN", "VBG"}:
            if end > verb and not _takes(words[end - 1], word):
                break
            index += 1
            end = index
        elif word.tag == "RB":
            index += 1
            if index - end > 2:
                break
        else:
            break
    return end


def _takes(auxiliary: Word, word: Word) -> bool:
    """Whether a verb form can follow an auxiliary in one chain ("has been built")."""
    low = auxiliary.low
    if auxiliary.tag == "MD" or low in {"do", "does", "did"}:
        return word.tag in {"VB", "VBP"}
    if low in BE:
        return word.tag in {"VBN", "VBG", "VBD"}
    return low in {"has", "have", "had", "'ve"} and word.tag in {"VBN", "VBD"}


def _lead(words: Sequence[Word]) -> int | None:
    """Where the subject begins: 0, or after an opening phrase closed by a comma ("In 1905, ...")."""
    if not words:
        return None
    if words[0].tag not in {"IN", "TO", "RB", "JJ", "RBS"} or (
        words[0].tag == "JJ" and words[1:2] and words[1].tag != ","
    ):
        return 0
    for index, word in enumerate(words[:16]):
        if word.tag in FINITE or word.low in RELATIVES:
            break
        if word.low == "," and index + 1 < len(words) and words[index + 1].tag in _SUBJECT_START:
            following = words[index + 2] if index + 2 < len(words) else None
            if words[index + 1].tag == "CD" and following is not None and following.low == ",":
                continue  # "In May 5, 1950, ..."
            return index + 1
    pronoun = next((i for i, word in enumerate(words[:6]) if word.tag == "PRP"), None)
    if words[0].tag == "IN" and pronoun is not None and all(w.tag not in FINITE for w in words[:pronoun]):
        return pronoun
    return None


def is_plural(subject: Sequence[Word]) -> bool | None:
    """Whether a subject takes a plural verb; None when the words do not tell."""
    if any(word.low == "and" for word in subject):
        return True
    head = subject
    for index, word in enumerate(subject):
        if index and word.tag == "IN":
            head = subject[:index]
            break
    last = head[-1]
    if last.tag == "PRP":
        return last.low in {"they", "we", "you", "i"}
    if last.tag in {"NNS", "NNPS"}:
        return True
    return False if last.tag in {"NN", "NNP"} else None


def agrees(subject: Sequence[Word], verb: Word) -> bool:
    """Whether a finite verb can have this subject."""
    plural = is_plural(subject)
    if plural is None or verb.tag == "MD":
        return True
    if verb.low in {"was", "is", "has", "does"} or verb.tag == "VBZ":
        titled = subject[-1].tag == "NNPS" and not any(word.low == "and" for word in subject)
        return not plural or titled  # "The Netherlands is"
    if verb.low == "were" or verb.tag == "VBP":
        return plural
    return True


def is_past_participle_form(word: Word) -> bool:
    """Whether a past form could as well be a participle ("built", "owned")."""
    return word.low not in _PAST_ONLY and word.low not in _NO_PASSIVE


def doubtful(word: Word, following: str) -> bool:
    """Whether a past form before `following` (a tag) may be an adjective or a passive with an object."""
    if word.low in _TWO_OBJECTS:
        return True
    bare = following in {"NN", "NNS", "JJ", "NNP", "NNPS"} and word.low not in _TAKES_BARE_NOUN
    return bare and (word.low.endswith("ed") or word.low in {"left", "lost", "set", "cut", "found", "broken"})


def never_passive(word: Word) -> bool:
    """Whether a past form is of a verb without a passive, so that it must be finite."""
    return word.low in _NO_PASSIVE or word.low in _PAST_ONLY


def has_scope(words: Sequence[Word]) -> bool:
    """Whether a verb chain holds a negation or a hedge that reaches over what is joined to it."""
    return any(word.low in _SCOPE for word in words)


def noun_phrase_start(words: Sequence[Word], end: int) -> int:
    """Where the plain noun phrase that ends before `end` begins (equal to `end` when there is none)."""
    start = end
    while start > 0 and words[start - 1].tag in _NOMINAL - {","}:
        start -= 1
        if words[start].tag in {"DT", "PRP$"}:
            break
    while start < end and words[start].tag in {"VBN", "VBG", "POS", "HYPH"}:
        start += 1
    return start


def is_passive(words: Sequence[Word], bones: Skeleton) -> bool:
    """Whether the main verb is a participle behind a form of *be*."""
    chain = words[bones.verb : bones.rest]
    return len(chain) > 1 and chain[-1].tag in {"VBN", "VBD"} and any(word.low in BE for word in chain[:-1])


def is_copula(words: Sequence[Word], bones: Skeleton) -> bool:
    """Whether the verb chain is a bare form of *be*."""
    chain = [word for word in words[bones.verb : bones.rest] if word.tag != "RB"]
    return len(chain) == 1 and chain[0].low in BE
