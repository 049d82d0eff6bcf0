"""Answers scored as they come: a source, a judge, a store and a plan put together."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Annotated, Any, Literal, Unpack, cast

from everyclaim.api.baselines import baseline
from everyclaim.api.components import InFlight, Options
from everyclaim.api.door import public
from everyclaim.api.running import Run
from everyclaim.api.session import Session
from everyclaim.api.sources import SourceOptions, open_source, watch_name
from everyclaim.api.talking import DEFAULT_STORE, cache_beside, talks
from everyclaim.core.errors import InputError, JudgeError, OptionError
from everyclaim.core.events import Hook
from everyclaim.core.kinds import Range
from everyclaim.core.limits import within
from everyclaim.core.types import Result, Sample
from everyclaim.engine import score_sample
from everyclaim.io import check_apart
from everyclaim.monitor.alerts import Notifier, Sink, sink_from_spec
from everyclaim.monitor.detector import Detector, Limits
from everyclaim.monitor.watching.alarms import Alarms
from everyclaim.monitor.watching.loop import Judging, Plan, Watcher
from everyclaim.monitor.watching.report import Pass
from everyclaim.monitor.watching.sampling import Budget, Sampling
from everyclaim.monitor.watching.source import Source
from everyclaim.store import WatchStore

Share = Annotated[float, Range(0, 1)]


class WatchingOptions(SourceOptions, total=False):
    """What can be chosen about a watch."""

    once: bool  # one pass; else for ever, until `stop` is set
    name: str | None  # of the watch in the store; None: what the source is called
    rate: Share  # of the answers, chosen at random
    slices: Sequence[str]  # fields that become tags
    min_per_slice: Annotated[int, Range(0)]  # judged answers a day of each value of a slice, whatever the rate
    screen: Annotated[str, "a spec such as 'embedded' or 'lexical'"] | None  # what worries it is judged besides
    worry: Annotated[float, Range(0, 1)]  # from which probability of a contradiction it is worried
    daily_answers: Annotated[int, Range(1)] | None
    daily_tokens: Annotated[int, Range(1)] | None
    daily_cost: Annotated[float, Range(above=0)] | None  # US dollars
    when_spent: Literal["skip", "wait"]  # what becomes of answers beyond the day's budget
    per: Literal["day", "release"]  # what one run holds
    send_back: bool  # scores to a source that takes them
    every: Annotated[float, Range(0.01)]  # seconds between passes
    concurrency: InFlight | None
    alert_above: (
        Annotated[float, Range(above=0, most=1)] | None
    )  # share of an answer's claims contradicted, in the mean
    alert_baseline: Annotated[str | Run, "a run, its id or its name"] | None  # what is usual, and how the judge errs
    alerts: Sequence[Annotated[str | Sink, "a sink such as 'webhook:URL', 'slack:URL' or 'command:PROGRAM'"]]
    hooks: Sequence[Hook]
    on_pass: Callable[[Pass | Exception], None]  # told of every pass, and of what failed and is tried again
    stop: threading.Event | None  # set it, from anywhere, to end in order


class WatchOptions(Options, WatchingOptions, total=False):
    """What can be chosen about a watch, beside what can be chosen about a score."""


@public
def watch(source: Any, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[WatchOptions]) -> Pass:
    """Score answers as they come, each once, into runs of the store; return what was found and done.

    `source` is a file of JSON lines that grows or a folder of such files, ``langfuse[:URL]`` (keys in
    ``LANGFUSE_PUBLIC_KEY`` and ``LANGFUSE_SECRET_KEY``), ``otlp[:HOST:PORT]`` (spans are sent there), ``sql:URL`` with
    `query` and `watermark`, or an object with the shape of `everyclaim.monitor.watching.source.Source`.

    Of the answers a share `rate` is judged, chosen by a hash of their trace; beside them, in runs of their own named
    ``… picked``, so many of each slice a day (`min_per_slice`), and those that worry the cheap judge `screen`. The
    limits `daily_answers`, `daily_tokens` and `daily_cost` are for each day in UTC. A run holds the answers of one day,
    or of one release. With ``once`` the call ends with what there is; without, it goes on until `stop` is set.

    Where the share of contradicted claims of an answer rises above `alert_above` in the mean, an alert says so and goes
    to `alerts`; see `everyclaim.monitor.Detector`. It is told of the answers chosen at random. `alert_baseline` is a
    run of the store: where `alert_above` is not said, the limit lies half as much again above its rates; where its
    claims are labelled, the rate is corrected for the judge's error.

    A watch goes on where it stopped, however it stopped, and judges no answer twice; its `name` is what it is known by.
    Other options are those of `score`; limits such as `max_cost` are of the whole call. Raises `ConfigError` for an
    option that is unknown, wrong or would do nothing, `SourceError` (with ``once``) for a source that cannot be read,
    `StoreError` when the same watch is under way elsewhere, and `BudgetExceeded` at a limit of the call.
    """
    check_apart({"the source": source} if isinstance(source, str | os.PathLike) else {}, {"the store": store})
    of_scores = {name: value for name, value in options.items() if name in Options.__annotations__}
    of_watch = {name: value for name, value in options.items() if name not in of_scores}
    session = Session(of_scores, kept=True, cache=cache_beside(store, DEFAULT_STORE))
    with closing(session):
        return watch_into(session, source, store, cast("WatchingOptions", of_watch))


def watch_into(session: Session, source: Any, store: str | os.PathLike[str], options: WatchingOptions) -> Pass:
    """Watch with what a session holds."""
    return session.run(_watching(session, source, store, options))


async def _watching(session: Session, source: Any, store: str | os.PathLike[str], options: WatchingOptions) -> Pass:
    _check_use(options)
    with within(session.limits), closing(await asyncio.to_thread(WatchStore.open, store)) as kept:
        opened = open_source(source, options, kept, options.get("name"))
        plan = _plan(opened, options)
        screen = _screen(options.get("screen"))
        try:
            concurrency = options.get("concurrency") or session.concurrency
            metric = session.metric
            looking = _screening(screen) if screen else None
            judging = Judging(_scoring(session), metric.provenance, looking, concurrency, metric.over_run)
            alarms = _alarms(plan, options, store)
            watcher = Watcher(opened, kept, judging, plan, hooks=options.get("hooks", ()), alarms=alarms)
            if (stop := options.get("stop")) is not None:
                watcher.stop = stop
            return await _carry_out(watcher, opened, options)
        finally:
            if screen is not None:
                screen.close()


async def _carry_out(watcher: Watcher, source: Source, options: WatchingOptions) -> Pass:
    await watcher.prepare()
    try:
        await source.open()
        if options.get("once", False):
            seen = await watcher.read_once()
            options.get("on_pass", _nobody)(seen)
            return seen
        return await watcher.go_on(options.get("on_pass", _nobody))
    finally:
        await source.close()


def _nobody(_: Pass | Exception) -> None:
    """Be told, and do nothing."""


def _plan(source: Source, options: WatchingOptions) -> Plan:
    slices = options.get("slices", ())
    sampling = Sampling(
        options.get("rate", 1.0), tuple(slices), options.get("min_per_slice", 0), options.get("worry", 0.5)
    )
    budget = Budget(options.get("daily_answers"), options.get("daily_tokens"), options.get("daily_cost"))
    name = options.get("name") or source.name
    return Plan(
        watch=watch_name(name),
        title=options.get("name") or source.title,
        sampling=sampling,
        budget=budget,
        when_spent=options.get("when_spent", "skip"),
        per=options.get("per", "day"),
        send_back=options.get("send_back", True),
        every=options.get("every", 10.0),
    )


def _alarms(plan: Plan, options: WatchingOptions, store: str | os.PathLike[str]) -> Alarms | None:
    limit, named, sinks = options.get("alert_above"), options.get("alert_baseline"), options.get("alerts", ())
    usual = None if named is None else baseline(named, store=store)
    if limit is None and usual is None:
        if sinks:
            raise OptionError(
                "`alerts` needs `alert_above`, the share of contradicted claims that is still in order, or"
                " `alert_baseline`, the run that says what is usual"
            )
        return None
    notifier = Notifier([sink_from_spec(one) if isinstance(one, str) else one for one in sinks]) if sinks else None
    limits = Limits(contradicted=limit) if limit is not None or usual is None else Limits.above(usual)
    return Alarms(Detector(limits, judge=usual.judge if usual else None, name=plan.title), notifier)


def _check_use(options: WatchingOptions) -> None:
    """Refuse what would do nothing."""
    if options.get("rate", 1.0) == 1.0:
        for name in ("min_per_slice", "screen"):
            if options.get(name):
                raise OptionError(f"`{name}` does nothing where all answers are judged: give a `rate` below 1")
    if options.get("min_per_slice") and not options.get("slices"):
        raise OptionError("`min_per_slice` needs `slices`: name the fields whose values are meant")
    if options.get("worry") is not None and not options.get("screen"):
        raise OptionError("`worry` does nothing without `screen`, the judge that would be worried")
    limits = ("daily_answers", "daily_tokens", "daily_cost")
    if options.get("when_spent", "skip") != "skip" and all(options.get(name) is None for name in limits):
        named = ", ".join(f"`{name}`" for name in limits)
        raise OptionError(f"`when_spent` does nothing without a limit of a day: {named}")
    if options.get("once") and options.get("every") is not None:
        raise OptionError("`every` is the time between passes, and `once` makes only one")


def _screen(spec: str | None) -> Session | None:
    if spec is None:
        return None
    if talks(spec):
        raise OptionError(
            f"`screen` is a cheap judge that costs nothing, such as 'embedded' or 'lexical', not {spec!r}"
        )
    return Session({"judge": spec}, kept=True)


def _screening(session: Session) -> Callable[[Sample], Any]:
    """Return what looks at an answer only in order to choose: nobody is told of it as a score."""
    metric = session.metric

    async def look(sample: Sample) -> Result | None:
        try:
            return await metric.score(sample)
        except (JudgeError, InputError):
            return None

    return look


def _scoring(session: Session) -> Callable[[Sample], Any]:
    metric = session.metric

    async def score(sample: Sample) -> Result:
        return await score_sample(metric, sample)

    return score
