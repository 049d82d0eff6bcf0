"""A text cut by what is marked in it, and to what stands around that where it is long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from everyclaim.core.types import Label, Span

_LONGEST = 50_000  # characters that are shown of a text, whatever is marked in it


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


def segments(text: str, marks: Iterable[Mark], start: int = 0, end: int | None = None) -> list[Segment]:
    """Cut ``text[start:end]`` at the ends of marks; all offsets are those of the whole text."""
    end = len(text) if end is None else min(end, len(text))
    inside = [mark for mark in marks if max(mark.start, start) < min(mark.end, end)]
    cuts = sorted({start, end} | {max(mark.start, start) for mark in inside} | {min(mark.end, end) for mark in inside})
    waiting = sorted(inside, key=lambda mark: mark.start, reverse=True)
    open_: list[Mark] = []
    found = []
    for low, high in pairwise(cuts):
        while waiting and waiting[-1].start <= low:
            open_.append(waiting.pop())
        open_ = [mark for mark in open_ if mark.end > low]
        outermost_first = sorted(open_, key=lambda mark: (mark.start - mark.end, mark.start, mark.claim, mark.kind))
        found.append(Segment(text[low:high], low, high, tuple(outermost_first)))
    return found


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of a text as its segments; one without any stands for so many `hidden` characters."""

    segments: Sequence[Segment] = ()
    hidden: int = 0


def lay_out(text: str, marks: Sequence[Mark] = (), *, context: int | None = None) -> list[TextBlock]:
    """Lay a text out with its marks.

    With `context`, a text of more than three times as many characters is cut to that many on either side of every
    mark, or to its beginning where it has none. Of 50,000 characters the rest is left out in any case. What is left out
    is counted.
    """
    found: list[TextBlock] = []
    shown, left = 0, _LONGEST
    for start, end in _windows(text, marks, context):
        last = min(end, start + left)
        if start < last:
            if start > shown:
                found.append(TextBlock(hidden=start - shown))
            found.append(TextBlock(segments(text, marks, start, last)))
            shown = last
        left -= last - start
    if shown < len(text):
        found.append(TextBlock(hidden=len(text) - shown))
    return found


def _windows(text: str, marks: Sequence[Mark], context: int | None) -> list[Span]:
    if context is None or len(text) <= 3 * context:
        return [Span(0, len(text))]
    around = sorted((max(0, mark.start - context), min(len(text), mark.end + context)) for mark in marks)
    found: list[Span] = []
    for start, end in around or [(0, context)]:
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Span(start, end))
    return [_at_words(text, window) for window in found]


def _at_words(text: str, window: Span, reach: int = 24) -> Span:
    """Move the ends of a window to the nearest blank inside it, where there is one."""
    start, end = window
    if start and (blank := text.find(" ", start, start + reach)) >= 0:
        start = blank + 1
    if end < len(text) and (blank := text.rfind(" ", end - reach, end)) > start:
        end = blank
    return Span(start, end)
