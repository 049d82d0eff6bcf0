"""The check that the claims of every split pass, whoever made it: they invent no value, no name and no negation.

Words are compared exactly, which works in every language and costs microseconds. A value must stand in the claim's
sentence, or in the answer or question with the same word beside it ("the 47 pumps"); a name in the answer or question;
a negation before the same word as in the sentence. Whether the sentence entails the claim is not asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise

from everyclaim.decompose.contexts import BEHIND
from everyclaim.text.agreement import Fact, covers, same
from everyclaim.text.cues import cues
from everyclaim.text.dates import Moment, moments
from everyclaim.text.names import covered, fold, names
from everyclaim.text.numerals import NUMBER_WORDS
from everyclaim.text.quantities import quantities
from everyclaim.text.tokens import STOPWORDS, Token, stem, tokenize

_THOUSANDS = re.compile(r"(?<=\d)[.,'](?=\d{3}(?!\d))")
_PREFIX = re.compile(r"(?:un|in|im|ir|il|non|dis|mis)-?(?=[a-z]{3})")
_LONGEST = 8_000  # characters of a sentence or claim; what is longer is not checked
_FAR = 6  # words between a negation and what it denies
_BEFORE = 1  # words of content in front of a negation that it may deny: "Fees: none"
_ANAPHORIC = ("one", "ones")  # behind a negation: what they stand for is denied
_PRONOUN = "none"  # a negation that stands for what it denies
_LIKE = 4  # letters that two forms of one name share at least
_ENDING = 3  # letters by which they may differ


class SplitSource:
    """An answer and its question: what claims may take names from. Read once, when a claim has a word of its own."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """All words."""
        return tuple(token for text in self._texts for token in tokenize(text))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words, folded."""
        return frozenset(fold(_plain(token.norm)) for token in self.tokens)

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The stems of neighbouring words."""
        return frozenset(pairwise(stem(_plain(token.norm)) for token in self.tokens))

    @cached_property
    def ranges(self) -> frozenset[tuple[str, str]]:
        """Numbers with one word between them: "1980 to 2020"."""
        norms = [token.norm for token in self.tokens]
        return frozenset((a, b) for a, b in zip(norms, norms[2:], strict=False) if _is_number(a) and _is_number(b))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words."""
        return frozenset(stem(_plain(token.norm)) for token in self.tokens)


def inventions(claims: Sequence[str], sentence: str, source: SplitSource) -> dict[str, tuple[str, ...]]:
    """Return the claims of a sentence that invent something, each with what it invents.

    `sentence` is all that the claims may be made of: a list item stands behind its lead-in.
    """
    if len(sentence) > _LONGEST:
        return {}
    whole = " ".join(sentence.replace(BEHIND, " ").split())
    reworded = [c for c in claims if len(c) <= _LONGEST and " ".join(c.split()).rstrip(".") not in whole]
    own = tokenize(whole) if reworded else []
    known = frozenset(_plain(token.norm) for token in own)
    found: dict[str, tuple[str, ...]] = {}
    for claim in reworded:
        tokens = tokenize(claim)
        new = [i for i, token in enumerate(tokens) if _plain(token.norm) not in known]
        foreign = {
            *_values(claim, tokens, new, whole, source),
            *_names(claim, tokens, new, source),
            *_negations(tokens, own, whole),
        }
        if _is_stranger(tokens, known, source):
            found[claim] = (claim,)
        elif foreign:
            found[claim] = tuple(claim[slice(*place)] for place in sorted(foreign))
    return found


def _is_stranger(tokens: Sequence[Token], known: frozenset[str], source: SplitSource) -> bool:
    """Whether a claim says nothing, or most of its words stand in neither answer nor question."""
    content = [token.norm for token in tokens if token.norm not in STOPWORDS]
    if not content:  # "the same"
        return any(norm not in STOPWORDS for norm in known)
    foreign = [norm for norm in content if _plain(norm) not in known and not _is_known(norm, source)]
    return len(foreign) > len(content) / 2


Place = tuple[int, int]


def _values(
    claim: str, tokens: Sequence[Token], new: Iterable[int], sentence: str, source: SplitSource
) -> Iterator[Place]:
    """Find numbers and dates that the sentence does not state, in whatever form."""
    odd = [i for i in new if _is_number(tokens[i].norm) and not _is_mentioned(tokens, i, source)]
    if not odd:
        return
    theirs, mine = list(map(_exact, _facts(sentence))), list(map(_exact, _facts(claim)))
    for i in odd:
        token = tokens[i]
        inside = [fact for fact in mine if fact.start < token.end and token.start < fact.end]
        if not any(_is_stated(fact, other) for fact in inside for other in theirs):
            yield token.start, token.end


