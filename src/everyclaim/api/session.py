"""What an `Evaluator` holds: components from options, chat models, the budget, a loop of its own; opened when needed.

A session that is `kept` outlives its calls. Synchronous ones run on its background loop, asynchronous ones in the loop
of their caller; language models are always called on the background loop, so that connections, rates, calls under way
and the budget are the same for all of them. A session for one call only has no loop: all is opened where the call
runs, and closed when it ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakSet, finalize

from everyclaim._version import __version__
from everyclaim.api import specs
from everyclaim.api.options import DEFAULT_JUDGE, OFF, LlmAccessOptions, Options, Strategy
from everyclaim.core.errors import ConfigError, UserError
from everyclaim.core.events import UsageTally, observed, tallied
from everyclaim.core.lifetime import SharedScope, scope
from everyclaim.core.limits import SizeLimits
from everyclaim.core.protocols import Decomposer, Scorer, Verifier, chat_of
from everyclaim.core.spec import Spec, name_of
from everyclaim.core.types import Provenance, Usage
from everyclaim.engine import BackgroundLoop, wait
from everyclaim.metrics.assembled import Assembled
from everyclaim.metrics.context import Parts
from everyclaim.models.chat.providers import is_provider
from everyclaim.verify.functions import as_verifier
from everyclaim.verify.verdicts import Policy

if TYPE_CHECKING:
    from everyclaim.api.judges import ChatClients

# The fewest calls of language models: `ranked` pays only where passages are long and the first usually settles a claim.
DEFAULT_STRATEGY: Strategy = "joint"


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge and the strategy that puts passages to it."""

    alone: Verifier
    verifier: Verifier  # inside the strategy
    strategy: Strategy


def _inside(verifier: Verifier, strategy: Strategy) -> Verifier:
    if strategy == "joint":
        return verifier
    from everyclaim.retrieve.bm25 import Bm25Ranker
    from everyclaim.verify import Each, Ranked

    return Each(verifier, Bm25Ranker()) if strategy == "each" else Ranked(verifier, Bm25Ranker())


def default_concurrency(options: Mapping[str, Any]) -> int:
    """Return how many samples are in flight when nobody says: more where a score is mostly waiting."""
    judge = options.get("judge", DEFAULT_JUDGE)
    if not specs.talks(judge, options.get("decomposer")):
        return 32 if isinstance(judge, str) and "hf:" in judge else 8  # what is in flight goes into common batches
    if options.get("provider_batch"):
        from everyclaim.models.batches import BATCH_CONCURRENCY

        return BATCH_CONCURRENCY
    return 32


def default_decomposer(judge: Any) -> str:
    """Return the decomposer used when none is named: the judge's own model where it is one, else the embedded one.

    A model trained only to judge (MiniCheck) cannot split.
    """
    spec = Spec.parse(judge) if isinstance(judge, str) else None
    if spec is None or not is_provider(spec.name) or spec.options.get("prompt") == "minicheck":
        return "embedded"
    from everyclaim.api.judges import split_spec

    return str(split_spec(spec))


T = TypeVar("T")


