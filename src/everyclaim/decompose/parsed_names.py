"""Names and titles in what the parser read: the words of each hung on one, examples on what they are of."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from everyclaim.models.local.parser import ParsedToken
from everyclaim.text.dates import FULL_MONTHS

QUOTES = frozenset({'"', "“", "”", "``", "''"})
_NAMES = ("PROPN", "nmod")
_YEAR = 4  # digits
_LONGEST_TITLE = 12  # words in quotes that are taken for one name


def join_names(tokens: list[ParsedToken]) -> None:
    """Make one name of each title in quotes, each date, and names side by side."""
    placed = {one.head for one in tokens if one.relation == "case"}
    for start, end in [*_quoted(tokens), *_dated(tokens)]:
        tops = [i for i in range(start, end) if not start <= tokens[i].head < end]
        main = max(tops, key=lambda i: (tokens[i].head < 0, i in placed, tokens[i].pos != "PUNCT", i))
        for i in range(start, end):  # a title is one name
            if i != main:
                hang(tokens, i, main, "flat")
    for place, token in enumerate(tokens[:-1]):
        beside = tokens[place + 1]
        if beside.relation == "appos" and beside.pos == token.pos == "PROPN" and beside.head <= place:
            tokens[place + 1] = beside._replace(relation="flat")
        elif beside.pos == "NUM" and token.pos == "PROPN" and beside[5:] == token[5:] and token.relation == "nsubj":
            _take_in(tokens, place + 1, place)  # "the Pelican 40 is"
        elif beside[3:] == token[3:] and (token.pos, token.relation) == _NAMES and not cases_of(tokens, place + 1):
            _take_in(tokens, place + 1, place)  # "such as Band Baaja Baaraat"
    for place in range(len(tokens)):
        _hang_example(tokens, place)


def _take_in(tokens: list[ParsedToken], place: int, name: int) -> None:
    """Make a word part of a name, and hang on that what hangs on it."""
    tokens[place] = tokens[place]._replace(head=name, relation="flat")
    for i, one in enumerate(tokens):
        if one.head == place:
            tokens[i] = one._replace(head=name)


def _hang_example(tokens: list[ParsedToken], place: int) -> None:
    """Hang "such as X" on the noun right before it, "(2010)" on the name right before it, "and “X”" on its list."""
    token = tokens[place]
    if token.relation in {"acl", "dep", "obl"} and not {"such", "including"}.isdisjoint(
        cases := cases_of(tokens, place)
    ):
        first = first_word(tokens, place)
        beside = first > 0 and tokens[first - 1].pos == "NOUN" and tokens[first].text in cases
        hang(tokens, place, first - 1 if beside else token.head, "nmod")
    elif token.relation == "dep" and token.head < place and has(tokens, place, {"cc"}) and _is_quoted(tokens, place):
        tokens[place] = token._replace(relation="conj")
    elif token.pos == "NUM" and place > 1 and tokens[place - 1].text == "(" and token.head != place - 2:
        name = tokens[place - 2].head if tokens[place - 2].relation == "flat" else place - 2
        if tokens[name].pos == "PROPN":
            hang(tokens, place, name, token.relation)


def _is_quoted(tokens: Sequence[ParsedToken], place: int) -> bool:
    return any(one.head == place and one.text in QUOTES for one in tokens)


def _dated(tokens: Sequence[ParsedToken]) -> list[tuple[int, int]]:
    """Where dates stand: "3 May 1998", "March 14, 1879"."""
    found = []
    for place, token in enumerate(tokens):
        if token.text not in FULL_MONTHS:
            continue
        start = place - (place > 0 and tokens[place - 1].text[0].isdigit() and len(tokens[place - 1].text) < _YEAR)
        end = place + 1
        while re.match(r"\d|, \d{4}$", " ".join(one.text for one in tokens[end : end + 2])):
            end += 1
        if end - start > 1:
            found.append((start, end))
    return found


def _quoted(tokens: Sequence[ParsedToken]) -> list[tuple[int, int]]:
    """Where titles and names in quotes stand."""
    marks = [i for i, token in enumerate(tokens) if token.text in QUOTES]
    pairs = zip(marks[::2], marks[1::2], strict=False)
    return [(first, last + 1) for first, last in pairs if last - first < _LONGEST_TITLE]


def is_under(tokens: Sequence[ParsedToken], word: int, place: int) -> bool:
    """Whether a word is another, or depends on it."""
    while word >= 0 and word != place:
        word = tokens[word].head
    return word == place


def hang(tokens: list[ParsedToken], place: int, head: int, relation: str) -> None:
    """Hang a word on another, unless that hangs on it."""
    if not is_under(tokens, head, place):
        tokens[place] = tokens[place]._replace(head=head, relation=relation)


def has(tokens: Sequence[ParsedToken], place: int, relations: Collection[str]) -> bool:
    """Whether something hangs on a word by one of these relations."""
    return any(one.head == place and one.relation in relations for one in tokens)


def first_word(tokens: Sequence[ParsedToken], place: int) -> int:
    """The place where what hangs on a word begins."""
    return next(i for i in range(place + 1) if is_under(tokens, i, place))


def cases_of(tokens: Sequence[ParsedToken], place: int) -> list[str]:
    """The prepositions of a word."""
    return [one.text for one in tokens if one.head == place and one.relation == "case"]
