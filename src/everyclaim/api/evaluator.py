"""An evaluator: judge, decomposer, metric, connections, rates, budget and cache, held for many calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from itertools import islice
from typing import Any, TypeVar, Unpack, cast

from everyclaim.api.claims import ClaimVerdict, verify_source
from everyclaim.api.fitting import Tuned, tune_to_judge, tune_to_labels
from everyclaim.api.fitting import TuningRowOptions as TuningRows
from everyclaim.api.guard import Generator, Guard, RuleOptions
from everyclaim.api.options import DEFAULT_JUDGE, DEFAULT_STORE, Options, RowOptions, public
from everyclaim.api.runs import DatasetOptions, Run, Source, ascore_into, score_into
from everyclaim.api.scoring import Answers, Claims, Passages, scored, split, verified
from everyclaim.api.session import Session
from everyclaim.api.specs import talks
from everyclaim.api.watch import WatchingOptions, watch_into
from everyclaim.core.events import CostEstimate
from everyclaim.core.limits import within
from everyclaim.core.spec import Spec
from everyclaim.core.types import Decomposition, JudgedClaim, Provenance, Result, Usage
from everyclaim.io import read_samples
from everyclaim.monitor.watch.source import WatchPass

T = TypeVar("T")


class Evaluator(Answers):
    """Scores many answers with one judge, decomposer and metric, sharing connections, budget and cache.

        with ec.Evaluator(judge="openai:gpt-5-mini", max_cost=2.0) as evaluator:
            results = [evaluator.score(row) for row in rows]
        evaluator.usage

    Options are those of `everyclaim.score`. Resources open on first use and stay open until `close`. Limits such as
    `max_cost` and rates apply to the evaluator's whole life; at a limit `BudgetExceeded` is raised. `observe` takes
    destinations of telemetry: ``"otel:http://localhost:4318"``, ``"prometheus:9464"``, a `monitor.Metrics`, any
    function of an event, or a list of these; there is no telemetry by default. Replies of language models are cached
    only with `cache`.

    Safe to share among threads, tasks and event loops. Language models always run on one event loop in a background
    thread. Your own asynchronous components run there too, unless called by the asynchronous methods (`ascore`, …),
    which use the caller's loop. A forked process gets its own connections, limits and usage.

    Raises `ConfigError` for an option that is unknown, wrong or without effect, and `UserError` once it is closed.
    """

    @public
    def __init__(self, **options: Unpack[Options]) -> None:
        self._session = Session(options, kept=True)

    @property
    def usage(self) -> Usage:
        """Calls, tokens, cost and cache hits since it was opened, including calls in progress as far as known."""
        return self._session.usage

    @property
    def spent(self) -> str:
        """Usage of language models as one readable line, including calls in progress; empty if there is none."""
        return self._session.spent

    @property
    def provenance(self) -> Provenance:
        """Metric, decomposer and judge, as stored with each result."""
        return self._session.metric.provenance

    @property
    def concurrency(self) -> int:
        """Default number of answers scored in parallel."""
        return self._session.concurrency

    @public
    def estimate_file(
        self, source: Source, *, at_most: int | None = None, **options: Unpack[DatasetOptions]
    ) -> CostEstimate | None:
        """Estimate calls, tokens and cost of scoring a data set, or of its first `at_most` answers, without a call.

        Replies that are cached cost less. None if no language model is used or the metric's calls are not known
        beforehand; options are those of `score_file`.
        """
        chosen = self._session.options
        if not talks(chosen.get("judge", DEFAULT_JUDGE), chosen.get("decomposer")):
            return None
        from everyclaim.api.estimating import estimate_cost  # loads the chat models

        kept = {name: value for name, value in options.items() if name in ("mapping", "format", "turns", "history")}
        with within(self._session.limits):
            samples = islice(read_samples(source, **cast("Any", kept)), options.get("limit"))
            return estimate_cost(self._session, islice(samples, at_most))

    @public
    async def ascore_file(
        self, source: Source, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[DatasetOptions]
    ) -> Run:
        """Score a data set; see `everyclaim.score_file`."""
        return await self._session.work(ascore_into(self._session, source, store, options))

    @public
    def score_file(
        self, source: Source, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[DatasetOptions]
    ) -> Run:
        """Score a data set with the evaluator's cache; see `everyclaim.score_file`."""
        return score_into(self._session, source, store, options)

    @public
    def verify_file(
        self, source: Any, on_verdict: Callable[[ClaimVerdict], None], **options: Unpack[RowOptions]
    ) -> int:
        """Judge a file of claims, pass each verdict on in row order, and return the number of claims."""
        return verify_source(self._session, source, on_verdict, options)

    @public
    def tune(self, source: Any, **options: Unpack[TuningRows]) -> Tuned:
        """Fit the embedded judge to this evaluator's kind of text; see `everyclaim.tune`.

        With the embedded judge, `source` holds labelled claims. With another judge, that judge labels a sample of
        `answers` within its own budget.
        """
        judge = self._session.options.get("judge", DEFAULT_JUDGE)
        if isinstance(judge, str) and Spec.parse(judge).name == "embedded":
            with within(self._session.limits):
                return tune_to_labels(source, judge, options)
        return tune_to_judge(self._session, source, options)

    @public
    def watch(
        self, source: Any, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[WatchingOptions]
    ) -> WatchPass:
        """Score answers as they arrive, within this evaluator's budget; see `everyclaim.watch`."""
        return watch_into(self._session, source, store, options)

    @public
    def guard(self, generate: Generator, **rules: Unpack[RuleOptions]) -> Guard:
        """Return a guard that uses this evaluator and its budget; see `everyclaim.Guard`."""
        return Guard.within(self._session, generate, rules)

    def _scored(
        self, row: Any, response: str | None, passages: Passages, **fields: str | None
    ) -> Coroutine[Any, Any, Result]:
        return scored(self._session, row, response, passages, **fields)

    def _verified(
        self, claims: Claims, passages: Passages, question: str
    ) -> Coroutine[Any, Any, tuple[JudgedClaim, ...]]:
        return verified(self._session, claims, passages, question)

    def _split(self, response: str, question: str) -> Coroutine[Any, Any, Decomposition]:
        return split(self._session, response, question)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._session.run(work)

    async def _join(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._session.work(work)

    def close(self) -> None:
        """Close connections, cache and background thread, and cancel calls in progress; safe to call twice."""
        self._session.close()

    async def aclose(self) -> None:
        """Close without blocking the event loop."""
        await asyncio.to_thread(self._session.close)

    def __repr__(self) -> str:
        judge = self._session.options.get("judge", DEFAULT_JUDGE)
        return f"Evaluator(judge={Spec.parse(judge).shown if isinstance(judge, str) else type(judge).__name__})"
