"""One thing changed in a sentence, so that it no longer says what its source says: what every change gives.

Every editor (`edit_numbers`, `edit_names`, `edit_words`) takes the sentence, what may take a piece's place (`Pool`) and
a random generator, and gives an `Edit`, or None where the sentence holds nothing to change. The rest of the sentence
stays as it is, character for character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """A changed sentence: ``before[old[0]:old[1]]`` became ``text[new[0]:new[1]]``; `errors` are spans of `text`."""

    text: str
    errors: tuple[tuple[int, int], ...]
    label: str
    old: tuple[int, int] | None = None
    piece: str = ""


class Pool(NamedTuple):
    """What may take a piece's place: names and numbers of the same document, and names of others."""

    text: str
    names: Sequence[str]
    strange: Sequence[str]


def put(sentence: str, start: int, end: int, piece: str, label: str = "CONTRADICTED") -> Edit:
    """Put another piece in the place of one."""
    text = sentence[:start] + piece + sentence[end:]
    return Edit(text, ((start, start + len(piece)),), label, (start, end), piece)


def exchanged(sentence: str, first: tuple[str, int, int], second: tuple[str, int, int]) -> Edit:
    """Let two pieces of a sentence change places; each is text, start, end."""
    (one, a, b), (two, c, d) = first, second
    text = sentence[:a] + two + sentence[b:c] + one + sentence[d:]
    moved = len(two) - len(one)
    errors = ((a, a + len(two)), (c + moved, c + moved + len(one)))
    return Edit(text, errors, "CONTRADICTED", (a, d), text[a : errors[1][1]])
