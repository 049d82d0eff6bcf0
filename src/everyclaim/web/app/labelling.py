"""Labelling: the queues, how far people are and agree; and the desk, one text at a time, every label kept at once.

The desk works as a plain form; the script beside it sends the same forms on its own and fetches what comes next. Every
stretch of a passage knows where in the passage it stands, so what people select is found again, as it stands.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Form, HTTPException, Request
from pydantic import BaseModel, StrictInt, TypeAdapter, ValidationError
from starlette.responses import JSONResponse, RedirectResponse, Response

from everyclaim.analysis.labels import settle
from everyclaim.api.labeling import LabelingSession, LabelTask
from everyclaim.api.labels import LONGEST_NAME, label_queue
from everyclaim.core.errors import ConfigError, EveryclaimError, UserError
from everyclaim.core.kinds import WAYS
from everyclaim.core.types import FailureMode, Label, Outcome, SplitMark
from everyclaim.io import open_rows
from everyclaim.report.html import shown
from everyclaim.report.html.layout import Mark, Segment, lay_out
from everyclaim.store.labels import HistoryEntry
from everyclaim.store.records import Annotation, Picked
from everyclaim.store.store import Store
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.site import download_file, render, site_of

router = APIRouter()
_FORMS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
_NUMBER = re.compile(r"[0-9]{1,6}")
_RUNS_OFFERED = 200


class QueueForm(BaseModel):
    """A queue as a form asks for it."""

    run: str = ""
    name: str = ""
    annotators: str = ""
    n: str = "100"
    by: str = "stratified"
    overlap: str = "20"
    unit: str = "claims"


@router.get("/label")
def queues(request: Request, run: str = "") -> Response:
    """List the queues, and offer to make one."""
    return _queues(request, QueueForm(run=run, annotators=_named(request)))


@router.post("/label/queues")
def make(request: Request, wanted: Annotated[QueueForm, Form()]) -> Response:
    """Make a queue, or say why not beside what was filled in."""
    _check_may_label(request)
    people = [name.strip() for name in wanted.annotators.replace("\n", ",").split(",")]
    try:
        if not (_NUMBER.fullmatch(wanted.n) and _NUMBER.fullmatch(wanted.overlap) and int(wanted.overlap) <= 100):
            raise ConfigError("the number to label must be a whole number, the overlap 0 to 100 per cent")
        made = label_queue(
            wanted.run,
            int(wanted.n),
            name=wanted.name.strip(),
            by=cast("Any", wanted.by),  # checked behind the door
            answers=wanted.unit == "answers",
            annotators=[name for name in people if name],
            overlap=int(wanted.overlap) / 100,
            store=site_of(request).location,
        )
    except UserError as error:
        return _queues(request, wanted, said=str(error), http_status=400)
    return RedirectResponse(f"/label/queues/{made.id}", 303)


@router.get("/label/queues/{queue}")
def one_queue(request: Request, queue: str) -> Response:
    """Show how far everybody is in a queue, and lead them to it."""
    store = site_of(request).read_store
    found = store.labelling.queue(queue)
    return render(request, "label_queue.html", queue=found, run=store.run(found.run), named=_named(request))


@router.post("/label/queues/{queue}/delete")
def delete(request: Request, queue: str) -> Response:
    """Delete a queue; what was labelled in it stays."""
    _check_may_label(request)
    labelling = site_of(request).write_store.labelling
    run = labelling.queue(queue).run
    labelling.delete_queue(queue)
    return RedirectResponse(f"/label/runs/{run}", 303)


@router.get("/label/runs/{run}")
def of_run(request: Request, run: str) -> Response:
    """Show what people say of a run: how much, how far they agree, and where they do not."""
    store = site_of(request).read_store
    record = store.run(run)
    desk = LabelingSession.of_disputes(store, record.id)
    return render(
        request,
        "label_run.html",
        run=record,
        queues=store.labelling.queues(record.id),
        settling=settle(desk.labels),
        texts=len({label.key for label in desk.labels}),
        by_person=_by_person(desk.labels),
        by_mark=Counter(mark.value for mark in desk.marks if mark.value is not SplitMark.GOOD),
        desk=desk,
        left=len(desk.left()),
    )


@router.get("/label/runs/{run}/labels.{form}")
def export(request: Request, run: str, form: Literal["jsonl", "csv"]) -> Response:
    """Hand out a run's labels, as `calibrate` reads them."""
    store = site_of(request).read_store
    record = store.run(run)
    rows = list(_rows(store, record.id))

    def write(path: Path) -> None:
        with open_rows(path, columns={name: str for row in rows[:1] for name in row}, marked=True) as write_row:
            for row in rows:
                write_row(row)

    return download_file(f"labels-{record.id}.{form}", _FORMS[form], write)