class Session:
    """Components from options, opened once. Safe among threads and tasks.

    `models` are specs of language models that are used beside judge and decomposer. Replies are kept in `cache` unless
    the options say where. Raises `ConfigError` for options that are wrong or would do nothing.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        *models: str,
        kept: bool = False,
        cache: str = OFF,
        chats: ChatClients | None = None,
    ) -> None:
        named = options.get("judge", DEFAULT_JUDGE), options.get("decomposer"), *models
        specs.refuse_unused(options, *named)
        specs.check_address(options, *named)
        self.limits = SizeLimits.of(options)
        self.policy = Policy.strict() if options.get("strict") else Policy()
        self.options = cast("Options", {"cache": cache, **options})
        self._named = named  # what may be a language model
        self.is_kept = kept
        instrumentation = specs.Instrumentation(options.get("observe"))
        self._observers = instrumentation.observers
        self._begin()
        self._held.instrumentation, self._held.chats = instrumentation, chats
        if kept:
            _LIVE.add(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._scope = SharedScope()  # of what asynchronous calls open in their own loops, beside language models
        self._tally = UsageTally()
        self._made: dict[str, Any] = {}
        self._held = _Held()
        self._elsewhere: Scorer | None = None
        self._concurrency = 0
        self._close = finalize(self, self._held.close) if self.is_kept else self._held.close

    @property
    def usage(self) -> Usage:
        """What was used since it was opened."""
        return self._tally.usage

    @property
    def metric(self) -> Assembled:
        """The metric, with its decomposer and its judge inside."""
        return self._once("metric", self._metric)

    @property
    def scorer(self) -> Scorer:
        """Who scores the samples of data sets: the metric, or whoever does it elsewhere for a while."""
        return self._elsewhere or self.metric

    @contextmanager
    def scoring_elsewhere(self, scorer: Scorer, concurrency: int) -> Iterator[None]:
        """Let the samples of data sets be scored by this, so many at a time when nobody says."""
        self._elsewhere, self._concurrency = scorer, concurrency
        try:
            yield
        finally:
            self._elsewhere, self._concurrency = None, 0

    @property
    def judge(self) -> Judge:
        """The judge, alone and inside its strategy."""
        return self._once("judge", self._judge)

    @property
    def decomposer(self) -> Decomposer:
        """The decomposer: the one named, else the one that goes with the judge."""
        return self._once("decomposer", self._decomposer)

    @property
    def concurrency(self) -> int:
        """How many samples are in flight when nobody says."""
        return self._concurrency or default_concurrency(self.options)

    @property
    def chats(self) -> ChatClients | None:
        """The chat models to talk through, where a component talks to one or a metric searches; else import nothing."""
        self._check_open()
        metric = self.options.get("metric")
        with self._lock:
            if self._held.chats is None and (
                specs.talks(*self._named, metric) or specs.searches(metric, self.options.get("knowledge"))
            ):
                from everyclaim.api.judges import ChatClients, chat_settings

                settings = chat_settings(cast("LlmAccessOptions", self.options))
                self._held.chats = ChatClients(settings, self._home() if self.is_kept else None)
            return self._held.chats

    @property
    def spent(self) -> str:
        """What was used, in one line, what is under way among it; empty where there is no language model."""
        chats = self._held.chats
        return chats.meter.says if chats else ""

    async def work(self, task: Coroutine[Any, Any, T]) -> T:
        """Await a task of this session in the loop of the caller."""
        try:
            async with self.under_way():
                return await task
        finally:
            _drop(task)

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Count what is used inside, and close what is opened there, but for what stays."""
        self._check_open()
        home = self._held.home
        with tallied(self._tally), observed(self._observers):
            if home is not None and home.is_here:
                yield
            else:
                async with self._scope.joined() if self.is_kept else scope():
                    yield

    def run(self, task: Coroutine[Any, Any, T]) -> T:
        """Carry a task out for code that is not async; also inside a running event loop."""
        try:
            work = self._home().run if self.is_kept else wait
            return work(self.work(task))
        finally:
            _drop(task)

    def admit(self, *models: str) -> None:
        """Take more language models in, for a guard. Raises `ConfigError` where an address would be theirs, too."""
        with self._lock:
            specs.check_address(self.options, *self._named, *models)
            self._named = (*self._named, *models)

    def close(self) -> None:
        """Refuse further calls, cut off those under way, close what was opened. Closing twice is closing once."""
        self._held.is_closed = True
        self._close()

    def _judge(self) -> Judge:
        judge, strategy = self.options.get("judge", DEFAULT_JUDGE), self.options.get("strategy") or DEFAULT_STRATEGY
        if isinstance(judge, str):
            alone = specs.create_verifier(specs.judge_spec(judge, self.options), self.chats)
        else:
            alone = as_verifier(judge)
        return Judge(alone, _inside(alone, strategy), strategy)

    def _decomposer(self) -> Decomposer:
        from everyclaim.decompose.functions import as_decomposer

        named = self.options.get("decomposer") or default_decomposer(self.options.get("judge", DEFAULT_JUDGE))
        if isinstance(named, str):
            named = specs.DECOMPOSERS.create(specs.decomposer_spec(named, self.options), self.chats)
        return as_decomposer(named)

    def _metric(self) -> Assembled:
        metric, knowledge = specs.metric_spec(self.options), self.options.get("knowledge")
        named = Spec.parse(metric).name if isinstance(metric, str) else ""
        if knowledge is not None and named in specs.METRICS.builtin and named not in {*specs.SEARCHING, "python"}:
            raise ConfigError(f"knowledge is only for the metrics {' and '.join(specs.SEARCHING)}, not {named!r}")
        judge, decomposer, empty = self.judge, self.decomposer, self.options.get("empty", "exclude")
        splitting = {"empty": empty, **getattr(decomposer, "parameters", {})}
        provenance = self.provenance(name_of(metric), decomposer.spec, splitting)
        chat, verifier = chat_of(judge.verifier, decomposer), judge.verifier
        parts = Parts(decomposer, verifier, provenance, self.policy, empty, knowledge, self.chats, self.limits, chat)
        from everyclaim.api.metrics import assemble  # loads all of them

        return assemble(metric, parts)

    def provenance(self, metric: str, decomposer: str = "", splitting: Mapping[str, str] = {}) -> Provenance:
        """Say what makes the numbers of this metric; `splitting` are the parameters before those of the judge."""
        judge, policy = self.judge, "strict" if self.options.get("strict") else "lenient"
        parameters = {"policy": policy, **splitting, **getattr(judge.alone, "parameters", {})}
        return Provenance(metric, decomposer, judge.alone.spec, judge.strategy, __version__, parameters)

    def _once(self, name: str, build: Callable[[], T]) -> T:
        self._check_open()
        with self._lock:
            if name not in self._made:
                self._made[name] = build()
            made: T = self._made[name]
        return made

    def _home(self) -> BackgroundLoop:
        self._check_open()
        with self._lock:
            if self._held.home is None:
                self._held.home = BackgroundLoop()
            return self._held.home

    def _check_open(self) -> None:
        if self._held.is_closed:
            raise UserError("this Evaluator is closed: create a new one")

    def forked(self) -> None:
        """Begin anew in a process that was forked: threads did not come along, connections must not be shared."""
        _INHERITED.append(self._held)
        if isinstance(self._close, finalize):
            self._close.detach()
        was_closed = self._held.is_closed
        self._begin()
        self._held.is_closed = was_closed


