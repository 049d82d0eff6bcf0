"""What an `Evaluator` holds: components, chat models, the budget, a loop of its own; opened when needed, and closed.

A session that is `kept` outlives its calls. Synchronous ones run on its background loop, asynchronous ones in the loop
of their caller; language models are always called on the background loop, so that connections, rates, calls under way
and the budget are the same for all of them. A session for one call only has no loop: all is opened where the call
runs, and closed when it ends.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast
from urllib.parse import urlsplit
from weakref import WeakSet, finalize

from everyclaim._version import __version__
from everyclaim.api.components import (
    METRICS,
    Judge,
    Parts,
    assemble,
    build_decomposer,
    build_judge,
    default_concurrency,
    metric_name,
)
from everyclaim.api.options import DEFAULT_JUDGE, OFF, LlmAccessOptions, Observe, Options
from everyclaim.api.specs import SEARCHING, check_address, metric_spec, refuse_unused, searches, talks
from everyclaim.core.errors import ConfigError, UserError
from everyclaim.core.events import Observer, UsageTally, observed, tallied
from everyclaim.core.kinds import Range
from everyclaim.core.lifetime import SharedScope, scope
from everyclaim.core.limits import SizeLimits
from everyclaim.core.options import Opt, read
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.protocols import Decomposer, Scorer
from everyclaim.core.spec import Spec
from everyclaim.core.types import Provenance, Usage
from everyclaim.engine import BackgroundLoop, wait
from everyclaim.metrics.assembled import Assembled
from everyclaim.verify.verdicts import Policy

if TYPE_CHECKING:
    from everyclaim.api.judges import ChatClients


T = TypeVar("T")


class Session:
    """Components from options, opened once. Safe among threads and tasks.

    `models` are specs of language models that are used beside judge and decomposer. Replies are kept in `cache` unless
    the options say where. Raises `ConfigError` for options that are wrong or would do nothing.
    """

    def __init__(self, options: Mapping[str, Any], *models: str, kept: bool = False, cache: str = OFF) -> None:
        named = options.get("judge", DEFAULT_JUDGE), options.get("decomposer"), *models
        refuse_unused(options, *named)
        check_address(options, *named)
        self.limits = SizeLimits.of(options)
        self.policy = Policy.strict() if options.get("strict") else Policy()
        self.options = cast("Options", {"cache": cache, **options})
        self._named = named  # what may be a language model
        self.is_kept = kept
        instrumentation = Instrumentation(options.get("observe"))
        self._observers = instrumentation.observers
        self._begin()
        self._held.instrumentation = instrumentation
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
        return self._once("judge", lambda: build_judge(self.options, self.chats))

    @property
    def decomposer(self) -> Decomposer:
        """The decomposer: the one named, else the one that goes with the judge."""
        return self._once("decomposer", lambda: build_decomposer(self.options, self.chats))

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
                talks(*self._named, metric) or searches(metric, self.options.get("knowledge"))
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
            check_address(self.options, *self._named, *models)
            self._named = (*self._named, *models)

    def close(self) -> None:
        """Refuse further calls, cut off those under way, close what was opened. Closing twice is closing once."""
        self._held.is_closed = True
        self._close()

    def _metric(self) -> Assembled:
        metric, knowledge = metric_spec(self.options), self.options.get("knowledge")
        named = Spec.parse(metric).name if isinstance(metric, str) else ""
        if knowledge is not None and named in METRICS.builtin and named not in {*SEARCHING, "python"}:
            raise ConfigError(f"knowledge is only for the metrics {' and '.join(SEARCHING)}, not {named!r}")
        judge, decomposer, empty = self.judge, self.decomposer, self.options.get("empty", "exclude")
        provenance = Provenance(
            metric=metric_name(metric),
            decomposer=decomposer.spec,
            verifier=judge.alone.spec,
            strategy=judge.strategy,
            version=__version__,
            parameters={
                "policy": "strict" if self.options.get("strict") else "lenient",
                "empty": empty,
                **getattr(decomposer, "parameters", {}),
                **judge.parameters,
            },
        )
        verifier, chats = judge.verifier, self.chats
        parts = Parts(decomposer, verifier, provenance, self.policy, empty, knowledge, chats, self.limits)
        return assemble(metric, parts)

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
    """Let go of a task that was refused before it began."""
    if getcoroutinestate(task) == CORO_CREATED:
        task.close()


class _Held:
    """What is to be closed, apart from its session, so that it can be closed when nobody has that any more."""

    home: BackgroundLoop | None = None
    chats: ChatClients | None = None
    instrumentation: Instrumentation | None = None  # of a process that was forked off, its parent's
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


_telemetry_log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class OtelOptions:
    """What a spec may say of `otel`."""

    slices: Annotated[tuple[str, ...], Opt("tags exported as attributes")] = ()
    with_texts: Annotated[bool, Opt("failing claims in the explanation of the event")] = False


@dataclass(frozen=True, slots=True)
class PrometheusOptions:
    """What a spec may say of `prometheus`."""

    slices: Annotated[tuple[str, ...], Opt("tags exported as labels")] = ()
    max_releases: Annotated[int, Range(1), Opt("maximum number of releases exported")] = 20


class Instrumentation:
    """The observers of a session. What a spec opened, `close` closes; objects that were given are their owners'."""

    def __init__(self, given: Observe) -> None:
        wanted = [] if given is None else [given] if isinstance(given, str) or callable(given) else list(given)
        with contextlib.ExitStack() as closing:
            self.observers: tuple[Observer, ...] = tuple(_opened(observer, closing) for observer in wanted)
            self._closing = closing.pop_all()

    def close(self) -> None:
        """Export or write what is left, and stop serving; where that fails it is logged, as the work is done."""
        try:
            self._closing.close()
        except Exception as error:  # noqa: BLE001 - an exporter may raise anything
            _telemetry_log.warning("some telemetry was lost: %s: %s", type(error).__name__, error)


