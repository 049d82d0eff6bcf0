"""Does a stretch of text assert something about the world, or does it only speak of the conversation?

What looks like a refusal, small talk or a question is skipped only when nothing in it asserts (rule 14). So the tests
here lean the other way than the clause splitter's: when unsure, it asserts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.tagger import FINITE, NOUNS, Word, tag
from everyclaim.text.tokens import word_set

_RELATIVES = frozenset({"who", "which", "that", "whom", "whose", "where", "what", "how", "why"})
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s", "'re"})
_LONGEST = 400  # characters that are looked at
_MANY = 4  # words; so many in another language are taken to assert
_OPEN = word_set(
    "if whether when whenever where wherever why how what which who whom whose unless until once before after"
)
_LEADING = re.compile(
    r"(?:[\W_]+|(?:but|and|so|or|nor|however|although|though|yet|because|since|as|while|also|plus|that|therefore|then|"
    r"still|except|nevertheless|nonetheless|moreover|besides|instead|thus|hence|meaning|i\.e\.|"
    r"in fact|actually|otherwise|well|now)\b)*",
    re.IGNORECASE,
)
# Verbs of what one does with an answer: "you can ask", "the documents only cover", "I could not find".
_TALK = word_set(
    """
    ask asks check consult contact see visit refer provide provided rephrase clarify specify find look want wanted
    need needed like have has had let reach feel search share shared wish speak talk try read review know mean help
    helps assist answer answers apologize apologise do does did cover covers covered mention mentions mentioned
    discuss discusses discussed contain contains contained focus focuses focused describe describes described
    include includes included address addresses addressed state states stated say says said give gives gave given
    list lists tell tells refers talks offer offers believe think suggest recommend hope advise confirm locate
    determine access appear appears seem seems outline outlines explain explains summarize summarise am is are was
    were be been
    """
)
_SOURCES = word_set(
    "context contexts passage passages document documents source sources text texts excerpt excerpts snippet snippets "
    "article articles material materials information question query answer response result results data"
)
_PARTICIPLES = word_set("based given provided listed mentioned named called retrieved supplied taken drawn described")
_POINTING = word_set("it they this that these those")
_SPLIT = re.compile(
    r"[;:()\n]|\s[–—-]+\s|[–—]|[.!?]\s|,\s*"
    r"|\s(?=(?:but|however|although|though|yet|because|since|while|except)\s)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s(?:and|or|so)\s+", re.IGNORECASE)
_SUBORDINATE = re.compile(r"\b(?:that|whether|if|when|where|who|what|which|how|why)\b", re.IGNORECASE)


def asserts(text: str) -> bool:
    """Whether any part of a text states something: a subject and a finite verb, and not only talk.

    In a language other than English whatever has a few words does.
    """
    return any(_states(part) for part in _parts(text[:_LONGEST])) or len(text) > _LONGEST


def _parts(text: str) -> Iterator[str]:
    """The stretches between signs and words that may begin a statement of its own."""
    for part in _SPLIT.split(text):
        if _SUBORDINATE.search(part):
            yield part  # "whether it opened and who built it" is one thing that is not known
        else:
            yield from _JOINED.split(part)


def _states(part: str) -> bool:
    words = _plain_words(part)
    if len(words) < 2:
        return False
    if len(words) >= _MANY and language_of(part) not in {"", ENGLISH}:
        return True
    return words[0].low not in _OPEN and _clause_states(words)


def _plain_words(text: str) -> list[Word]:
    """The tagged words from where a sentence might begin, which is how the tagger reads best.

    A text in capitals is read as if it had none: they would be taken for names.
    """
    found = re.findall(r"[^\W\d_]+", text)
    if len(found) > 2 and 2 * sum(word[0].isupper() for word in found) > len(found):
        text = text.lower()
    text = text[_LEADING.match(text).end() :]  # type: ignore[union-attr]  # it matches nothing as well
    return tag(text[:1].upper() + text[1:])


def _clause_states(words: Sequence[Word]) -> bool:
    """Whether a clause has a subject and a finite verb, of the world or of a clause inside it that is."""
    verb = next((index for index in range(len(words)) if _is_finite(words, index)), None)
    if verb is None:
        return False
    subject = [word for word in words[:verb] if word.tag != "RB"]
    if not any(word.tag in NOUNS | {"PRP", "DT", "CD", "EX", "VBG", "X"} for word in subject):
        return False
    opened = next((index for index, word in enumerate(subject) if index and word.low in _RELATIVES), None)
    if opened is not None:  # "the film that won" is no clause of its own, "the fact that it leaks" holds one
        return subject[opened].low == "that" and _clause_states(words[words.index(subject[opened]) + 1 :])
    if len(subject) > 1 and subject[-1].tag == "PRP" and any(word.tag in NOUNS for word in subject[:-1]):
        return False  # "the answer you wanted"
    end = _chain_end(words, verb)
    chain = {word.low for word in words[verb:end]}
    if not _is_talk(subject, chain):
        return True
    return _nested(words[end:])


def _is_finite(words: Sequence[Word], index: int) -> bool:
    """Whether a word is a finite verb, and no participle ("based on") or possessive ("the singer's") taken for one."""
    word = words[index]
    if word.low == "'s":
        return index > 0 and words[index - 1].tag in {"PRP", "EX", "DT", "WP"}
    return word.tag in FINITE and not (word.tag == "VBD" and word.low in _PARTICIPLES)


def _is_talk(subject: Sequence[Word], chain: set[str]) -> bool:
    head = subject[-1].low
    if head in {"i", "we"}:
        return True
    main = chain - {
        "can",
        "could",
        "may",
        "might",
        "will",
        "would",
        "should",
        "must",
        "not",
        "n't",
        "do",
        "does",
        "did",
    }
    about = head == "you" or any(word.low in _SOURCES for word in subject) or (len(subject) == 1 and head in _POINTING)
    linking = main <= word_set("am is are was were be been being 's 're")
    return about and not linking and bool(main) and all(word in _TALK or word.endswith("ly") for word in main)


def _nested(words: Sequence[Word]) -> bool:
    """Whether what follows talk holds a statement: "I can tell you that the pump was recalled"."""
    for index, word in enumerate(words):
        if word.low in _OPEN:
            return False
        if word.low == "that" and index + 2 < len(words):
            return _clause_states(words[index + 1 :])
    return _clause_states(words)


def _chain_end(words: Sequence[Word], verb: int) -> int:
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
    if low in _BE:
        return word.tag in {"VBN", "VBG", "VBD"}
    return low in {"has", "have", "had", "'ve"} and word.tag in {"VBN", "VBD"}
