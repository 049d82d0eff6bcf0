"""Labelling from above: the queues, how far everyone is, how far people agree, and what is to be settled."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Form, HTTPException, Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from everyclaim.analysis.labels import ADJUDICATED, Opinion, opinions_of, settle
from everyclaim.api.labeling import LabelingSession
from everyclaim.api.labels import LONGEST_NAME, label_queue
from everyclaim.core.errors import ConfigError, UserError
from everyclaim.core.kinds import WAYS
from everyclaim.core.types import Label, Outcome, SplitMark
from everyclaim.io import open_rows
from everyclaim.store.records import Annotation
from everyclaim.store.store import Store
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.pages.desk import may_label
from everyclaim.web.app.site import render, site_of

router = APIRouter()
_MEANINGS = {
    "stratified": "oversamples rare labels, weighted in the estimate",
    "random": "every claim with equal probability",
    "allocation": "minimises the interval, given existing labels",
    "uncertainty": "claims on which the judge is unsure; excluded from the rates",
}
_FORMS = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
_WHOLE = re.compile(r"[0-9]{1,6}")
_RUNS_OFFERED = 200
_PAIRS = 10  # of people, whose agreement is drawn up as a table


class QueueForm(BaseModel):
    """A queue as a form asks for it."""

    run: str = ""
    name: str = ""
    annotators: str = ""
    n: str = "100"
    by: str = "stratified"
    overlap: str = "20"
    unit: str = "claims"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """What two people say of the same claims: how often each pair of words, rows the first one's."""

    first: str
    second: str
    counts: Sequence[Sequence[int]]


@router.get("/label")
def queues(request: Request, run: str = "") -> Response:
    """List the queues, and offer to make one."""
    named = visitor_of(request).name if site_of(request).access.proxy_header else ""
    return _queues(request, QueueForm(run=run, annotators=named))


@router.post("/label/queues")
def make(request: Request, wanted: Annotated[QueueForm, Form()]) -> Response:
    """Make a queue, or say why not beside what was filled in."""
    may_label(request)
    people = [name.strip() for name in wanted.annotators.replace("\n", ",").split(",")]
    try:
        if not (_WHOLE.fullmatch(wanted.n) and _WHOLE.fullmatch(wanted.overlap) and int(wanted.overlap) <= 100):
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
    named = visitor_of(request).name if site_of(request).access.proxy_header else ""
    return render(
        request, "label_queue.html", queue=found, run=store.run(found.run), meanings=_MEANINGS, named=named, who=_who
    )


@router.post("/label/queues/{queue}/delete")
def delete(request: Request, queue: str) -> Response:
    """Delete a queue; what was labelled in it stays."""
    may_label(request)
    run = site_of(request).write_store.labelling.queue(queue).run
    site_of(request).write_store.labelling.delete_queue(queue)
    return RedirectResponse(f"/label/runs/{run}", 303)


@router.get("/label/runs/{run}")
def of_run(request: Request, run: str) -> Response:
    """Show what people say of a run: how much, how far they agree, and where they do not."""
    store = site_of(request).read_store
    record = store.run(run)
    desk = LabelingSession.of_disputes(store, record.id)
    labels, marks = desk.labels, desk.marks
    return render(
        request,
        "label_run.html",
        run=record,
        queues=store.labelling.queues(record.id),
        settling=settle(labels),
        texts=len({label.key for label in labels}),
        by_person=_by_person(labels),
        by_mark=Counter(mark.value for mark in marks if mark.value is not SplitMark.GOOD),
        pairs=_pairs(list(opinions_of(labels, marks).values())),
        desk=desk,
        left=len(desk.left()),
        who=_who,
    )


@router.get("/label/runs/{run}/labels.{form}")
def export(request: Request, run: str, form: str) -> Response:
    """Hand out a run's labels, as `calibrate` reads them."""
    if form not in _FORMS:
        raise HTTPException(404)
    store = site_of(request).read_store
    record = store.run(run)
    rows = list(_rows(store, record.id, flat=form == "csv"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"labels.{form}"
        with open_rows(path, columns={name: str for row in rows[:1] for name in row}, marked=True) as write:
            for row in rows:
                write(row)
        content = path.read_bytes()
    kept = {"content-disposition": f'attachment; filename="labels-{record.id}.{form}"'}
    return Response(content, media_type=_FORMS[form], headers=kept)


def _queues(request: Request, form: QueueForm, *, said: str = "", http_status: int = 200) -> Response:
    runs = site_of(request).runs()
    found = site_of(request).read_store.labelling.queues() if runs else []
    names = {run.id: run.name or run.id for run in runs}
    return render(
        request,
        "label_queues.html",
        http_status=http_status,
        queues=found,
        runs=[run for run in runs[:_RUNS_OFFERED] if run.counts[Outcome.SCORED]],
        names=names,
        ways=[(way, _MEANINGS[way]) for way in WAYS],
        form=form,
        said=said,
        longest=LONGEST_NAME,
    )


def _who(name: str) -> str:
    """Write a name as the part of an address."""
    return urlencode({"who": name})


def _by_person(labels: Sequence[Annotation[Label]]) -> list[tuple[str, Mapping[Label, int]]]:
    found: dict[str, Counter[Label]] = {}
    for one in labels:
        found.setdefault(one.annotator, Counter())[one.value] += 1
    return [(name, {label: counts[label] for label in Label}) for name, counts in sorted(found.items())]


def _pairs(everybody: Sequence[Sequence[Opinion]]) -> list[PairAgreement]:
    """Count what every two people say of the same claims, in three labels."""
    counts: dict[tuple[str, str], Counter[tuple[Label, Label]]] = {}
    for said in everybody:
        own = sorted((one.annotator, one.label) for one in said if one.label and one.annotator != ADJUDICATED)
        for (first, one), (second, other) in combinations(own, 2):
            counts.setdefault((first, second), Counter())[one, other] += 1
    return [
        PairAgreement(first, second, [[found[one, other] for other in Label] for one in Label])
        for (first, second), found in sorted(counts.items())[:_PAIRS]
    ]


def _rows(store: Store, run: str, *, flat: bool) -> Iterator[dict[str, Any]]:
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
            "span": (json.dumps(span) if flat else list(span)) if span else ("" if flat else None),
            "label": label.value.value,
            "annotator": label.annotator,
            "failure_mode": label.failure_mode or "",
            "note": label.note,
            "chosen": label.chosen,
            "evidence": json.dumps(picked) if flat else picked,
            "created": label.created,
        }
