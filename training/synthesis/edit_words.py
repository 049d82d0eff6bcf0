"""Negations, opposites, comparisons, quantifiers, hedges and modal verbs changed."""

from __future__ import annotations

import random
import re
from functools import lru_cache

from training.synthesis.edits import Edit, Pool, put
from training.synthesis.lexicon import ANTONYMS, BASE, COMPARATIVES, HEDGES, MODALS, ORDERS, QUANTIFIERS
from training.synthesis.tags import tag

_NEGATED = re.compile(
    r"\b(is|are|was|were|has|have|had|could|will|would|should|did|does|do|may|might|must|can) not (?!only|just|nec)"
    r"|\b(can)not "
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|does|did|do|must)\b(?! (?:not|no|n't|also|to)\b)"
)
NEGATIVE = re.compile(r"\b(?:no|not|never|nor|neither|none|nobody|nothing|without|cannot|hardly|un\w+able)\b|n[’']t\b")


def negation(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """Take a negation away, or put one in behind the first verb that carries one."""
    match = _NEGATED.search(sentence)
    if match is not None:
        verb = match[1] or match[2]
        start = match.start()
        return put(sentence, start, match.end() - 1, verb)
    if NEGATIVE.search(sentence):
        return None
    place = _AUXILIARY.search(sentence)
    words = tag(sentence)
    if place is not None:
        kinds = [word.tag for word in words if word.start == place.start()]
        after = sentence[place.end() : place.end() + 1]
        before = sentence[: place.start()]
        if (
            not kinds
            or kinds[0] not in {"VBZ", "VBD", "VBP", "MD"}
            or after != " "
            or re.search(r"\b(?:who|which|that|what|how|where|if)\b", before)
        ):
            return None
        if place.group() in ("has", "have", "had", "do", "does", "did"):
            following = [word.tag for word in words if word.start > place.end() - 1][:1]
            if following not in (["VBN"], ["VB"]):
                return None
        end = place.end()
        new = f"{place.group()} not"
        return Edit(
            sentence[:end] + " not" + sentence[end:],
            ((place.start(), end + 4),),
            "CONTRADICTED",
            (place.start(), end),
            new,
        )
    for word in words:
        base = BASE.get(word.text)
        if base and word.tag in ("VBD", "VBZ"):
            did = "did not" if word.tag == "VBD" else "does not"
            return put(sentence, word.start, word.end, f"{did} {base}")
    return None


def _from_table(sentence: str, table: dict[str, tuple[str, ...]], label: str, rng: random.Random) -> Edit | None:
    found = list(_alternatives(tuple(table)).finditer(sentence))
    rng.shuffle(found)
    for match in found:
        written = match.group()
        others = table.get(written.lower(), ())
        if not others or not _free(sentence, match):
            continue
        other = rng.choice(others)
        if written[0].isupper():
            other = other[0].upper() + other[1:]
        return put(sentence, match.start(), match.end(), other, label)
    return None


_TIMES = re.compile(
    r" (?:few |two |three |\d+ )?(?:times?|years?|months?|weeks?|days?|nights?|hours?|minutes?|"
    r"decades?|centur\w+|name|of all|place|half|as)\b"
)
_COUNTED = re.compile(
    r" (?:of\b|(?:[a-z-]+ )?(?!(?:as|is|was|has|its|this|less)\b)[a-z]{2,}s\b|people\b|children\b|men\b|women\b)"
)
_ADJECTIVE = frozenset({"most", "many", "some", "several", "all", "every", "numerous", "a few"})


def _free(sentence: str, match: re.Match[str]) -> bool:
    """Whether a word is used in its plain sense: no "last year", "most common", "as many as", "at first"."""
    word, after = match.group().lower(), sentence[match.end() :]
    if re.match(r" (?:or|and)\b", after) and word in ("may", "might", "could", "can"):
        return False
    if match.group()[0].isupper() and sentence[: match.start()].strip("\"“'‘( "):
        return False  # part of a name
    before = sentence[: match.start()].rstrip().rpartition(" ")[2].lower()
    if word in ("first", "last", "most", "some", "several", "many", "a few", "all", "half of") and _TIMES.match(after):
        return False
    if word == "following" and (before in ("the", "these", "a") or not sentence[: match.start()].strip()):
        return False
    if word in ("first", "last", "most", "least") and before in ("at", "in"):
        return False
    if word in _ADJECTIVE and (
        before in ("how", "as", "so", "too", "the", "at", "in", "by", "than", "with", "very")
        or not (_COUNTED.match(after) or word == "every")
    ):
        return False
    return not (word in ("right", "left", "may", "will") and before in ("the", "a", "his", "all", "of", "in"))


@lru_cache(maxsize=32)
def _alternatives(words: tuple[str, ...]) -> re.Pattern[str]:
    choice = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{choice})(?![\w-])", re.IGNORECASE)


def words_of(table: dict[str, tuple[str, ...]]) -> re.Pattern[str]:
    """A pattern that finds any word of a table."""
    return _alternatives(tuple(table))


def antonym(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """The opposite of a word."""
    return None if NEGATIVE.search(sentence) else _from_table(sentence, ANTONYMS, "CONTRADICTED", rng)


def comparative(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """A comparison turned round."""
    return None if NEGATIVE.search(sentence) else _from_table(sentence, COMPARATIVES, "CONTRADICTED", rng)


def order(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """Before and after, first and last."""
    return _from_table(sentence, ORDERS, "CONTRADICTED", rng)


def quantifier(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """All for some, none for all: contradicted where the two cannot both hold, else merely unsupported."""
    if NEGATIVE.search(sentence):
        return None
    edit = _from_table(sentence, QUANTIFIERS["CONTRADICTED"], "CONTRADICTED", rng) if rng.random() < 0.5 else None
    return edit or _from_table(sentence, QUANTIFIERS["UNSUPPORTED"], "UNSUPPORTED", rng)


def hedge(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """A possibility stated as a fact, or a suggestion as a proof: nothing supports it."""
    edit = _from_table(sentence, HEDGES, "UNSUPPORTED", rng)
    if edit is not None or rng.random() < 0.5:
        return edit
    match = re.search(r" (?:may|might|could) be (?=\w+ )", sentence)
    if match is None:
        return None
    before = [word for word in tag(sentence) if word.end <= match.start()]
    if not before or before[-1].tag not in ("NN", "NNP", "NNS", "NNPS"):
        return None
    verb = " is " if before[-1].tag in ("NN", "NNP") else " are "
    edit = put(sentence, match.start(), match.end(), verb, "UNSUPPORTED")
    return edit._replace(errors=((match.start() + 1, match.start() + len(verb) - 1),))


def modality(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:  # noqa: ARG001 -- one signature for all
    """A permission made a duty, a duty a choice."""
    return None if NEGATIVE.search(sentence) else _from_table(sentence, MODALS, "UNSUPPORTED", rng)
