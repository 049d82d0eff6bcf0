"""The labelling page: one text at a time, by keyboard, pointer or touch, and what is said of it kept at once.

The page works as a plain form; the script beside it sends the same forms on its own and fetches what comes next. Every
stretch of a passage knows where in the passage it stands, so what people select is found again, as it stands.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, HTTPException, Request
from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError
from starlette.responses import JSONResponse, RedirectResponse, Response

from everyclaim.api.labeling import LabelingSession, LabelTask
from everyclaim.core.errors import EveryclaimError, UserError
from everyclaim.core.types import FailureMode, Label, Passage, SplitMark
from everyclaim.report.html.environment import shown
from everyclaim.report.html.layout import LaidOutBlock, Mark, Segment, lay_out
from everyclaim.store.labels import HistoryEntry
from everyclaim.store.records import Picked
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.site import render, site_of

router = APIRouter()
_WHOLE = 60_000  # characters; a longer passage is cut to a third of that, unless all is asked for
_AT_ONCE = 400_000  # characters of passages in one page
_AROUND = 4_000  # characters of an answer on either side of the claim
_WAITING = 30  # keys of what comes next, for the script to fetch beforehand


@dataclass(frozen=True)
class TaskView:
    """A text to label with all that its page shows; `everything`: also what is left out of very long ones."""

    desk: LabelingSession
    task: LabelTask
    everything: bool = False

    @property
    def key(self) -> str:
        """What names it."""
        return self.task.item.key

    @property
    def neighbours(self) -> tuple[str, str]:
        """The keys of those before and after it in this person's order; empty: none."""
        keys = ["", *(item.key for item in self.desk.items), ""]
        return keys[self.task.number - 1], keys[self.task.number + 1]

    @property
    def response(self) -> list[LaidOutBlock]:
        """The answer, with the claim marked, where a claim is asked for."""
        claim = self.task.claim
        marks = [Mark(*claim.span, 1, Label.SUPPORTED)] if claim else []
        around = None if self.everything or claim is None else _AROUND
        return lay_out(self.task.kept.sample.response, marks, context=around)

    @cached_property
    def passages(self) -> list[tuple[Passage, list[LaidOutBlock]]]:
        """The passages, as many as there is room for."""
        budget, found = _AT_ONCE, []
        for passage in self.task.passages:
            if budget <= 0 and not self.everything:
                break
            is_short = self.everything or len(passage.text) <= _WHOLE
            found.append((passage, lay_out(passage.text, context=None if is_short else _WHOLE // 3)))
            budget -= min(len(passage.text), _WHOLE) + 200
        return found

    @property
    def hidden_passages(self) -> int:
        """How many passages are not shown."""
        return len(self.task.passages) - len(self.passages)

    @property
    def is_cut(self) -> bool:
        """Whether something of the passages is not shown."""
        return bool(self.hidden_passages) or any(block.hidden for _, blocks in self.passages for block in blocks)

    @property
    def evidence(self) -> str:
        """The evidence picked so far, for the script: place of the passage, start, end, and what stands there."""
        picked = self.task.said.evidence
        quotes = self.task.quoted(picked)
        rows = [[*place, shown(quote.quote)] for place, quote in zip(picked, quotes, strict=False)]
        return json.dumps(rows, ensure_ascii=True)


def pieces_of(segments: Iterable[Segment]) -> Iterator[tuple[str, int, int, str]]:
    """Yield stretches of text with their places, as they are written: an escape stands for all of one.

    The last value has the classes: `about` for the claim, those of its Markdown.
    """
    for segment in segments:
        place = segment.start
        classes = " ".join(filter(None, ("about" if segment.marks else "", segment.style)))
        if shown(segment.text) == segment.text:
            yield segment.text, place, segment.end, classes
            continue
        for is_plain, characters in groupby(segment.text, lambda character: shown(character) == character):
            run = "".join(characters)
            for text in [run] if is_plain else run:
                yield text, place, place + len(text), classes
                place += len(text)


def state_of(desk: LabelingSession) -> dict[str, object]:
    """Return how far the desk is, and what comes next, for the script."""
    left = desk.left()
    skipped = sum(item.skipped is not None and not item.is_done for item in desk.items)
    total = len({item.key for item in desk.items})
    return {"total": total, "done": total - len(left), "skipped": skipped, "next": left[:_WAITING]}


BAD_CLAIM = (
    (SplitMark.OVER_SPLIT, "over-split", "a fragment that needs its neighbour"),
    (SplitMark.UNDER_SPLIT, "under-split", "several statements in one"),
    (SplitMark.NOT_A_CLAIM, "not checkable", "no source could support it"),
    (SplitMark.LOST_MEANING, "lost meaning", "differs from its sentence"),
)
OF_ANSWERS = {
    Label.SUPPORTED: "the passages state all of it",
    Label.UNSUPPORTED: "contains something the passages do not state",
    Label.CONTRADICTED: "contains something that contradicts the passages",
}
_VALUES: Mapping[str, Label | SplitMark] = {
    **{label.value: label for label in Label},
    **{mark.value: mark for mark, _, _ in BAD_CLAIM},
}
_EVIDENCE = TypeAdapter(list[tuple[StrictInt, StrictInt, StrictInt]])


class LabelForm(BaseModel):
    """What a form says of a text: `word` is a label, a mark, or what to do."""

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
    view = TaskView(desk, desk.task(key), everything) if key else None
    return render(request, f"label_{part}.html", view=view, **_frame(request, desk))


@router.post("/label/{kind}/{about}/do")
def act(request: Request, kind: Literal["queues", "runs"], about: str, form: Annotated[LabelForm, Form()]) -> Response:
    """Keep what is said of a text. The script is answered in JSON, also where what it asks for is refused."""
    try:
        return _do(request, _desk(request, kind, about, form.who), form)
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
        raise HTTPException(403, "this token cannot label: it needs the scope “label”")
    if annotator and site_of(request).access.proxy_header and visitor.name and annotator != visitor.name:
        raise HTTPException(403, f"you are logged in as {visitor.name} and can label only under that name")


def _desk(request: Request, kind: str, about: str, who: str) -> LabelingSession:
    may_label(request, who)
    store = site_of(request).write_store
    if kind == "queues":
        return LabelingSession.of_queue(store, about, who)
    return LabelingSession.of_disputes(store, about)


def _base(desk: LabelingSession) -> str:
    return f"/label/queues/{desk.queue.id}" if desk.queue else f"/label/runs/{desk.run}"


def _address(desk: LabelingSession, **more: str) -> str:
    who = {} if desk.settles else {"who": desk.annotator}
    return f"{_base(desk)}/desk?{urlencode(who | more)}"


def _frame(request: Request, desk: LabelingSession) -> dict[str, Any]:
    state = state_of(desk)
    return {
        "desk": desk,
        "run": site_of(request).write_store.run(desk.run),
        "base": _base(desk),
        "address": _address(desk),
        "state": state,
        "state_json": json.dumps(state),
        "bad_claim": BAD_CLAIM,
        "of_answers": OF_ANSWERS,
        "modes": list(FailureMode),
        "pieces": pieces_of,
        "action": secrets.token_hex(16),
    }


def _do(request: Request, desk: LabelingSession, form: LabelForm) -> Response:
    actor, word = visitor_of(request).name, form.word
    entry: HistoryEntry | None
    if word == "undo":
        entry = desk.undo(form.action, actor=actor)
    elif word in {"skip", "withdraw"}:
        entry = (desk.skip if word == "skip" else desk.withdraw)(form.action, form.key, actor=actor)
    else:
        entry = desk.say(form.action, form.key, **_label_of(form), actor=actor)
    key = entry.about.key if entry else ""
    if not _is_script(request):
        at = {"at": key} if word == "undo" and key else {}
        return RedirectResponse(_address(desk, **at), 303)
    told: dict[str, Any] = {"key": key, "state": state_of(desk)}
    if word in _VALUES:
        told["judged"] = desk.task(key).judged.value.lower()
    return JSONResponse(told)


def _is_script(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _label_of(form: LabelForm) -> dict[str, Any]:
    if form.word not in _VALUES:
        raise HTTPException(400, "this is not a label for a claim")
    if form.mode and form.mode not in set(FailureMode):
        raise HTTPException(400, "unknown failure mode")
    try:
        evidence = tuple(Picked(*row) for row in _EVIDENCE.validate_json(form.evidence or "[]"))
    except ValidationError:
        raise HTTPException(400, "cannot read the evidence: pass a list of [passage, start, end]") from None
    return {
        "value": _VALUES[form.word],
        "note": form.note.replace("\r\n", "\n"),
        "failure_mode": FailureMode(form.mode) if form.mode else None,
        "evidence": evidence,
    }