def _opened(given: str | Observer, closing: contextlib.ExitStack) -> Observer:
    if not isinstance(given, str):
        return given
    spec = Spec.parse(given)
    openers = {"otel": _otel, "prometheus": _prometheus}
    if spec.name not in openers:
        meant = did_you_mean(spec.name, openers)
        raise ConfigError(f"unknown observer {spec.name!r}; known: {', '.join(openers)}{meant}")
    return openers[spec.name](spec, closing)


def _otel(spec: Spec, closing: contextlib.ExitStack) -> Observer:
    from everyclaim.monitor.otel import OpenTelemetry, exported

    options = read(spec, OtelOptions)
    if not spec.argument:
        return OpenTelemetry(slices=options.slices, with_texts=options.with_texts)
    parts = urlsplit(spec.argument)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            "otel needs the address of a collector that takes OTLP over HTTP, as in otel:http://localhost:4318"
        )
    observer, close = exported(spec.argument, slices=options.slices, with_texts=options.with_texts)
    closing.callback(close)
    return observer


def _prometheus(spec: Spec, closing: contextlib.ExitStack) -> Observer:
    from everyclaim.monitor.telemetry import Metrics, TextFile

    options, where = read(spec, PrometheusOptions), spec.argument
    metrics = Metrics(slices=options.slices, max_releases=options.max_releases)
    if where.endswith(".prom"):
        file = TextFile(metrics, where)
        closing.callback(file.close)
        return file
    host, _, port = where.rpartition(":")
    if not port.isdecimal() or not port.isascii() or not 0 < int(port) < 65536:
        raise ConfigError(
            "prometheus needs a port or a file ending in .prom, as in prometheus:9464, "
            f"prometheus:0.0.0.0:9464 or prometheus:/var/lib/node_exporter/everyclaim.prom; got {where!r}"
        )
    closing.callback(metrics.serve(host.strip("[]") or LOOPBACK, int(port)))
    return metrics


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
