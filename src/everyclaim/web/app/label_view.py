"""A text to label, made ready for its page: every stretch of a passage knows where in the passage it stands.

So what people select is found again, character for character, however the passage is laid out and whatever in it had to
be written as an escape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from everyclaim.api.desk import Desk, Task
from everyclaim.core.types import Label, Span
from everyclaim.report.html.environment import shown
from everyclaim.report.html.layout import Block, lay_out
from everyclaim.report.html.marking import Mark, Segment

_WHOLE = 60_000  # characters; a longer passage is cut to a third of that, unless all is asked for
_AT_ONCE = 400_000  # characters of passages in one page
_AROUND = 4_000  # characters of an answer on either side of the claim
_WAITING = 30  # keys of what comes next, for the script to fetch beforehand


class Piece(NamedTuple):
    """A stretch of text; written as it is, or an escape that stands for all of it. `about`: it is the claim."""

    text: str
    start: int
    end: int
    about: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: lines, each so many levels in, or rows of cells; `hidden` characters that are not shown."""

    kind: str
    lines: Sequence[tuple[int, Sequence[Piece]]] = ()
    rows: Sequence[Sequence[Sequence[Piece]]] = ()
    has_head: bool = False
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class PassageToRead:
    """A passage; `number` counts from 1."""

    number: int
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class TaskView:
    """A text to label with all that its page shows."""

    task: Task
    total: int
    before: str  # keys of its neighbours in this person's order; empty: none
    after: str
    response: Sequence[Part]
    passages: Sequence[PassageToRead]
    hidden_passages: int

    @property
    def key(self) -> str:
        """What names it."""
        return self.task.item.key

    @property
    def is_cut(self) -> bool:
        """Whether something of the passages is not shown."""
        return bool(self.hidden_passages) or any(part.hidden for one in self.passages for part in one.parts)

    @property
    def evidence(self) -> str:
        """The evidence picked so far, for the script: place of the passage, start, end, and what stands there."""
        said = self.task.said.evidence
        quotes = self.task.quoted(said)
        return json.dumps(
            [[*one, shown(quote.quote)] for one, quote in zip(said, quotes, strict=False)], ensure_ascii=True
        )

    @property
    def judged_sure(self) -> float | None:
        """How probable the judge takes what its verdict says."""
        return None if self.task.claim is None else self.task.claim.verdict.probability


def task_view(desk: Desk, key: str, *, everything: bool = False) -> TaskView:
    """Prepare a text; `everything`: also what is left out of very long ones."""
    task = desk.task(key)
    keys = [one.key for one in desk.items]
    place = task.number - 1
    span = task.claim.span if task.claim else Span(0, 0)
    marks = [Mark(*span, 1, Label.SUPPORTED)] if task.claim else []
    around = None if everything or task.claim is None else _AROUND
    passages = list(_passages(task, everything=everything))
    return TaskView(
        task,
        len(keys),
        keys[place - 1] if place else "",
        keys[place + 1] if place + 1 < len(keys) else "",
        [_part(block) for block in lay_out(task.kept.sample.response, marks, context=around)],
        passages,
        len(task.passages) - len(passages),
    )


def state_of(desk: Desk) -> dict[str, object]:
    """Return how far the desk is, and what comes next, for the script."""
    left = desk.left()
    skipped = sum(one.skipped is not None and not one.is_done for one in desk.items)
    total = len({one.key for one in desk.items})
    return {"total": total, "done": total - len(left), "skipped": skipped, "next": left[:_WAITING]}


def _passages(task: Task, *, everything: bool) -> Iterable[PassageToRead]:
    budget = _AT_ONCE
    for number, passage in enumerate(task.passages, 1):
        if budget <= 0 and not everything:
            return
        context = None if everything or len(passage.text) <= _WHOLE else _WHOLE // 3
        blocks = lay_out(passage.text, context=context)
        budget -= min(len(passage.text), _WHOLE) + 200
        yield PassageToRead(number, passage.title or passage.id, [_part(block) for block in blocks])


def _part(block: Block) -> Part:
    if block.kind == "record":
        return Part("record", [(line.indent, _pieces(line.segments)) for line in block.lines])
    if block.kind == "table":
        return Part("table", rows=[[_pieces(cell) for cell in row] for row in block.rows], has_head=block.has_head)
    return Part(block.kind, [(0, _pieces(block.segments))], hidden=block.hidden)


def _pieces(segments: Iterable[Segment]) -> list[Piece]:
    return [piece for segment in segments for piece in _of_segment(segment)]


def _of_segment(segment: Segment) -> Iterable[Piece]:
    about = bool(segment.marks)
    if shown(segment.text) == segment.text:
        yield Piece(segment.text, segment.start, segment.end, about)
        return
    place = segment.start
    for is_plain, characters in groupby(segment.text, lambda one: shown(one) == one):
        run = "".join(characters)
        for text in [run] if is_plain else run:
            yield Piece(text, place, place + len(text), about)
            place += len(text)