def _queues(request: Request, form: QueueForm, *, said: str = "", http_status: int = 200) -> Response:
    runs = site_of(request).runs()
    return render(
        request,
        "label_queues.html",
        http_status,
        queues=site_of(request).read_store.labelling.queues() if runs else [],
        runs=[run for run in runs[:_RUNS_OFFERED] if run.counts[Outcome.SCORED]],
        names={run.id: run.title for run in runs},
        ways=WAYS,
        form=form,
        said=said,
        longest=LONGEST_NAME,
    )


def _named(request: Request) -> str:
    """Return the name that a proxy vouches for, if any."""
    return visitor_of(request).name if site_of(request).access.proxy_header else ""


def _by_person(labels: Sequence[Annotation[Label]]) -> list[tuple[str, Mapping[Label, int]]]:
    found: dict[str, Counter[Label]] = {}
    for one in labels:
        found.setdefault(one.annotator, Counter())[one.value] += 1
    return [(name, {label: counts[label] for label in Label}) for name, counts in sorted(found.items())]


def _rows(store: Store, run: str) -> Iterator[dict[str, Any]]:
    labels = store.labels(run)
    texts = {record.position: record for record in store.records_at(run, {label.position for label in labels})}
    for label in labels:
        record = texts[label.position]
        claim = next((known for known in record.result.claims if known.id == label.claim_id), None)
        span = claim.span if claim else label.span
        if claim is None and span is None and not label.is_of_answer:
            continue  # of a claim that this run does not have
        text = "" if label.is_of_answer else claim.text if claim else record.sample.response[slice(*(span or ()))]
        passages = record.sample.passages
        picked = [
            {"passage_id": passages[piece.passage].id, "start": piece.start, "end": piece.end}
            for piece in label.evidence
            if piece.passage < len(passages)
        ]
        yield {
            "sample_id": label.sample_id,
            "claim": text,
            "span": span and list(span),
            "label": label.value.value,
            "annotator": label.annotator,
            "failure_mode": label.failure_mode or "",
            "note": label.note,
            "chosen": label.chosen,
            "evidence": picked,
            "created": label.created,
        }


# ---- the desk

_WHOLE = 60_000  # characters; a longer passage is cut to a third of that, unless all is asked for
_AT_ONCE = 400_000  # characters of passages in one page
_AROUND = 4_000  # characters of an answer on either side of the claim
_WAITING = 30  # keys of what comes next, for the script to fetch beforehand
_BAD_CLAIM = (
    (SplitMark.OVER_SPLIT, "over-split", "a fragment that needs its neighbour"),
    (SplitMark.UNDER_SPLIT, "under-split", "several statements in one"),
    (SplitMark.NOT_A_CLAIM, "not checkable", "no source could support it"),
    (SplitMark.LOST_MEANING, "lost meaning", "differs from its sentence"),
)
_VALUES: Mapping[str, Label | SplitMark] = {one.value: one for one in (*Label, *(mark for mark, _, _ in _BAD_CLAIM))}
_EVIDENCE = TypeAdapter(list[tuple[StrictInt, StrictInt, StrictInt]])
Kind = Literal["queues", "runs"]


