"""Words that mean the opposite of each other in factual text; the table is `antonyms.txt` beside this file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from everyclaim.text.tokens import stem


@cache
def _opposites() -> dict[str, frozenset[str]]:
    forms = {words[0]: words for words in map(str.split, _rows("irregular_forms.txt"))}
    gathered: dict[str, set[str]] = {}
    for row in _rows("antonyms.txt"):
        left, right = (_stems(side.split(), forms) for side in row.split("|"))
        for mine, theirs in ((left, right), (right, left)):
            for word in mine:
                gathered.setdefault(word, set()).update(theirs)
    return {word: frozenset(others - {word}) for word, others in gathered.items()}


def _rows(name: str) -> list[str]:
    lines = files("everyclaim.text").joinpath(name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _stems(words: list[str], forms: dict[str, list[str]]) -> set[str]:
    return {stem(form) for word in words for form in forms.get(word, [word])}


def antonyms(norm: str) -> frozenset[str]:
    """Give the stems of the words that mean the opposite of a token's `norm`, in any of its forms.

    Compare them with ``stem(other.norm)``. Empty for a word the table does not hold.
    """
    table = _opposites()
    return table.get(stem(norm)) or table.get(norm) or frozenset()


@cache
def _roots() -> dict[str, str]:
    return {form: stem(words[0]) for words in map(str.split, _rows("irregular_forms.txt")) for form in words}


def root(norm: str) -> str:
    """Give what all forms of a word have in common: its stem, of "gave" and "given" that of "give"."""
    return _roots().get(norm) or stem(norm)


def pairs() -> Iterator[tuple[str, str]]:
    """Give every pair of opposite stems, each once, in order."""
    for word, others in sorted(_opposites().items()):
        yield from ((word, other) for other in sorted(others) if word < other)
