"""A whole data set, scored into the store; and claims that are given: judged one by one, or read with labels."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, TypeVar, Unpack

from everyclaim.analysis.slices import expanded, fields_of
from everyclaim.api.options import DEFAULT_STORE, InFlight, Options, RowOptions, Size, chosen_of, public
from everyclaim.api.runs import Run, Source
from everyclaim.api.scoring import GivenClaims, given_claim
from everyclaim.api.session import Session
from everyclaim.api.specs import BATCHES, REPLIES, SEARCHING, beside
from everyclaim.core.errors import BudgetExceeded, ConfigError, InputError, StoreError, UnreachableError
from everyclaim.core.events import Hook
from everyclaim.core.limits import within
from everyclaim.core.spec import Spec
from everyclaim.core.types import Label, Outcome, Provenance, Sample, Usage, Verdict
from everyclaim.core.wire import to_json
from everyclaim.engine import in_thread
from everyclaim.engine import run as run_engine
from everyclaim.io import CLAIMS, ClaimRow, ReadReport, check_apart, read_rows, read_samples
from everyclaim.io.files import Identity, identify
from everyclaim.io.messages import ConversationOptions
from everyclaim.store.connect import engine_for
from everyclaim.store.records import RowCounts, RunRecord, config_fingerprint
from everyclaim.store.store import Store

_REASONS_KEPT = 5  # of rows that could not be read, with the run


class JobOptions(ConversationOptions, total=False):
    """Options of a data set, wherever it is scored."""

    mapping: Mapping[str, str] | None  # field names, theirs → ours
    slices: Sequence[str]  # fields that become tags, automatic slices, cuts of both; one name is a list of one
    format: str | None  # when the name of the file does not say
    name: str  # of the run
    release: str  # of the samples that do not name one


class DatasetOptions(JobOptions, total=False):
    """Options of a data set that is scored here."""

    optional_slices: Sequence[str]  # more of them, which a data set may lack
    limit: Size | None  # score at most so many samples
    resume: str | None  # a run to go on with; None never resumes; not given: an interrupted run of the same
    concurrency: InFlight | None  # samples; None: 8, with a language model 32, over batches 5,000
    hooks: Sequence[Hook]  # told of everything that happens


class FileOptions(Options, DatasetOptions, total=False):
    """Options of scoring a data set, in addition to those of a score."""


@public
def score_file(source: Source, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[FileOptions]) -> Run:
    """Score every sample of a source into a store, and return the run.

    `source` is a path (JSONL, JSON, CSV, TSV, Parquet, Arrow, a Hugging Face `datasets` folder; compressed or not),
    ``"-"`` for standard input, a pandas, polars or Arrow table, or an iterable of `Sample`s or mappings. Rows that are
    not samples are skipped and reported in `Run.read`. Options: those of `score`, and `mapping`, `slices`, `format`,
    `turns` (of a conversation: `last` or `all` answers), `history` (its earlier turns: `context` or `evidence`),
    `limit`, `name`, `release`, `resume`, `concurrency`, `hooks`. Limits such as `max_cost` apply to this call.

    An interrupted run over the same file with the same configuration continues; a run named by `resume` also scores
    its failed samples again. Replies of language models are cached in `replies.db` next to the store, so that none is
    paid for twice, unless `cache` says otherwise. `provider_batch` uses the provider's batch API (half the price, up
    to 24 hours); `batches.db` next to the store lists pending batches. Raises `InputError` if the source has no
    sample, `BudgetExceeded` at a limit (finished results are stored, and the same call continues), and `ConfigError`
    for an option that is unknown, wrong or without effect.
    """
    if options.get("provider_batch") is True:
        options["provider_batch"] = beside(store, BATCHES)
    files = {"the cache": options.get("cache"), "the file of batches": options.get("provider_batch")}
    check_apart({"the data set": source}, {"the store": store, **files})
    with closing(Session(chosen_of(options, Options), cache=beside(store, REPLIES))) as session:
        return score_into(session, source, store, options)


def score_into(session: Session, source: Any, store: str | os.PathLike[str], options: DatasetOptions) -> Run:
    """Score a data set into a store."""
    with closing(RunExecution(session, source, store, options)) as execution:
        session.run(execution.carry_out())
    return execution.run


async def ascore_into(session: Session, source: Any, store: str | os.PathLike[str], options: DatasetOptions) -> Run:
    """Score a data set into a store; what may take long before the first sample does not hold up the loop."""
    with closing(await asyncio.to_thread(RunExecution, session, source, store, options)) as execution:
        await execution.carry_out()
    return execution.run


class RunExecution:
    """One data set on its way into a store: read, begun or taken up again, carried out.

    To the engine it is the store, which at the end of a run gets the numbers that need the whole run, and what became
    of its rows.
    """

    def __init__(self, session: Session, source: Any, store: str | os.PathLike[str], options: DatasetOptions) -> None:
        check_apart({"the data set": source}, {"the store": store})
        self._session = session
        self._options = options
        self._metric = session.metric
        self._report = ReadReport()
        identity = identify(source)
        stream = self._samples(source, identity.name)
        # A pipe may block for long; so may somebody's generator, on a loop that others use as well.
        is_generated = not isinstance(source, str | os.PathLike | Sequence)
        may_block = source == "-" if isinstance(source, str) else is_generated and session.is_kept
        self._stream: Any = in_thread(stream) if may_block else stream
        if options.get("resume") is not None:  # no store is made for a run that is in none
            engine_for(store, read_only=True)[0].dispose()
        self._store = kept = Store.open(store)
        self.kept, self.save_all, self.close = kept.kept, kept.save_all, kept.close
        try:
            self._record = self._begin(identity)
        except BaseException:
            self._store.close()
            raise
        self.run = Run(self._record.id, os.fspath(store), _slices(options), self._report)

    def _samples(self, source: Any, name: str) -> Iterator[Sample]:
        """Read the source, at least one sample of it. Raises `InputError` where there is none."""
        options, report = self._options, self._report
        wanted = dict.fromkeys(fields_of(options.get("optional_slices", ())), False)
        with within(self._session.limits):
            read = read_samples(
                source,
                mapping=options.get("mapping"),
                format=options.get("format"),
                slices=wanted | dict.fromkeys(fields_of(options.get("slices", ())), True),
                report=report,
                **chosen_of(options, ConversationOptions),
                contexts=Spec.parse(self._metric.provenance.metric).name not in SEARCHING,
            )
        samples: Iterator[Sample] = islice(read, options.get("limit"))
        if release := options.get("release", ""):
            samples = (sample if sample.release else replace(sample, release=release) for sample in samples)
        first = next(samples, None)
        if first is None:
            why = f" that can be scored{report.first_fault}" if report.bad_rows else "s"
            raise InputError(f"{name} has no sample{why}")
        return chain([first], samples)

    def _begin(self, identity: Identity) -> RunRecord:
        """Find the run to go on with, or make a new one."""
        store, options, made_by = self._store, self._options, self._metric.provenance
        limit = options.get("limit")
        config = {
            "slices": list(_slices(options)),
            "mapping": dict(options.get("mapping") or {}),
            "limit": limit,
            "release": options.get("release", ""),
        }
        config |= {name: options[name] for name in ("turns", "history") if name in options}
        fingerprint = config_fingerprint(made_by, config)
        if (named := options.get("resume")) is not None:
            record = store.run(named)
            if record.config_fingerprint != fingerprint:
                raise ConfigError(
                    f"run {record.id} was made with another configuration; pass the same options, or --fresh"
                )
            if record.dataset_fingerprint != identity.fingerprint:
                raise InputError(f"run {record.id} scored other data than {identity.name}; start a new run")
            going_on = self._go_on(record)
            store.forget_failed(record.id)
            return going_on
        if "resume" not in options and identity.fingerprint:
            found = store.find_unfinished(identity.name, fingerprint)
            if found and found.dataset_fingerprint == identity.fingerprint:
                if found.status == "running":
                    raise StoreError(
                        f"run {found.id} with the same input is in progress: wait for it, or start another one with "
                        "--fresh (in Python, resume=None)"
                    )
                return self._go_on(found)
        total = identity.total if limit is None or identity.total is None else min(limit, identity.total)
        name, data = options.get("name", ""), identity.fingerprint
        return store.create_run(
            made_by, name=name, dataset=identity.name, dataset_fingerprint=data, config=config, total=total
        )

    def _go_on(self, run: RunRecord) -> RunRecord:
        name = self._options.get("name", "")
        if name and run.name not in {"", name}:
            self._report.warn(f"run {run.id} continues and is renamed from {run.name!r} to {name!r}")
        return self._store.resume_run(run.id, name=name)

    async def carry_out(self) -> None:
        """Score what is not kept yet. A run without a result, because no judge answered, is deleted."""
        options = self._options
        try:
            await run_engine(
                self._stream,
                self._session.scorer,
                run=self._record.id,
                store=self,
                concurrency=options.get("concurrency") or self._session.concurrency,
                hooks=options.get("hooks", ()),
                total=self._record.total,
            )
        except UnreachableError:
            if not self._store.run(self._record.id).kept:
                self._store.delete_run(self._record.id)
            raise

    def finish_run(self, run: str, status: Literal["finished", "stopped", "failed"]) -> None:
        """Keep what needs the whole run, and how it was read."""
        if results := self._metric.over_run(lambda: self._store.results(run)):
            self._store.rescore(run, results)
        report = self._report
        first = tuple(str(row) for row in report.bad_rows[:_REASONS_KEPT])
        self._store.finish_run(run, status, RowCounts(report.good, report.bad, first, report.incomplete))


def _slices(options: DatasetOptions) -> tuple[str, ...]:
    return expanded([*options.get("slices", ()), *options.get("optional_slices", ())])


T = TypeVar("T")


class ClaimVerdict(NamedTuple):
    """One row of `verify`: a verdict, or the reason why there is none."""

    id: str
    verdict: Verdict | None
    error: str  # `code: explanation`; empty when there is a verdict
    usage: Usage
    provenance: Provenance
    sample: Sample  # the claim as its response, with question and passages


def verify_rows(
    session: Session, rows: Iterable[ClaimRow], on_verdict: Callable[[ClaimVerdict], None], concurrency: int | None
) -> int:
    """Judge claims that were read already, and hand each verdict on in their order."""
    ask = GivenClaims.of(session, "verify")

    async def judged(row: ClaimRow) -> ClaimVerdict:
        """Judge one claim, as a sample whose response is that claim."""
        sample = Sample(row.id, row.claim, row.passages, row.question)
        result = await ask.result(sample, [given_claim(1, row.claim, row.sentence)])
        is_judged = result.outcome is Outcome.SCORED
        verdict, error = (result.claims[0].verdict, "") if is_judged else (None, result.reason)
        return ClaimVerdict(row.id, verdict, error, result.usage, ask.provenance, sample)

    return session.run(in_order(map(judged, rows), concurrency or session.concurrency, on_verdict))


def claim_verdict_to_json(row: ClaimVerdict) -> dict[str, Any]:
    """Write one row of `verify`'s output; `error` is there only when there is no verdict."""
    made = {"usage": asdict(row.usage), "provenance": to_json(row.provenance)}
    if row.verdict is None:
        return {"id": row.id, "label": None, "error": row.error, **made}
    return {"id": row.id, **to_json(row.verdict), **made}


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