def _task_view(desk: LabelingSession, task: LabelTask, *, everything: bool) -> dict[str, Any]:
    """Return a text to label with all that its page shows; `everything`: also what is left out of very long ones.

    `evidence` is what was picked so far, for the script: place of the passage, start, end, and what stands there.
    """
    claim, picked = task.claim, task.said.evidence
    marks = [Mark(*claim.span, 1, Label.SUPPORTED)] if claim else []
    around = None if everything or claim is None else _AROUND
    budget, passages = _AT_ONCE, []
    for passage in task.passages:
        if budget <= 0 and not everything:
            break
        is_short = everything or len(passage.text) <= _WHOLE
        passages.append((passage, lay_out(passage.text, context=None if is_short else _WHOLE // 3)))
        budget -= min(len(passage.text), _WHOLE) + 200
    hidden = len(task.passages) - len(passages)
    keys = ["", *(item.key for item in desk.items), ""]
    rows = [[*place, shown(quote.quote)] for place, quote in zip(picked, task.quoted(picked), strict=False)]
    return {
        "task": task,
        "neighbours": (keys[task.number - 1], keys[task.number + 1]),  # in this person's order; empty: none
        "response": lay_out(task.kept.sample.response, marks, context=around),
        "passages": passages,
        "hidden_passages": hidden,
        "is_cut": bool(hidden) or any(block.hidden for _, blocks in passages for block in blocks),
        "evidence": json.dumps(rows, ensure_ascii=True),
    }


def _pieces_of(segments: Iterable[Segment]) -> Iterator[tuple[str, int, int, str]]:
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
    kind: Kind,
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
    key = at or next(iter(desk.left()), "")
    state = _state_of(desk)
    return render(
        request,
        f"label_{part}.html",
        view=_task_view(desk, desk.task(key), everything=everything) if key else None,
        desk=desk,
        run=site_of(request).write_store.run(desk.run),
        base=_base(desk),
        address=_address(desk),
        state=state,
        state_json=json.dumps(state),
        bad_claim=_BAD_CLAIM,
        modes=list(FailureMode),
        pieces=_pieces_of,
        action=secrets.token_hex(16),
    )


@router.post("/label/{kind}/{about}/do")
def act(request: Request, kind: Kind, about: str, form: Annotated[LabelForm, Form()]) -> Response:
    """Keep what is said of a text. The script is answered in JSON, also where what it asks for is refused."""
    is_script = "application/json" in request.headers.get("accept", "")
    try:
        desk = _desk(request, kind, about, form.who)
        entry = _kept(desk, form)
        key = entry.about.key if entry else ""
        if not is_script:
            at = {"at": key} if form.word == "undo" and key else {}
            return RedirectResponse(_address(desk, **at), 303)
        told: dict[str, Any] = {"key": key, "state": _state_of(desk)}
        if form.word in _VALUES:
            told["judged"] = desk.task(key).judged.value.lower()
        return JSONResponse(told)
    except (EveryclaimError, HTTPException) as error:
        if not is_script:
            raise
        if isinstance(error, HTTPException):
            return JSONResponse({"error": shown(error.detail)}, error.status_code)
        return JSONResponse({"error": shown(str(error))}, 409 if isinstance(error, UserError) else 503)


def _check_may_label(request: Request, annotator: str = "") -> None:
    """Refuse whoever may not label, or not in this name: where a proxy says who people are, they are that."""
    if not visitor_of(request).may("label"):
        raise HTTPException(403, "this token cannot label: it needs the scope “label”")
    if annotator and (named := _named(request)) and annotator != named:
        raise HTTPException(403, f"you are logged in as {named} and can label only under that name")


def _desk(request: Request, kind: Kind, about: str, who: str) -> LabelingSession:
    _check_may_label(request, who)
    store, of_queue = site_of(request).write_store, kind == "queues"
    desk = LabelingSession.of_queue(store, about, who) if of_queue else LabelingSession.of_disputes(store, about)
    desk.actor = visitor_of(request).name
    return desk


def _base(desk: LabelingSession) -> str:
    return f"/label/queues/{desk.queue.id}" if desk.queue else f"/label/runs/{desk.run}"


def _address(desk: LabelingSession, **more: str) -> str:
    who = {} if desk.settles else {"who": desk.annotator}
    return f"{_base(desk)}/desk?{urlencode(who | more)}"


def _state_of(desk: LabelingSession) -> dict[str, object]:
    """Return how far the desk is, and what comes next, for the script."""
    left = desk.left()
    skipped = sum(item.skipped is not None and not item.is_done for item in desk.items)
    total = len({item.key for item in desk.items})
    return {"total": total, "done": total - len(left), "skipped": skipped, "next": left[:_WAITING]}


def _kept(desk: LabelingSession, form: LabelForm) -> HistoryEntry | None:
    if form.word == "undo":
        return desk.undo(form.action)
    if form.word in {"skip", "withdraw"}:
        return (desk.skip if form.word == "skip" else desk.withdraw)(form.action, form.key)
    if form.word not in _VALUES:
        raise HTTPException(400, "this is not a label for a claim")
    if form.mode and form.mode not in set(FailureMode):
        raise HTTPException(400, "unknown failure mode")
    try:
        evidence = tuple(Picked(*row) for row in _EVIDENCE.validate_json(form.evidence or "[]"))
    except ValidationError:
        raise HTTPException(400, "cannot read the evidence: pass a list of [passage, start, end]") from None
    return desk.say(
        form.action,
        form.key,
        value=_VALUES[form.word],
        note=form.note.replace("\r\n", "\n"),
        failure_mode=FailureMode(form.mode) if form.mode else None,
        evidence=evidence,
    )
