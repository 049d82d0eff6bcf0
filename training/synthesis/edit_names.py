"""Other names in the place of those of a sentence, names that change places, and other speakers."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache

from training.synthesis.edits import Edit, Pool, exchanged, put
from training.synthesis.lexicon import COUNTRIES, NATIONS, PEOPLE, SYMMETRIC
from training.synthesis.tags import tag

from everyclaim.text.names import covered, names
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.speech import reports

_LABEL = re.compile(
    r"(?:Group|Table|Fig|Figure|Figs|Dataset|Section|Type|Supplementary|Image|Data|Phase|Class|Part)s?\b"
)


def claim_names(sentence: str, pool: Pool) -> list[tuple[str, int, int]]:
    """Names of a sentence; a lone first word counts only if the document has it as a name."""
    known = set(pool.names)
    found = []
    for name in names(sentence):
        if (
            len(name.text) < 2
            or name.text.casefold() in STOPWORDS
            or re.fullmatch(r"[-/.–\w]", sentence[name.start - 1 : name.start])
        ):
            continue
        if re.match(r"[-/–\w]|\.\w", sentence[name.end : name.end + 2]) or (
            name.start == 0 and (name.text not in known or not _inside(name.text, pool.text))
        ):
            continue
        found.append((name.text, name.start, name.end))
    return found


def _inside(name: str, text: str) -> bool:
    return re.search(rf"[\w,;] {re.escape(name)}(?!\w)", text) is not None


def _shape(name: str) -> tuple[bool, int, bool]:
    return name.isupper(), min(3, len(name.split())), any(char.isdigit() for char in name)


def alike_names(name: str, others: Sequence[str], sentence: str) -> list[str]:
    """Names that could stand in the same place and are surely another thing."""
    mine = {word.lower() for word in re.findall(r"\w{3,}", name)}
    return [
        other
        for other in others
        if _shape(other) == _shape(name)
        and other not in sentence
        and not mine & {word.lower() for word in re.findall(r"\w{3,}", other)}
        and not covered(name, [other])
        and not covered(other, [name])
        and not covered(other, tokenize(sentence))
        and not _stems_alike(name, other)
    ]


_HEADING = re.compile(r"\b(?:In|Related|Stories|Best|Policy|Privacy|Links|Home|Know|About|How|What|Why|When|URL|PDF)\b")
_PLACE_BEFORE = frozenset({"in", "at", "from", "near", "across", "outside", "throughout", "around", "into"})
_TELLS = re.compile(r"(?:\b(\w+) )?$")
_ACTS = re.compile(
    r"(?:'s|’s)?,? (?:said|says|has|had|have|was|is|who|told|\w+ed|won|made|took|began|became|wrote|"
    r"can|will|did|beat|sold|led|bought|gave|met|ran|sent|saw|left|held|paid|kept|lost|came|went|"
    r"fell|grew|calls|plans|plays|wants|says|lives|works)\b"
)


@lru_cache(maxsize=100_000)
def kinds_of(text: str, name: str) -> frozenset[str]:
    """How a text uses a name: after a word of place, before a verb, before a noun, at least once within a sentence."""
    found = set()
    for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        before = text[max(0, match.start() - 14) : match.start()]
        if re.search(r"[\w,;] $", before):
            found.add("inside")
        word = _TELLS.search(before)
        if word and word[1] and word[1].lower() in _PLACE_BEFORE:
            found.add("place")
        if _ACTS.match(text, match.end()):
            found.add("acts")
        if re.match(r" [a-z]{3,}", text[match.end() :]) and not _ACTS.match(text, match.end()):
            found.add(
                "noun"
                if not re.match(
                    r" (?:and|or|in|on|at|to|for|with|by|from|of|as|the|that|when|after|before|but|while)\b",
                    text[match.end() :],
                )
                else "free"
            )
    return frozenset(found)


def _fitting(sentence: str, start: int, end: int, others: Sequence[str], text: str) -> list[str]:
    """Of the names of a document, those it uses as the sentence uses the one to be replaced."""
    here = kinds_of(" " + sentence[start - 14 if start > 14 else 0 : end + 20], sentence[start:end]) - {"inside"}
    fitting = []
    for other in others[:30]:
        kinds = kinds_of(text, other)
        if (
            "inside" in kinds
            and not _HEADING.search(other)
            and ("place" in kinds) == ("place" in here)
            and ("noun" in kinds) >= ("noun" in here)
        ):
            fitting.append(other)
    best = [other for other in fitting if "acts" not in here or "acts" in kinds_of(text, other)]
    return best or fitting


def _stems_alike(name: str, other: str) -> bool:
    """American and America: one may stand for the other."""
    return name[:5].lower() == other[:5].lower()


def name(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Another name of the same shape, of the same document where possible."""
    found = claim_names(sentence, pool)
    if not found:
        return None
    text, start, end = rng.choice(found)
    for circle in (NATIONS, COUNTRIES):
        if text in circle:
            near = [one for one in circle if one in pool.text and one not in sentence]
            far = [one for one in circle if one not in sentence]
            return _agreeing(sentence, start, end, rng.choice(near if near and rng.random() < 0.6 else far))
    sources = [pool.names, pool.strange] if rng.random() < 0.35 else [pool.names]
    for source in sources:
        others = alike_names(text, source, sentence)
        others = _fitting(sentence, start, end, others, pool.text) if source is pool.names else others
        if others:
            return _agreeing(sentence, start, end, rng.choice(others))
    return None


