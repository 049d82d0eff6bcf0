"""The labelling page: one text at a time, by keyboard, pointer or touch, and what is said of it kept at once.

The page works as a plain form; the script beside it sends the same forms on its own and fetches what comes next. Every
stretch of a passage knows where in the passage it stands, so what people select is found again, as it stands.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, HTTPException, Request
from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError
from starlette.responses import JSONResponse, RedirectResponse, Response

from everyclaim.api.desk import Desk, LabelTask
from everyclaim.core.errors import EveryclaimError, UserError
from everyclaim.core.types import FailureMode, Label, Span, SplitMark
from everyclaim.report.html.environment import shown
from everyclaim.report.html.layout import Block, lay_out
from everyclaim.report.html.marking import Mark, Segment
from everyclaim.store import HistoryEntry, Picked
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.site import render, site_of

router = APIRouter()
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

    task: LabelTask
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


def _passages(task: LabelTask, *, everything: bool) -> Iterable[PassageToRead]:
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


BAD_CLAIM = (
    (SplitMark.OVER_SPLIT, "over-split", "a fragment, that says something only with a neighbour"),
    (SplitMark.UNDER_SPLIT, "under-split", "several statements in one"),
    (SplitMark.NOT_A_CLAIM, "not checkable", "nothing that a source could support"),
    (SplitMark.LOST_MEANING, "lost meaning", "says something else than its sentence"),
)
OF_ANSWERS = {
    Label.SUPPORTED: "all of it: the passages say so",
    Label.UNSUPPORTED: "something the passages do not say",
    Label.CONTRADICTED: "something they say the opposite of",
}
_VALUES: Mapping[str, Label | SplitMark] = {
    **{label.value: label for label in Label},
    **{mark.value: mark for mark, _, _ in BAD_CLAIM},
}
_EVIDENCE = TypeAdapter(list[tuple[StrictInt, StrictInt, StrictInt]])


class Said(BaseModel):
    """What a form says."""

    action: str
    word: str
    who: str = ""
    key: str = ""
    note: str = ""
    mode: str = ""
    evidence: str = ""


@router.get("/label/{kind}/{about}/{part}")
def show(
    request: Request,
    kind: Literal["queues", "runs"],
    about: str,
    part: Literal["desk", "item"],
    who: str = "",
    at: str = "",
    everything: bool = False,
) -> Response:
    """Show a person's part of a queue, or what annotators of a run differ about: the page, or one text for the script.

    It begins at what waits next, or at what is asked for.
    """
    desk = _desk(request, kind, about, who)
    left = desk.left()
    key = at or (left[0] if left else "")
    view = task_view(desk, key, everything=everything) if key else None
    return render(request, f"label_{part}.html", view=view, **_frame(request, desk))


@router.post("/label/{kind}/{about}/do")
def act(request: Request, kind: Literal["queues", "runs"], about: str, said: Annotated[Said, Form()]) -> Response:
    """Keep what is said of a text. The script is answered in JSON, also where what it asks for is refused."""
    try:
        return _do(request, _desk(request, kind, about, said.who), said)
    except (EveryclaimError, HTTPException) as error:
        if not _is_script(request):
            raise
        if isinstance(error, HTTPException):
            return JSONResponse({"error": shown(error.detail)}, error.status_code)
        return JSONResponse({"error": shown(str(error))}, 409 if isinstance(error, UserError) else 503)


def may_label(request: Request, annotator: str = "") -> None:
    """Refuse whoever may not label, or not in this name: where a proxy says who people are, they are that."""
    visitor = visitor_of(request)
    if not visitor.may("label"):
        raise HTTPException(403, "this token may look, and not label: that takes one with the scope “label”")
    if annotator and site_of(request).access.proxy_header and visitor.name and annotator != visitor.name:
        raise HTTPException(403, f"you are logged in as {visitor.name}, and label in that name alone")


def _desk(request: Request, kind: str, about: str, who: str) -> Desk:
    may_label(request, who)
    store = site_of(request).write_store
    return Desk.of_queue(store, about, who) if kind == "queues" else Desk.of_disputes(store, about)


def _base(desk: Desk) -> str:
    return f"/label/queues/{desk.queue.id}" if desk.queue else f"/label/runs/{desk.run}"


def _frame(request: Request, desk: Desk) -> dict[str, Any]:
    state = state_of(desk)
    who = {} if desk.settles else {"who": desk.annotator}
    return {
        "desk": desk,
        "run": site_of(request).write_store.run(desk.run),
        "base": _base(desk),
        "address": f"{_base(desk)}/desk?{urlencode(who)}",
        "state": state,
        "state_json": json.dumps(state),
        "bad_claim": BAD_CLAIM,
        "of_answers": OF_ANSWERS,
        "modes": list(FailureMode),
        "action": secrets.token_hex(16),
    }


def _do(request: Request, desk: Desk, said: Said) -> Response:
    actor = visitor_of(request).name
    entry: HistoryEntry | None
    if said.word == "undo":
        entry = desk.undo(said.action, actor=actor)
    elif said.word == "skip":
        entry = desk.skip(said.action, said.key, actor=actor)
    elif said.word == "withdraw":
        entry = desk.withdraw(said.action, said.key, actor=actor)
    else:
        entry = desk.say(said.action, said.key, **_said(said), actor=actor)
    key = entry.about.key if entry else ""
    if not _is_script(request):
        who = {} if desk.settles else {"who": desk.annotator}
        at = {"at": key} if said.word == "undo" and key else {}
        return RedirectResponse(f"{_base(desk)}/desk?{urlencode(who | at)}", 303)
    told: dict[str, Any] = {"key": key, "state": state_of(desk)}
    if said.word in _VALUES:
        told["judged"] = desk.task(key).judged.value.lower()
    return JSONResponse(told)


def _is_script(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _said(said: Said) -> dict[str, Any]:
    if said.word not in _VALUES:
        raise HTTPException(400, "that is nothing that can be said of a claim")
    if said.mode and said.mode not in set(FailureMode):
        raise HTTPException(400, "that is no kind of failure")
    return {
        "value": _VALUES[said.word],
        "note": said.note.replace("\r\n", "\n"),
        "failure_mode": FailureMode(said.mode) if said.mode else None,
        "evidence": _picked(said.evidence),
    }


def _picked(evidence: str) -> tuple[Picked, ...]:
    try:
        return tuple(Picked(*row) for row in _EVIDENCE.validate_json(evidence or "[]"))
    except ValidationError:
        raise HTTPException(400, "the evidence cannot be read: a list of [passage, start, end]") from None
