"""A whole data set, scored into the store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Literal, TypedDict, Unpack

from everyclaim.analysis.slices import expanded, fields_of
from everyclaim.api.options import DEFAULT_STORE, InFlight, Options, Size, chosen_of, public
from everyclaim.api.runs import Run, Source
from everyclaim.api.session import Session
from everyclaim.api.specs import BATCHES, REPLIES, SEARCHING, beside
from everyclaim.core.errors import ConfigError, InputError, StoreError, UnreachableError
from everyclaim.core.events import Hook
from everyclaim.core.limits import within
from everyclaim.core.protocols import Scorer
from everyclaim.core.spec import Spec
from everyclaim.core.types import Sample
from everyclaim.engine import in_thread
from everyclaim.engine import run as run_engine
from everyclaim.io import ReadReport, check_apart, read_samples
from everyclaim.io.files import Identity, identify
from everyclaim.io.messages import History, Turns
from everyclaim.store.connect import engine_for
from everyclaim.store.records import RowCounts, RunRecord, config_fingerprint
from everyclaim.store.store import Store

_REASONS_KEPT = 5  # of rows that could not be read, with the run


class DatasetOptions(TypedDict, total=False):
    """Options of a data set."""

    mapping: Mapping[str, str] | None  # field names, theirs → ours
    slices: Sequence[str]  # fields that become tags, automatic slices, cuts of both; one name is a list of one
    optional_slices: Sequence[str]  # more of them, which a data set may lack
    format: str | None  # when the name of the file does not say
    turns: Turns  # of a conversation: its last answer, or all
    history: History  # earlier turns are context, or evidence as well
    limit: Size | None  # score at most so many samples
    name: str  # of the run
    release: str  # of the samples that do not name one
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
            engine_for(store, lock_seconds=30.0, read_only=True)[0].dispose()
        self._store = kept = Store.open(store)
        self.kept, self.save_all, self.close = kept.kept, kept.save_all, kept.close
        try:
            self._record = _begin(self._store, self._metric, identity, options, self._report)
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
                turns=options.get("turns", "last"),
                history=options.get("history", "context"),
                contexts=Spec.parse(self._metric.provenance.metric).name not in SEARCHING,
            )
        samples: Iterator[Sample] = islice(read, options.get("limit"))
        if release := options.get("release", ""):
            samples = (sample if sample.release else replace(sample, release=release) for sample in samples)
        first = next(samples, None)
        if first is None:
            why = f" that can be scored; {report.bad_rows[0]}" if report.bad_rows else "s"
            raise InputError(f"{name} has no sample{why}")
        return chain([first], samples)

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


def _go_on(store: Store, run: RunRecord, name: str, report: ReadReport) -> RunRecord:
    if name and run.name not in {"", name}:
        report.warn(f"run {run.id} continues and is renamed from {run.name!r} to {name!r}")
    return store.resume_run(run.id, name=name)


def _begin(store: Store, metric: Scorer, identity: Identity, options: DatasetOptions, report: ReadReport) -> RunRecord:
    """Find the run to go on with, or make a new one."""
    limit = options.get("limit")
    config = {
        "slices": list(_slices(options)),
        "mapping": dict(options.get("mapping") or {}),
        "limit": limit,
        "release": options.get("release", ""),
    }
    config |= {name: options[name] for name in ("turns", "history") if name in options}
    fingerprint = config_fingerprint(metric.provenance, config)
    named = options.get("resume")
    if named is not None:
        record = store.run(named)
        if record.config_fingerprint != fingerprint:
            raise ConfigError(f"run {record.id} was made with another configuration; pass the same options, or --fresh")
        if record.dataset_fingerprint != identity.fingerprint:
            raise InputError(f"run {record.id} scored other data than {identity.name}; start a new run")
        going_on = _go_on(store, record, options.get("name", ""), report)
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
            return _go_on(store, found, options.get("name", ""), report)
    total = identity.total if limit is None or identity.total is None else min(limit, identity.total)
    return store.create_run(
        metric.provenance,
        name=options.get("name", ""),
        dataset=identity.name,
        dataset_fingerprint=identity.fingerprint,
        config=config,
        total=total,
    )
