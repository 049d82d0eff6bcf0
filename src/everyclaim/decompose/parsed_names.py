"""Names and titles in what the parser read: the words of each hung on one, examples on what they are of."""

from __future__ import annotations

import re

from everyclaim.models.local.tree import THINGS, Tree
from everyclaim.text.dates import FULL_MONTHS

QUOTES = frozenset({'"', "“", "”", "``", "''"})
_NAMED = frozenset({"nmod", "nsubj", "obj", "obl"})
_YEAR = 4  # digits
_LONGEST_TITLE = 12  # words in quotes that are taken for one name


def join_names(tree: Tree) -> None:
    """Make one name of each title in quotes, each date, and names side by side."""
    placed = {one.head for one in tree.tokens if one.relation == "case"}
    titles = [(one.start, one.stop) for one in quotations(tree) if len(one) <= _LONGEST_TITLE]
    for start, end in [*titles, *_dated(tree)]:
        tops = [i for i in range(start, end) if not start <= tree.head(i) < end]
        main = max(tops, key=lambda i: (tree.head(i) < 0, i in placed, tree.pos(i) != "PUNCT", i))
        for i in range(start, end):  # a title is one name
            if i != main:
                tree.hang(i, main, "flat")
    for place, token in enumerate(tree.tokens[:-1], 1):
        beside = tree.tokens[place]
        if beside.relation == "appos" and beside.pos == token.pos == "PROPN" and beside.head < place:
            tree.call(place, "flat")
        elif beside.pos == "NUM" and token.pos in THINGS and beside[5:] == token[5:] and token.relation == "nsubj":
            _take_in(tree, place)  # "the Pelican 40 is"
        elif beside[3:] == token[3:] and token.pos == "PROPN" and token.relation in _NAMED and not tree.cases(place):
            _take_in(tree, place)  # "such as Band Baaja Baaraat"
    for place in range(len(tree.tokens)):
        _hang_example(tree, place)


def _take_in(tree: Tree, place: int) -> None:
    """Make a word part of the name before it, and hang on that what hangs on it."""
    tree.hang(place, place - 1, "flat")
    for kid in [*tree.kids[place]]:
        tree.hang(kid, place - 1, tree.relation(kid))


def _hang_example(tree: Tree, place: int) -> None:
    """Hang "such as X" on the noun right before it, "(2010)" on the name right before it, "and “X”" on its list."""
    token, cases = tree.tokens[place], tree.cases(place)
    if token.relation in {"acl", "dep", "obl"} and not {"such", "including"}.isdisjoint(cases):
        first = tree.first(place)
        beside = first > 0 and tree.pos(first - 1) == "NOUN" and tree.low(first) in cases
        tree.hang(place, first - 1 if beside else token.head, "nmod")
    elif token.relation == "dep" and token.head < place and tree.of(place, "cc"):
        tree.call(place, "dep" if QUOTES.isdisjoint(map(tree.text, tree.kids[place])) else "conj")
    elif token.pos == "NUM" and place > 1 and tree.text(place - 1) == "(" and token.head != place - 2:
        name = tree.head(place - 2) if tree.relation(place - 2) == "flat" else place - 2
        if tree.pos(name) == "PROPN":
            tree.hang(place, name, token.relation)


def _dated(tree: Tree) -> list[tuple[int, int]]:
    """Where dates stand: "3 May 1998", "March 14, 1879"."""
    found = []
    for place, token in enumerate(tree.tokens):
        if token.text not in FULL_MONTHS:
            continue
        start = place - (place > 0 and tree.text(place - 1)[0].isdigit() and len(tree.text(place - 1)) < _YEAR)
        end = place + 1
        while re.match(r"\d|, \d{4}$", " ".join(one.text for one in tree.tokens[end : end + 2])):
            end += 1
        if end - start > 1:
            found.append((start, end))
    return found


def quotations(tree: Tree) -> list[range]:
    """The places of each quotation, with its marks."""
    marks = [i for i, token in enumerate(tree.tokens) if token.text in QUOTES]
    return [range(first, last + 1) for first, last in zip(marks[::2], marks[1::2], strict=False)]
