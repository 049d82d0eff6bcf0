"""Records of a list that a claim does not speak of: beside "Redis is running", what is said of Postgres.

    [{"service": "postgres", "status": "running"}, {"service": "redis", "status": "stopped"}]

Where a claim names some records of a list by what they are called, the fields of the others are blanked out before
anything is compared, as `tables` does with rows. Places in the passage stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from everyclaim.text.edges import blanked_out
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.shortlist import Piece, Place
from everyclaim.verify.lexical.tables import called

_LONGEST_NAME = 60  # characters; what is longer describes
_Row = list[tuple[int, Place]]  # the fields of one record, each with the number of its piece


def without_siblings(claim: Reading, pieces: Sequence[Piece], texts: Sequence[str]) -> tuple[list[str], bool]:
    """Return the texts without what a list says of other records than a claim, and whether there was anything."""
    found, is_changed = list(texts), False
    said = set(claim.norms)
    for rows in lists_of(pieces).values():
        if len(rows) < 2:
            continue
        named = called(_names(list(rows.values()), pieces), said)
        for place, row in enumerate(rows.values()):
            for number, field in row if named and place not in named else ():
                found[number] = blanked_out(found[number], field.low, field.high)
                is_changed = True
    return found, is_changed


def lists_of(pieces: Sequence[Piece]) -> Mapping[tuple[int, int], Mapping[int, _Row]]:
    """Gather the fields of every record of every list; those of a list within a record belong to both."""
    lists: dict[tuple[int, int], dict[int, _Row]] = {}
    for number, piece in enumerate(pieces):
        for field in piece.fields:
            for which, item in field.rows:
                lists.setdefault((piece.passage, which), {}).setdefault(item, []).append((number, field))
    return lists


def _names(rows: Sequence[_Row], pieces: Sequence[Piece]) -> list[set[str]]:
    """Return what records are called: the words of the first field that most of them have, in a few words."""
    values = [dict(_labelled(row, pieces)) for row in rows]
    for label in dict.fromkeys(label for row in values for label in row):
        names = [row[label] for row in values if label in row]
        if 2 * len(names) > len(rows) and all(map(_is_name, names)) and len(set(names)) > 1:
            return [_words(row[label]) if label in row else set() for row in values]
    return [set() for _ in rows]


def _labelled(row: _Row, pieces: Sequence[Piece]) -> Iterator[tuple[str, str]]:
    for number, field in row:
        label, colon, value = pieces[number].text[field.low : field.high].partition(": ")
        if colon:
            yield label, value


def _is_name(value: str) -> bool:
    return len(value) <= _LONGEST_NAME and any(map(str.isalpha, value)) and value not in ("yes", "no", "not given")


def _words(name: str) -> set[str]:
    norms = {token.norm for token in tokenize(name)}
    return norms - STOPWORDS or norms
