"""What stands around a number and loosens it: about, nearly, at least, up to, or more."""

from __future__ import annotations

import re
from typing import NamedTuple

from everyclaim.text.tokens import word_set

_APPROXIMATE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|circa|ca?\.|some|(?:an )?estimated(?: at)?|close to"
    r"|an average of|on average|in the region of|in the order of|(?P<below>nearly|almost|just (?:under|below|short of)"
    r"|close on|not quite|slightly (?:under|less than|below))"
    r"|(?P<above>just (?:over|above|more than)|slightly (?:over|more than|above)|a little (?:over|more than)))|[~≈])"
    r"(?: (?:at|a|an|the))?[\s(]*$"
)
_AT_LEAST = re.compile(
    r"(?:\b(?:at least|no (?:less|fewer) than|not less than|(?:a )?minimum(?: of)?|above"
    r"|(?:well )?(?<!run )(?<!spread )(?<!played )(?<!held )(?<!paid )over"
    r"|(?:more|greater|older|longer|taller|higher|larger|bigger|heavier|wider|deeper|later) than"
    r"|exceed(?:s|ed|ing)?|upwards? of|in excess of|from at least)|[>≥]=?)\s*$"
)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|no more than|not more than|(?:a )?maximum(?: of)?|under|below|up to"
    r"|(?:less|fewer|younger|shorter|lower|smaller|lighter|cheaper|earlier) than"
    r"|not exceeding|within|as (?:much|many) as)|[<≤]=?)\s*$"
)
_OR_MORE = re.compile(r"\+(?!\d)| (?:or|and) (?:more|above|over|older|higher|greater|longer)\b| (?:minimum|at least)\b")
_OR_LESS = re.compile(r" (?:or|and) (?:less|fewer|below|under|younger|lower|shorter)\b| (?:maximum|at most)\b")
_OR_SO = re.compile(r" or so\b|-?ish\b| (?:more or less|approximately)\b|-odd\b")
# The last words of what the patterns above read: anything else before a number says nothing about it.
_BEFORE_NUMBER = word_set(
    """
    about around approximately approx. approx roughly nearly almost circa ca. c. some estimated at a an the to over
    under above below average of so least than minimum exceed exceeds exceeded exceeding from most maximum within many
    much on quite order
    """
)
_APART = 28  # characters of context read before a number


class Qualifier(NamedTuple):
    """How a number between `start` and `end` (its qualifying words included) is loosened.

    `lean`: an approximate number is a little more than the value (-1: "nearly"), or less (1: "just over"); `bound`: the
    number is the least (1) or the most (-1) that is meant.
    """

    start: int
    end: int
    approximate: bool = False
    lean: int = 0
    bound: int = 0


def qualifier(low: str, start: int, end: int) -> Qualifier:
    """Read what loosens the number that is ``low[start:end]``; `low` is in lower case."""
    left = low[max(0, start - _APART) : start]
    last = left.rstrip(" (").rpartition(" ")[2].rpartition("\n")[2]
    after = low[end : end + 1]
    if not (
        last in _BEFORE_NUMBER or last[-1:] in ("~", "≈", "<", ">", "≤", "≥", "=") or after in ("+", " ", "-", "i")
    ):
        return Qualifier(start, end)
    first, final, approximate, lean = start, end, False, 0
    about, so = _APPROXIMATE.search(left), _OR_SO.match(low, end)
    if about is not None or so is not None:
        approximate = True
        if about is not None:
            lean = -1 if about["below"] else 1 if about["above"] else 0
            first -= len(left) - about.start()
            left = left[: about.start()]
        if so is not None:
            final = so.end()
    bound, least, most = 0, _AT_LEAST.search(left), _AT_MOST.search(left)
    more, less = _OR_MORE.match(low, end), _OR_LESS.match(low, end)
    chosen = most if most is not None and (least is None or most.start() <= least.start()) else least
    if chosen is not None:
        bound = -1 if chosen is most else 1
        first -= len(left) - chosen.start()
    elif more is not None or less is not None:
        bound = 1 if more is not None else -1
        final = max(final, (more or less).end())  # type: ignore[union-attr]
    return Qualifier(first, final, approximate, lean, bound)
