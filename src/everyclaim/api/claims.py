"""Claims that are given: judged one by one from a file, or read with labels."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from everyclaim.api.options import RowOptions
from everyclaim.api.scoring import GivenClaims, given_claim
from everyclaim.api.session import Session
from everyclaim.core.errors import BudgetExceeded, InputError
from everyclaim.core.limits import within
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label, Outcome, Provenance, Sample, Usage, Verdict, tag_values
from everyclaim.core.wire import to_json
from everyclaim.io import CLAIMS, ClaimRow, ReadReport, read_rows, read_samples

T = TypeVar("T")


class ClaimVerdict(NamedTuple):
    """One row of `verify`: a verdict, or the reason why there is none."""

    id: str
    verdict: Verdict | None
    error: str  # `code: explanation`; empty when there is a verdict
    usage: Usage
    provenance: Provenance
    sample: Sample  # the claim as its response, with question and passages


def verify_source(
    session: Session, source: Any, on_verdict: Callable[[ClaimVerdict], None], options: RowOptions
) -> int:
    """Judge every claim of a source, hand each verdict to `on_verdict` in the order of the rows, return how many.

    `source` is anything that `score_file` takes, with rows of `id`, `claim`, `contexts`, and optionally
    `question` and `sentence`. A judge's failure is an error on its row and stops nothing. Raises
    `InputError` when the source cannot be read or holds no claim, and `BudgetExceeded` at a limit.
    """
    report = options.get("report") or ReadReport()
    with within(session.limits):
        mapping, form = options.get("mapping"), options.get("format")
        read = read_rows(CLAIMS, source, mapping=mapping, format=form, report=report, contexts=True)
    rows = islice(read, options.get("limit"))
    count = verify_rows(session, rows, on_verdict, options.get("concurrency"))
    if not count:
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        raise InputError(f"{source if isinstance(source, str) else 'the source'} has no claim to judge{why}")
    return count


def verify_rows(
    session: Session,
    rows: Iterable[ClaimRow],
    on_verdict: Callable[[ClaimVerdict], None],
    concurrency: int | None = None,
) -> int:
    """Judge claims that were read already."""
    ask = GivenClaims.of(session, "verify")
    return session.run(in_order((_about(row, ask) for row in rows), concurrency or session.concurrency, on_verdict))


def claim_verdict_to_json(row: ClaimVerdict) -> dict[str, Any]:
    """Write one row of `verify`'s output; `error` is there only when there is no verdict."""
    made = {"usage": asdict(row.usage), "provenance": to_json(row.provenance)}
    if row.verdict is None:
        return {"id": row.id, "label": None, "error": row.error, **made}
    return {"id": row.id, **to_json(row.verdict), **made}


async def _about(row: ClaimRow, ask: GivenClaims) -> ClaimVerdict:
    """Judge one claim, as a sample whose response is that claim."""
    sample = Sample(row.id, row.claim, row.passages, row.question)
    result = await ask.result(sample, [given_claim(1, row.claim, row.sentence)])
    if result.outcome is Outcome.SCORED:
        return ClaimVerdict(row.id, result.claims[0].verdict, "", result.usage, ask.provenance, sample)
    return ClaimVerdict(row.id, None, result.reason, result.usage, ask.provenance, sample)


async def in_order(work: Iterable[Coroutine[Any, Any, T]], at_once: int, tell: Callable[[T], object]) -> int:
    """Keep at most `at_once` pieces of work in flight, tell of each in its turn, and return how many there were."""
    count = 0
    waiting: deque[asyncio.Task[T]] = deque()
    try:
        for one in work:
            waiting.append(asyncio.create_task(one))
            if len(waiting) >= at_once:
                tell(await waiting.popleft())
                count += 1
        while waiting:
            tell(await waiting.popleft())
            count += 1
    except BudgetExceeded:
        await asyncio.gather(*waiting, return_exceptions=True)  # what is under way is paid: let the cache have it
        raise
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return count


LABEL = "label"
ANSWER = "sample_id"  # which answer a claim is of
_LABELS = (*(label.value for label in Label), "NOT_SUPPORTED")
_NOT_THERE = "labels for unknown answers were skipped"


