"""What was skipped although it says something: nothing may hide from the judge (rule 14).

A decomposer's word that a sentence is no claim is believed of a sentence without number and name. Of others it is
believed only where that is plain: a heading without a verb, a lead-in whose words the items carry, a mark of a source,
a question, an abstention. The rest is marked `unchecked`, and so is a yes or no to a question with which
it cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.types import Decomposition, Skipped
from everyclaim.decompose.assertions import presumed
from everyclaim.decompose.selection import reason_to_skip
from everyclaim.decompose.units import has_finite_verb
from everyclaim.models.local.parser import parse
from everyclaim.text.citations import without_citations
from everyclaim.text.names import Name, covered, names
from everyclaim.text.numerals import NUMBER_WORDS
from everyclaim.text.tokens import Token, tokenize, word_set

_NO_SENTENCE = frozenset({"code", "no_words", "irrelevant"})  # what is irrelevant was read as a claim
_LAYOUT = frozenset({"heading", "table_header", "lead_in"})
_SURE = frozenset({"greeting", "citation"})  # where the rules of `selection` say so as well
_ON_THE_QUESTION = frozenset({"question", "abstention"})  # they may name what was asked about
_LONG = 2000  # characters; more than that says something
_CAPITALS = word_set(  # of languages that write common nouns like names, or put other small words before them
    "der die das den dem ist und nicht ein eine sie haben hier auf für mit le les est une des pas dans el los las una"
    " es por il che di non sono een het van voor"
)


def marked(parts: Decomposition, question: str) -> Decomposition:
    """Mark what a decomposition skipped although it may assert something."""
    if not parts.skipped:
        return parts
    asked = tokenize(question)
    said = tokenize("\n".join(claim.text for claim in parts.claims))
    skipped = tuple(replace(one, unchecked=_says_something(one, asked, said)) for one in parts.skipped)
    return replace(parts, skipped=skipped)


def _names(text: str) -> list[Name]:
    """Find names; a capital that only opens a sentence of common words ("Hope this helps!") is none."""
    opening = parse([text])[0][:1]
    common = bool(opening) and opening[0].pos != "PROPN" and not opening[0].text.isupper()
    return [name for name in names(text) if not (common and name.start == opening[0].start and " " not in name.text)]


def _says_something(one: Skipped, asked: Sequence[Token], said: Sequence[Token]) -> bool:
    if one.reason in _NO_SENTENCE:
        return False
    if one.reason == "bare_answer":
        return bool(asked)  # read with this question it would be a claim
    if len(one.text) > _LONG:
        return True
    text = without_citations(one.text)
    tokens = tokenize(text)
    found = [token for token in tokens if _is_number(token)]
    named = [] if any(token.norm in _CAPITALS for token in tokens) else _names(text)
    if not found and not named:
        return False
    known = _known(one.reason, asked, said)
    words = {token.norm for token in known}
    found = [token for token in found if token.norm not in words]
    named = [name for name in named if not covered(name, known)]
    if not found and not named:
        return False
    if one.reason in _LAYOUT:
        return one.text.rstrip(" *_").endswith((".", "!", "。")) or has_finite_verb(one.text)
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


def _is_number(token: Token) -> bool:
    return any(character.isdigit() for character in token.norm) or token.norm in NUMBER_WORDS
