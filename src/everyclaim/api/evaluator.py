"""An evaluator: judge, decomposer, metric, connections, rates, budget and cache, held for many calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, Unpack

from everyclaim.api.claims import ClaimVerdict, verify_source
from everyclaim.api.fitting import Tuned, tune_to_judge, tune_to_labels
from everyclaim.api.fitting import TuningRowOptions as TuningRows
from everyclaim.api.guard import Generator, Guard, RuleOptions
from everyclaim.api.options import DEFAULT_JUDGE, DEFAULT_STORE, Options, RowOptions, public
from everyclaim.api.runs import DatasetOptions, Run, Source, ascore_into, score_into
from everyclaim.api.scoring import Answers, Claims, Passages, scored, split, verified
from everyclaim.api.session import Session
from everyclaim.api.watch import WatchingOptions, watch_into
from everyclaim.core.limits import within
from everyclaim.core.spec import Spec
from everyclaim.core.types import Decomposition, JudgedClaim, Provenance, Result, Usage
from everyclaim.monitor.watch.report import WatchPass

T = TypeVar("T")


class Evaluator(Answers):
    """Scores many answers with one judge, decomposer and metric, one set of connections, one budget, one cache.

        with ec.Evaluator(judge="openai:gpt-5-mini", max_cost=2.0) as evaluator:
            results = [evaluator.score(row) for row in rows]
        evaluator.usage

    Options are those of `everyclaim.score`. What they name is opened when it is first needed and kept until `close`.
    Limits such as `max_cost` and rates are for the evaluator's whole life; at a limit `BudgetExceeded` is raised.
    `observe` names who is told of the work: ``"otel:http://localhost:4318"``, ``"prometheus:9464"``, a
    `monitor.Metrics`, any function of an event, or a list of these; nobody is, unless it is said.
    Replies of language models are kept only where `cache` says.

    May be shared among threads, tasks and event loops. Language models are always called on one event loop in a
    background thread, and so are your own asynchronous components by the synchronous methods; by the asynchronous
    ones (`ascore`, …) these run in the loop of the caller. A process that is forked from one with an evaluator has its
    own: connections, limits and usage begin anew there.

    Raises `ConfigError` for an option that is unknown, wrong or would do nothing, and `UserError` once it is closed.
    """

    @public
    def __init__(self, **options: Unpack[Options]) -> None:
        self._session = Session(options, kept=True)

    @property
    def usage(self) -> Usage:
        """Calls, tokens, cost and cache hits since it was opened, of calls under way what is known so far."""
        return self._session.usage

    @property
    def spent(self) -> str:
        """What language models took, in one line for people, calls under way among it; empty where there are none."""
        return self._session.spent

    @property
    def provenance(self) -> Provenance:
        """Which metric, decomposer and judge make its results, as they are stored with each."""
        return self._session.metric.provenance

    @property
    def concurrency(self) -> int:
        """How many answers go through it at a time when nobody says."""
        return self._session.concurrency

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
        """Score a data set; see `everyclaim.score_file`, but for the cache, which is the evaluator's."""
        return score_into(self._session, source, store, options)

    @public
    def verify_file(
        self, source: Any, on_verdict: Callable[[ClaimVerdict], None], **options: Unpack[RowOptions]
    ) -> int:
        """Judge a file of claims, each verdict handed on in the order of the rows; return how many there were."""
        return verify_source(self._session, source, on_verdict, options)

    @public
    def tune(self, source: Any, **options: Unpack[TuningRows]) -> Tuned:
        """Fit the embedded judge to this evaluator's kind of text; see `everyclaim.tune`.

        An evaluator with the embedded judge is fitted to labelled claims. One with another judge asks that judge about
        a sample of answers (`answers` of them), within its own budget, and takes its verdicts as labels.
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
        """Score answers as they come, within this evaluator's budget; see `everyclaim.watch`."""
        return watch_into(self._session, source, store, options)

    @public
    def guard(self, generate: Generator, **rules: Unpack[RuleOptions]) -> Guard:
        """Return a guard that checks with this evaluator and spends from its budget; see `everyclaim.Guard`."""
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
        """Close connections, cache and background thread, and cut off calls under way; twice is as good as once."""
        self._session.close()

    async def aclose(self) -> None:
        """Close, without holding up the event loop."""
        await asyncio.to_thread(self._session.close)

    def __repr__(self) -> str:
        judge = self._session.options.get("judge", DEFAULT_JUDGE)
        return f"Evaluator(judge={Spec.parse(judge).shown if isinstance(judge, str) else type(judge).__name__})"