def read_labelled(source: Any, answers: Any, options: RowOptions) -> list[ClaimRow]:
    """Read labelled claims, each with its label in the one way it is written here, in its tags.

    With `answers` (any source of samples) the rows name theirs by `sample_id`, and question and passages are that
    answer's; a claim that several people labelled is one claim. Rows without a label are passed over. Raises
    `InputError` for a label that is none and where no claim is left.
    """
    report = options.get("report") or ReadReport()
    renamed = dict(options.get("mapping") or {})
    fields = {ours: _taken_out(renamed, ours) for ours in ((LABEL,) if answers is None else (LABEL, ANSWER))}
    slices = list(fields.values())
    read = read_rows(CLAIMS, source, mapping=renamed, format=options.get("format"), slices=slices, report=report)
    rows = _with_labels(read, fields, report)
    if answers is not None:
        rows = iter(_of_answers(list(rows), answers, report))
    found = list(islice(rows, options.get("limit")))
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "the source"
    if not found:
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        if missing := [warning for warning in report.warnings if warning.startswith(_NOT_THERE)]:
            why = f"; {missing[0]}"
        raise InputError(f"{name} has no labelled claim{why}")
    if not any(row.passages for row in found):
        raise InputError(
            f"{name} has labels but no contexts; pass the file of the answers: --answers FILE, in Python answers=…"
            if answers is None
            else f"the answers named by {name} have no contexts"
        )
    return found


def label_of(row: ClaimRow) -> str:
    """Return the label of a claim that `read_labelled` gave."""
    return ", ".join(tag_values(row.tags[LABEL]))


def _taken_out(mapping: dict[str, str], ours: str) -> str:
    """Take a field that is no field of claims out of a mapping."""
    theirs = next((theirs for theirs, name in mapping.items() if name == ours), ours)
    mapping.pop(theirs, None)
    return theirs


def _with_labels(rows: Iterable[ClaimRow], fields: Mapping[str, str], report: ReadReport) -> Iterator[ClaimRow]:
    empty = 0
    for row in rows:
        given = ", ".join(tag_values(row.tags.get(fields[LABEL], "")))  # several are no label
        if not given.strip():
            empty += 1
            continue
        label = given.strip().upper().replace(" ", "_").replace("-", "_")
        if label not in _LABELS:
            raise InputError(f"claim {row.id!r} has the label {given!r}: use one of {', '.join(_LABELS)}")
        tags = {ours: row.tags[theirs] for ours, theirs in fields.items() if theirs in row.tags}
        yield replace(row, tags=tags | {LABEL: label})
    if empty:
        report.warn(f"{counted(empty, 'row')} without a label")


def _of_answers(rows: list[ClaimRow], answers: Any, report: ReadReport) -> list[ClaimRow]:
    wanted = {row.tags.get(ANSWER) for row in rows}
    reading = ReadReport()
    known = {sample.id: sample for sample in read_samples(answers, report=reading) if sample.id in wanted}
    if reading.bad:
        report.warn(f"{reading.bad} rows of the answers could not be read", str(reading.bad_rows[0]))
    labels: dict[tuple[str, str], Counter[str]] = {}
    first: dict[tuple[str, str], ClaimRow] = {}
    for row in rows:
        answer = row.tags.get(ANSWER)
        if answer is None or answer not in known:
            which = f"claim {row.id!r} refers to {answer!r}" if answer else f"claim {row.id!r} refers to no answer"
            report.warn(_NOT_THERE, which)
            continue
        key = (answer, row.claim)
        first.setdefault(key, _with_passages(row, known[answer]))
        labels.setdefault(key, Counter())[label_of(row)] += 1
    several = {key: found for key, found in labels.items() if found.total() > 1}
    if several:
        differ = sum(len(found) > 1 for found in several.values())
        report.warn(
            f"{len(several)} claims have several labels ({differ} disagree); the most frequent label "
            "counts; in a tie the first one"
        )
    # `most_common` keeps the order of the rows among equals.
    return [replace(row, tags={LABEL: labels[key].most_common(1)[0][0]}) for key, row in first.items()]


def _with_passages(row: ClaimRow, sample: Sample) -> ClaimRow:
    """Put a claim beside its answer's passages, question and the sentence that it stands in."""
    response = sample.response
    start = response.find(row.claim)
    from everyclaim.text.segment import sentences

    around = next((s for s in sentences(response) if s.start <= start < s.end), None) if start >= 0 else None
    return replace(
        row,
        passages=row.passages or sample.passages,
        question=row.question or sample.question,
        sentence=row.sentence or (response[around.start : around.end] if around else ""),
    )
