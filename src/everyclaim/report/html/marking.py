"""A text cut into stretches by what is marked in it: claims in an answer, evidence and differences in a passage.

Marks may overlap, nest, repeat and reach beyond the text. Joined, the segments give the text back, character for
character, and every segment knows all the marks that cover it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from everyclaim.core.types import Label
from everyclaim.report.html.markdown import Style


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch ``text[start:end]``; `claim` is the number of the claim that it belongs to, from 1."""

    start: int
    end: int
    claim: int
    label: Label
    kind: str = "claim"  # claim, evidence, difference


class Segment(NamedTuple):
    """A stretch of the text under the same marks, the longest first; none at all between them."""

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...] = ()
    style: str = ""  # classes

    @property
    def innermost(self) -> Mark:
        """The shortest mark, of a claim where there is one: what a click on this stretch means."""
        return next((mark for mark in reversed(self.marks) if mark.kind == "claim"), self.marks[-1])

    @property
    def claims(self) -> str:
        """The numbers of its claims, in order, with blanks between: ``1 3``."""
        return " ".join(map(str, sorted({mark.claim for mark in self.marks})))

    @property
    def is_difference(self) -> bool:
        """Whether it is where a claim and its passage part."""
        return any(mark.kind == "difference" for mark in self.marks)


def segments(
    text: str, marks: Iterable[Mark], start: int = 0, end: int | None = None, styles: Iterable[Style] = ()
) -> list[Segment]:
    """Cut ``text[start:end]`` at the ends of marks and styles; all offsets are those of the whole text."""
    end = len(text) if end is None else min(end, len(text))
    everything: list[Mark | Style] = [*marks, *styles]
    inside = [mark for mark in everything if max(mark.start, start) < min(mark.end, end)]
    cuts = sorted({start, end} | {max(mark.start, start) for mark in inside} | {min(mark.end, end) for mark in inside})
    waiting = sorted(inside, key=lambda mark: mark.start, reverse=True)
    open_: list[Mark | Style] = []
    found = []
    for low, high in pairwise(cuts):
        while waiting and waiting[-1].start <= low:
            open_.append(waiting.pop())
        open_ = [mark for mark in open_ if mark.end > low]
        style = " ".join(one.kind for one in open_ if isinstance(one, Style))
        own = [one for one in open_ if isinstance(one, Mark)]
        found.append(Segment(text[low:high], low, high, _outermost_first(own), style))
    return found


def _outermost_first(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda mark: (mark.start - mark.end, mark.start, mark.claim, mark.kind)))