_LABELS = (*(label.value for label in Label), "NOT_SUPPORTED")
_NOT_THERE = "labels for unknown answers were skipped"
_NO_LABEL = "rows without a label were skipped"


def read_labelled(source: Any, answers: Any, options: RowOptions) -> list[ClaimRow]:
    """Read labelled claims, each with its label in the one way it is written here.

    With `answers` (any source of samples) the rows name theirs by `sample_id`, and question and passages are that
    answer's; a claim that several people labelled is one claim. Rows without a label are passed over. Raises
    `InputError` for a label that is none and where no claim is left.
    """
    report = options.get("report") or ReadReport()
    mapping, form = options.get("mapping"), options.get("format")
    rows = _with_labels(read_rows(CLAIMS, source, mapping=mapping, format=form, report=report), report)
    if answers is not None:
        rows = iter(_of_answers(list(rows), answers, report))
    found = list(islice(rows, options.get("limit")))
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "the source"
    if not found:
        why = (_NOT_THERE, _NO_LABEL)
        missing = next((f"; {warning}" for warning in report.warnings if warning.startswith(why)), "")
        raise InputError(f"{name} has no labelled claim{missing or report.first_fault}")
    if not any(row.passages for row in found):
        raise InputError(
            f"{name} has labels but no contexts; pass the file of the answers: --answers FILE, in Python answers=…"
            if answers is None
            else f"the answers named by {name} have no contexts"
        )
    return found