def _agreeing(sentence: str, start: int, end: int, other: str) -> Edit | None:
    """The piece replaced, unless "a" or "an" before it would tell."""
    if other in COUNTRIES and re.search(r"\bthe $", sentence[:start]) and not other.startswith("United"):
        return None
    if re.search(r"\ba $", sentence[:start], re.IGNORECASE) and other[0] in "AEIOU":
        return None
    if re.search(r"\ban $", sentence[:start], re.IGNORECASE) and other[0] not in "AEIOU":
        return None
    return put(sentence, start, end, other)


_LINKED = re.compile(r"^[\s,/&;()-]*(?:(?:and|or|as well as|also known as|aka|of|in|the)\b[\s,]*)*$")
_SAME = re.compile(r"\b(?:" + "|".join(SYMMETRIC) + r")\b", re.IGNORECASE)
_IDENTITY = re.compile(r"^\s*,?\s*(?:is|was|are|were|as|called|named|became)\b[\s,]*(?:also|the|a|an)?\s*$")


def role(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Exchange two names on either side of a verb whose sides are not alike."""
    found = [one for one in claim_names(sentence, pool) if sentence.count(one[0]) == 1]
    words = tag(sentence)
    pairs = []
    for i, first in enumerate(found):
        for second in found[i + 1 : i + 3]:
            between = sentence[first[2] : second[1]]
            if _LINKED.match(between) or _SAME.search(between) or _IDENTITY.match(between):
                continue
            if covered(first[0], [second[0]]) or covered(second[0], [first[0]]):
                continue
            verbs = [w for w in words if first[2] <= w.start < second[1] and w.tag.startswith("VB")]
            if verbs and first[0].isupper() == second[0].isupper() and _used_alike(sentence, first, second):
                pairs.append((first, second))
    return exchanged(sentence, *rng.choice(pairs)) if pairs else None


def _used_alike(sentence: str, first: tuple[str, int, int], second: tuple[str, int, int]) -> bool:
    """Whether two names could change places without a break of grammar: both before a noun, or neither."""
    uses = []
    for one, start, end in (first, second):
        after = sentence[end : end + 14]
        noun = re.match(r" [a-z]{3,}", after) is not None and not _ACTS.match(after) and not re.match(_SMALL, after)
        titled = re.match(r"(?:Mr|Mrs|Ms|Dr|Sir)\b", one) is not None
        before = sentence[:start].rsplit(" ", 2)[-2:-1]
        article = before[0].lower() if before and before[0].lower() in ("the", "a", "an", "two", "formally") else ""
        place = bool(before) and before[0].lower() in _PLACE_BEFORE
        uses.append((noun, titled, one in NATIONS, article, place or one in COUNTRIES))
    return uses[0] == uses[1]


_SMALL = (
    r" (?:and|or|in|on|at|to|for|with|by|from|of|as|the|that|when|after|before|but|while|would|could|"
    r"may|are|were|than|during|over|into|through|against|also|since|until|about|because|under)\b"
)


def speaker(sentence: str, pool: Pool, rng: random.Random) -> Edit | None:
    """Have someone else say it."""
    for report in reports(sentence):
        start, end = report.speaker_span.start, report.speaker_span.end
        inside = [one for one in claim_names(sentence, pool) if start <= one[1] and one[2] <= end]
        if not inside:
            continue
        text, a, b = inside[-1] if rng.random() < 0.5 else inside[0]
        alike = alike_names(text, pool.names, sentence) if a > 0 or sentence[b : b + 1] != "," else []
        uses = {other: kinds_of(pool.text, other) for other in alike[:30]}
        others = [other for other, kinds in uses.items() if kinds >= {"acts", "inside"} and "place" not in kinds]
        if not others and re.fullmatch(r"(?:M\w+ )?[A-Z][a-z]+ [A-Z][a-z]+|Mrs? [A-Z][a-z]+", text):
            others = [f"{rng.choice(PEOPLE[0])} {rng.choice(PEOPLE[1])}"]
        if others:
            return put(sentence, a, b, rng.choice(others))
    return None