def _facts(text: str) -> list[Fact]:
    return [*quantities(text), *moments(text)]


def _exact(fact: Fact) -> Fact:
    return fact._replace(approximate=False)


def _is_stated(mine: Fact, other: Fact) -> bool:
    if same(mine, other):
        return True
    return isinstance(mine, Moment) and isinstance(other, Moment) and covers(other, mine)


def _is_mentioned(tokens: Sequence[Token], i: int, source: SplitSource) -> bool:
    """Whether a number stands in the answer or question beside the same word as in the claim, or in one ("P60")."""
    norms = [token.norm for token in tokens]
    if not source.ranges.isdisjoint({tuple(norms[i - 2 : i + 1 : 2]), tuple(norms[i : i + 3 : 2])}):
        return True
    if not tokens[i].norm.isalpha() and any(map(str.isalpha, tokens[i].norm[:1])):
        return fold(tokens[i].norm) in source.words
    near = tokens[max(0, i - 1) : i + 2]
    return any(
        (stem(_plain(a.norm)), stem(_plain(b.norm))) in source.pairs
        for a, b in pairwise(near)
        if STOPWORDS.isdisjoint((a.norm, b.norm))
    )


def _is_number(norm: str) -> bool:
    return norm in NUMBER_WORDS or any(map(str.isdigit, norm))


def _plain(norm: str) -> str:
    return _THOUSANDS.sub("", norm)


def _names(claim: str, tokens: Sequence[Token], new: Iterable[int], source: SplitSource) -> Iterator[Place]:
    """Find names that neither answer nor question mentions, in whatever form."""
    if not any(_is_capital(tokens[i]) and not _is_known(tokens[i].norm, source) for i in new):
        return
    for name in names(claim):
        words = [token for token in tokens if name.start <= token.start < name.end]
        if not all(_is_known(token.norm, source) for token in words) and not covered(name, source.tokens):
            yield name.start, name.end


def _is_capital(token: Token) -> bool:
    return any(map(str.isupper, token.text))


def _is_known(norm: str, source: SplitSource) -> bool:
    word = fold(norm)
    if word in source.words or stem(norm) in source.stems or word in STOPWORDS or _is_number(word):
        return True
    return any(word[:_LIKE] == other[:_LIKE] and _is_form(word, other) for other in source.words)


def _is_form(a: str, b: str) -> bool:
    """Whether two words may be forms of one: they begin alike and differ in a few letters at the end."""
    shared = min(len(a), len(b))
    return shared >= _LIKE and abs(len(a) - len(b)) <= _ENDING and a[: shared - 1] == b[: shared - 1]


def _negations(tokens: Sequence[Token], own: Sequence[Token], sentence: str) -> Iterator[Place]:
    """Find negations of something that the sentence does not negate."""
    places = [i for i, token in enumerate(tokens) if _negates(token.norm)]
    if not places:
        return
    there = [i for i, token in enumerate(own) if _negates(token.norm)]
    stems = [stem(token.norm) for token in own]
    denied = {word for i in there for word in stems[i + 1 : i + 1 + _FAR]}
    denied |= {word for i in there for word in _before(own[:i])}
    if any(token.norm in _ANAPHORIC for i in there for token in own[i + 1 : i + 2]):
        denied |= set(stems)  # "with an engineer 480 euros, without one 390"
    for i in places:
        behind = [token.norm for token in tokens[i + 1 :] if token.norm not in STOPWORDS][:1]
        governed = stem(behind[0]) if behind else ""
        if there and (governed in denied or governed not in stems):
            continue
        if tokens[i].norm == _PRONOUN and any(own[j].norm == _PRONOUN for j in there):
            continue  # it stands for something said before it: "cracks were found, but none is deep"
        if not there and (_is_opposite(governed, stems) or any(cue.kind == "negation" for cue in cues(sentence))):
            continue
        yield tokens[i].start, tokens[i].end


def _before(tokens: Sequence[Token]) -> list[str]:
    return [stem(token.norm) for token in tokens if token.norm not in STOPWORDS][-_BEFORE:]


def _negates(norm: str) -> bool:
    return norm in negations() or norm.endswith("n't")


def _is_opposite(word: str, stems: Iterable[str]) -> bool:
    """Whether the sentence says with a prefix what a claim says with a negation: "unsafe", "not safe"."""
    return any(_PREFIX.sub("", other, count=1) == word for other in stems if other != word)


@cache
def negations() -> frozenset[str]:
    """Return the words of negation in the languages that are known."""
    return frozenset(files("everyclaim.text").joinpath("negations.txt").read_text("utf-8").split())