def _with_labels(rows: Iterable[ClaimRow], report: ReadReport) -> Iterator[ClaimRow]:
    for row in rows:
        label = row.label.strip().upper().replace(" ", "_").replace("-", "_")
        if not label:
            report.warn(_NO_LABEL, f"claim {row.id!r}")
        elif label not in _LABELS:
            raise InputError(f"claim {row.id!r} has the label {row.label!r}: use one of {', '.join(_LABELS)}")
        else:
            yield replace(row, label=label)


def _of_answers(rows: list[ClaimRow], answers: Any, report: ReadReport) -> list[ClaimRow]:
    wanted = {row.sample_id for row in rows}
    reading = ReadReport()
    known = {sample.id: sample for sample in read_samples(answers, report=reading) if sample.id in wanted}
    if reading.bad:
        report.warn(f"{reading.bad} rows of the answers could not be read", str(reading.bad_rows[0]))
    labels: dict[tuple[str, str], Counter[str]] = {}
    first: dict[tuple[str, str], ClaimRow] = {}
    for row in rows:
        if row.sample_id not in known:
            report.warn(
                _NOT_THERE, f"claim {row.id!r} refers to {repr(row.sample_id) if row.sample_id else 'no answer'}"
            )
            continue
        key = (row.sample_id, row.claim)
        first.setdefault(key, _with_passages(row, known[row.sample_id]))
        labels.setdefault(key, Counter())[row.label] += 1
    several = {key: found for key, found in labels.items() if found.total() > 1}
    if several:
        differ = sum(len(found) > 1 for found in several.values())
        report.warn(
            f"{len(several)} claims have several labels ({differ} disagree); the most frequent label "
            "counts; in a tie the first one"
        )
    # `most_common` keeps the order of the rows among equals.
    return [replace(row, label=labels[key].most_common(1)[0][0]) for key, row in first.items()]


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
