"""The border between a decomposer and the rest: claims are identified, placed and faithful, or the sample fails.

Every split is checked, whoever made it. Its claims invent no value, no name and no negation (rule 9): words are
compared exactly, which works in every language and costs microseconds. A value must stand in the claim's sentence, or
in the answer or question with the same word beside it ("the 47 pumps"); a name in the answer or question; a negation
before the same word as in the sentence. Whether the sentence entails the claim is not asked here.

Nothing may hide from the judge (rule 14). That a sentence is no claim is believed of one without number and name, and
of others only where it is plain: a heading without a verb, a lead-in whose words the items carry, a mark of a source,
a question, an abstention. The rest is marked `unchecked`, and so is a yes or no to a question with which it cannot be
read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise

from everyclaim.core.errors import JudgeError
from everyclaim.core.limits import limits_here
from everyclaim.core.protocols import Decomposer
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.assertions import answered, is_sentence, presumed
from everyclaim.decompose.citing import tied, with_citations_listed
from everyclaim.decompose.openings import tidy
from everyclaim.decompose.selection import is_bare_answer, is_yes, reason_to_skip
from everyclaim.decompose.units import BEHIND, Ground, grounds
from everyclaim.text.agreement import Fact, covers, same
from everyclaim.text.citations import without_citations
from everyclaim.text.cues import cues
from everyclaim.text.dates import Moment, moments
from everyclaim.text.names import covered, fold, names
from everyclaim.text.numerals import NUMBER_WORDS
from everyclaim.text.quantities import quantities
from everyclaim.text.tokens import STOPWORDS, Token, stem, tokenize, word_set

_THOUSANDS = re.compile(r"(?<=\d)[.,'](?=\d{3}(?!\d))")
_LONGEST = 8_000  # characters of a sentence or claim; what is longer is not checked
_FAR = 6  # words between a negation and what it denies
_BEFORE = 1  # words of content in front of a negation that it may deny: "Fees: none"
_PRONOUN = "none"  # a negation that stands for what it denies
_LIKE = 4  # letters that two forms of one name share at least
_ENDING = 3  # letters by which they may differ
Place = tuple[int, int]
_NO_SENTENCE = frozenset({"code", "no_words", "irrelevant"})  # what is irrelevant was read as a claim
_LAYOUT = frozenset({"heading", "table_header", "lead_in"})
_SURE = frozenset({"greeting", "citation"})  # where the rules of `selection` say so as well
_ON_THE_QUESTION = frozenset({"question", "abstention"})  # they may name what was asked about
_LONG = 2000  # characters; more than that says something
_CAPITALS = word_set(  # of languages that write common nouns like names, or put other small words before them
    "der die das den dem ist und nicht ein eine sie haben hier auf für mit le les est une des pas dans el los las una"
    " es por il che di non sono een het van voor"
)


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
    norm = tokens[i].norm
    if not norm.isalpha() and norm[:1].isalpha():
        return fold(norm) in source.words
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
    for i in places:
        behind = [token.norm for token in tokens[i + 1 :] if token.norm not in STOPWORDS][:1]
        governed = stem(behind[0]) if behind else ""
        if there and (governed in denied or governed not in stems):
            continue
        if tokens[i].norm == _PRONOUN and any(own[j].norm == _PRONOUN for j in there):
            continue  # it stands for something said before it: "cracks were found, but none is deep"
        if not there and any(cue.kind == "negation" for cue in cues(sentence)):
            continue
        yield tokens[i].start, tokens[i].end


def _before(tokens: Sequence[Token]) -> list[str]:
    return [stem(token.norm) for token in tokens if token.norm not in STOPWORDS][-_BEFORE:]


def _negates(norm: str) -> bool:
    return norm in negations() or norm.endswith("n't")


@cache
def negations() -> frozenset[str]:
    """Return the words of negation in the languages that are known."""
    return frozenset(files("everyclaim.text").joinpath("negations.txt").read_text("utf-8").split())


def marked(parts: Decomposition, question: str) -> Decomposition:
    """Mark what a decomposition skipped although it may assert something."""
    if not parts.skipped:
        return parts
    asked = tokenize(question)
    said = tokenize("\n".join(claim.text for claim in parts.claims))
    skipped = tuple(replace(one, unchecked=_says_something(one, asked, said)) for one in parts.skipped)
    return replace(parts, skipped=skipped)


def _says_something(one: Skipped, asked: Sequence[Token], said: Sequence[Token]) -> bool:
    if one.reason in _NO_SENTENCE:
        return False
    if one.reason == "bare_answer":
        return bool(asked)  # read with this question it would be a claim
    if len(one.text) > _LONG:
        return True
    text = without_citations(one.text)
    tokens = tokenize(text)
    found = [token for token in tokens if _is_number(token.norm)]
    named = [] if any(token.norm in _CAPITALS for token in tokens) else names(text)
    if not found and not named:
        return False
    known = _known(one.reason, asked, said)
    words = {token.norm for token in known}
    found = [token for token in found if token.norm not in words]
    named = [name for name in named if not covered(name, known)]
    if not found and not named:
        return False
    if one.reason in _LAYOUT:
        return one.text.rstrip(" *_").endswith((".", "!", "。")) or is_sentence(one.text)
    if reason_to_skip(one.text, "paragraph") != one.reason:
        return True
    if one.reason in _ON_THE_QUESTION:
        inside = presumed(one.text)
        places = [piece.start for piece in found] + [piece.start for piece in named]
        held = any(start <= place < end for start, end in inside for place in places)
        return held or (one.reason == "question" and bool(found))
    return one.reason not in _SURE


def _known(reason: str, asked: Sequence[Token], said: Sequence[Token]) -> Sequence[Token]:
    """Return the words that a piece may hold without saying anything by them."""
    if reason in _LAYOUT or reason == "meta":
        return [*asked, *said]  # the items carry what their lead-in says
    return asked if reason in _ON_THE_QUESTION else []  # "I know nothing about Graz", asked about Graz


async def decomposed(decomposer: Decomposer, response: str, *, question: str = "") -> Decomposition:
    """Decompose a response and check what comes back; a blank response needs no decomposer.

    A claim that invents something is not believed (rule 9): the sentence itself takes the place of its claims. What is
    skipped although it says something is marked. Citations are taken out of the claims' texts and tied to them. Raises
    `JudgeError` for claims without text, with repeated ids, or with spans outside the response, and `InputError` for
    more of them than the limits allow.
    """
    if not response.strip():
        return Decomposition(claims=())
    parts = await decomposer.decompose(response, question=question)
    if not isinstance(parts, Decomposition):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} returned {type(parts).__name__}")
    limits_here().check_claims(len(parts.claims), "claims")
    if len({claim.id for claim in parts.claims}) < len(parts.claims):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} gave two claims the same id")
    for claim in parts.claims:
        if not claim.text.strip():
            raise JudgeError("bad_decomposition", f"{decomposer.spec} gave claim {claim.id} no text")
        if not 0 <= claim.span.start <= claim.span.end <= len(response):
            raise JudgeError("bad_decomposition", f"{decomposer.spec} placed claim {claim.id} outside the response")
    found = grounds(response, getattr(decomposer, "language", "")) or [Ground(0, len(response), "paragraph", response)]
    claims, number = tuple(map(_uncited, parts.claims)), 0
    if not getattr(decomposer, "checks_inventions", False):
        claims, number = _faithful(claims, response, question, found)
    claims = tied(claims, response, found)
    parts = marked(replace(parts, claims=claims, kept_whole=parts.kept_whole + number), question)
    return with_citations_listed(parts, response)


def _uncited(claim: Claim) -> Claim:
    """Take citations out of a claim's text (rule 16)."""
    bare = without_citations(claim.text)
    return claim if bare == claim.text or not bare.strip(" .") else replace(claim, text=tidy(bare))


