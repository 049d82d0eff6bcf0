"""Words that say how much there is of something, and of what; the table is `gradables.txt` beside this file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from everyclaim.text.tokens import stem


class Scale(NamedTuple):
    """What can be more or less so: the kinds of quantity that measure it, each with its sign, and words that name it.

    `kinds` says -1 of a kind that is less where the words say more. `is_general`: a noun has to say of what.
    """

    number: int
    kinds: Mapping[str, int]
    cues: frozenset[str]

    @property
    def is_general(self) -> bool:
        """Say whether it may be of anything."""
        return "any" in self.kinds


class Grade(NamedTuple):
    """A word of a scale: 1 where it says more, -1 where it says less."""

    scale: Scale
    sign: int


Grades = tuple[Grade, ...]


class _Words(NamedTuple):
    plain: dict[str, Grades]
    more: dict[str, Grades]
    most: dict[str, Grades]


@cache
def _words() -> _Words:
    found = _Words({}, {}, {})
    lines = files("everyclaim.text").joinpath("gradables.txt").read_text("utf-8").splitlines()
    rows = [line.split("|") for line in lines if line and not line.startswith("#")]
    for number, (kinds, up, down, cues) in enumerate(rows):
        signs = {kind.strip().lstrip("-"): -1 if "-" in kind else 1 for kind in kinds.split(",")}
        scale = Scale(number, signs, frozenset(map(stem, cues.split())))
        for words, sign in ((up, 1), (down, -1)):
            for word in words.split():
                for table, form in zip(found, forms(word), strict=True):
                    if Grade(scale, sign) not in table.get(form, ()):
                        table[form] = (*table.get(form, ()), Grade(scale, sign))
    return found


def forms(word: str) -> tuple[str, str, str]:
    """Give the plain form, that of more and that of most."""
    if "/" in word:
        plain, more, most = word.split("/")
        return plain, more, most
    if word.endswith("y"):
        root = word[:-1] + "i"
    elif word.endswith("e"):
        root = word[:-1]
    else:
        short = len(word) <= 4 and word[-1] not in "wy" and word[-1] not in "aeiou"
        root = word + word[-1] if short and word[-2] in "aeiou" and word[-3:-2] not in tuple("aeiou") else word
    return word, f"{root}er", f"{root}est"


def plain(norm: str) -> Grades:
    """Give the scales of an adjective or adverb in its plain form; nothing where it is of none."""
    words = _words().plain
    return words.get(norm) or words.get(norm.removesuffix("ly"), ())


def more(norm: str) -> Grades:
    """Give the scales of a comparative: "cheaper"."""
    return _words().more.get(norm, ())


def most(norm: str) -> Grades:
    """Give the scales of a superlative: "cheapest"."""
    return _words().most.get(norm, ())


def unlisted(norm: str) -> Grades:
    """Give the scale of an adjective that the table has not, as of one that nothing but its own name and shares say."""
    root = stem(norm)
    return (Grade(Scale(-1, {"percent": 1, f"of {root}": 1}, frozenset({root})), 1),)


def root_of_more(norm: str) -> str:
    """Give the plain form of a comparative in -er that the table has not: "harder"."""
    root = norm.removesuffix("er")
    if root.endswith("i"):
        return root[:-1] + "y"
    return root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl" else root


def named(stems: frozenset[str]) -> Iterator[Scale]:
    """Give the scales that some stems name: of "price" that of money."""
    seen: set[int] = set()
    for grades in _words().plain.values():
        for scale in (grade.scale for grade in grades):
            if scale.number not in seen and not scale.is_general and scale.cues & stems:
                seen.add(scale.number)
                yield scale
