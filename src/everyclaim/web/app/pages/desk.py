"""The labelling page itself: one text at a time, by keyboard, pointer or touch, and what is said of it kept at once.

The page works as a plain form; the script beside it sends the same forms on its own and fetches what comes next.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, HTTPException, Request
from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError
from starlette.responses import JSONResponse, RedirectResponse, Response

from everyclaim.api.desk import Desk
from everyclaim.core.errors import EveryclaimError, UserError
from everyclaim.core.types import FailureMode, Label, SplitMark
from everyclaim.report.html.environment import shown
from everyclaim.store import Entry, Picked
from everyclaim.web.app.entrance import visitor_of
from everyclaim.web.app.label_view import state_of, task_view
from everyclaim.web.app.site import render, site_of

router = APIRouter()
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


@router.get("/label/queues/{queue}/desk")
def of_queue(request: Request, queue: str, who: str, at: str = "", everything: bool = False) -> Response:
    """Show a person's part of a queue, at what waits next or at what is asked for."""
    return _shown(request, "label_desk.html", _desk(request, queue, who), at, everything=everything)


@router.get("/label/runs/{run}/desk")
def of_disputes(request: Request, run: str, at: str = "", everything: bool = False) -> Response:
    """Show what annotators of a run differ about, to be settled."""
    return _shown(request, "label_desk.html", _settling(request, run), at, everything=everything)


@router.get("/label/queues/{queue}/item")
def item_of_queue(request: Request, queue: str, who: str, at: str = "", everything: bool = False) -> Response:
    """Return one text of a queue alone, for the script."""
    return _shown(request, "label_item.html", _desk(request, queue, who), at, everything=everything)


@router.get("/label/runs/{run}/item")
def item_of_disputes(request: Request, run: str, at: str = "", everything: bool = False) -> Response:
    """Return one text to settle alone."""
    return _shown(request, "label_item.html", _settling(request, run), at, everything=everything)


@router.post("/label/queues/{queue}/do")
def do_in_queue(request: Request, queue: str, said: Annotated[Said, Form()]) -> Response:
    """Keep what a person says of a text of their queue."""
    return _answered(request, lambda: _do(request, _desk(request, queue, said.who), said))


@router.post("/label/runs/{run}/do")
def do_with_disputes(request: Request, run: str, said: Annotated[Said, Form()]) -> Response:
    """Keep what is settled."""
    return _answered(request, lambda: _do(request, _settling(request, run), said))


def may_label(request: Request, annotator: str = "") -> None:
    """Refuse whoever may not label, or not in this name: where a proxy says who people are, they are that."""
    visitor = visitor_of(request)
    if not visitor.may("label"):
        raise HTTPException(403, "this token may look, and not label: that takes one with the scope “label”")
    if annotator and site_of(request).access.proxy_header and visitor.name and annotator != visitor.name:
        raise HTTPException(403, f"you are logged in as {visitor.name}, and label in that name alone")


def _desk(request: Request, queue: str, who: str) -> Desk:
    may_label(request, who)
    return Desk.of_queue(site_of(request).pen.store, queue, who)


def _settling(request: Request, run: str) -> Desk:
    may_label(request)
    return Desk.of_disputes(site_of(request).pen.store, run)


def _base(desk: Desk) -> str:
    return f"/label/queues/{desk.queue.id}" if desk.queue else f"/label/runs/{desk.run}"


def _frame(request: Request, desk: Desk) -> dict[str, Any]:
    state = state_of(desk)
    who = {} if desk.settles else {"who": desk.annotator}
    return {
        "desk": desk,
        "run": site_of(request).pen.store.run(desk.run),
        "base": _base(desk),
        "address": f"{_base(desk)}/desk?{urlencode(who)}",
        "state": state,
        "state_json": json.dumps(state),
        "bad_claim": BAD_CLAIM,
        "of_answers": OF_ANSWERS,
        "modes": list(FailureMode),
        "action": secrets.token_hex(16),
    }


def _shown(request: Request, template: str, desk: Desk, at: str, *, everything: bool) -> Response:
    left = desk.left()
    key = at or (left[0] if left else "")
    view = task_view(desk, key, everything=everything) if key else None
    return render(request, template, view=view, **_frame(request, desk))


def _answered(request: Request, act: Callable[[], Response]) -> Response:
    """Answer the script in JSON, also where what it asks for is refused."""
    try:
        return act()
    except (EveryclaimError, HTTPException) as error:
        if not _is_script(request):
            raise
        if isinstance(error, HTTPException):
            return JSONResponse({"error": shown(error.detail)}, error.status_code)
        return JSONResponse({"error": shown(str(error))}, 409 if isinstance(error, UserError) else 503)


def _do(request: Request, desk: Desk, said: Said) -> Response:
    actor = visitor_of(request).name
    entry: Entry | None
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