def _faithful(
    claims: Sequence[Claim], response: str, question: str, found: Sequence[Ground]
) -> tuple[tuple[Claim, ...], int]:
    """Put the sentence in the place of its claims where one of them invents something; say how often that was."""
    ends = [one.end for one in found]
    places = {claim.id: _place(claim, found, ends, response) for claim in claims}
    texts = {place: _joined(found[slice(*place)]) for place in set(places.values())}
    plain = {place: " ".join(text.split()) for place, text in texts.items()}
    together: dict[tuple[int, int], list[str]] = {}
    for claim in claims:
        place = places[claim.id]
        if " ".join(claim.text.split()) != plain[place] and not _answers(claim.text, plain[place], question):
            together.setdefault(place, []).append(claim.text)
    source = SplitSource(response, question) if together else None
    wrong = {place for place, several in together.items() if source and inventions(several, texts[place], source)}
    kept: list[Claim] = []
    for claim in claims:
        place = places[claim.id]
        if place not in wrong:
            kept.append(claim)
        elif texts.pop(place, None) is not None:  # the first of its sentence
            span = Span(found[place[0]].start, found[place[1] - 1].end)
            sentence = response[span.start : span.end]
            kept.append(replace(claim, text=plain[place], span=span, sentence=sentence))
    return tuple(kept), len(wrong)


def _answers(claim: str, sentence: str, question: str) -> bool:
    """Whether a claim is what a lone yes or no says to the question."""
    return is_bare_answer(sentence) and claim == answered(question, yes=is_yes(sentence))


def _joined(several: Sequence[Ground]) -> str:
    """Return what a claim may be made of; of several sentences none is the lead-in of all that follows."""
    return several[0].text if len(several) == 1 else " ".join(one.text.replace(BEHIND, " ") for one in several)


def _place(claim: Claim, found: Sequence[Ground], ends: Sequence[int], response: str) -> tuple[int, int]:
    """Return the sentences that a claim's span touches, half-open; that alone which the claim names, if it does."""
    first = min(bisect_right(ends, claim.span.start), len(found) - 1)
    last = first + 1
    while last < len(found) and found[last].start < claim.span.end:
        last += 1
    named = claim.sentence.strip()
    for place in range(first, last) if last > first + 1 else ():
        if response[found[place].start : found[place].end] == named:
            return place, place + 1
    return first, last