def _drop(task: Coroutine[Any, Any, object]) -> None:
    if getcoroutinestate(task) == CORO_CREATED:
        task.close()


class _Held:
    """What is to be closed, apart from its session, so that it can be closed when nobody has that any more."""

    home: BackgroundLoop | None = None
    chats: ChatClients | None = None
    instrumentation: specs.Instrumentation | None = None  # of a process that was forked off, its parent's
    is_closed = False

    def close(self) -> None:
        self.is_closed = True
        for part in (self.home, self.chats, self.instrumentation):
            if part is not None:
                part.close()


_LIVE: WeakSet[Session] = WeakSet()
_INHERITED: list[_Held] = []  # of the parent process: not ours to close


def _forked() -> None:
    for session in list(_LIVE):
        session.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


SHARED = ("max_cost", "max_calls", "max_tokens", "requests_per_minute", "tokens_per_minute")


def share_of(options: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return an evaluator's options with one worker's share of the limits and rates, which are for all together.

    Raises `ConfigError` for a limit on calls or tokens that is too small to be shared.
    """
    shared = dict(options)
    for name in SHARED:
        if (limit := options.get(name)) is not None and workers > 1:
            share = limit / workers if name == "max_cost" else limit // workers
            if not share:
                raise ConfigError(f"{name}={limit} cannot be divided among {workers} workers: use fewer workers")
            shared[name] = share
    return shared
