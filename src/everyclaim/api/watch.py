"""Answers that are judged as they come, and what a kept run says is usual: the baseline of a detector."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import fields
from typing import Annotated, Any, Unpack, cast

import numpy as np

from everyclaim.api.options import DEFAULT_STORE, InFlight, Options, Share, StreamOptions, chosen_of, public
from everyclaim.api.runs import Run, find_run, trust_of
from everyclaim.api.session import Session
from everyclaim.api.specs import REPLIES, beside, talks
from everyclaim.core.errors import ConfigError, InputError, OptionError
from everyclaim.core.events import Hook
from everyclaim.core.limits import MAX_FAILED, within
from everyclaim.core.plaintext import did_you_mean, digest, one_line
from everyclaim.core.types import Label, Outcome
from everyclaim.io import check_apart
from everyclaim.models.chat.options import without_password
from everyclaim.monitor.alerts import Notifier, Sink, sink_from_spec
from everyclaim.monitor.detector import NEVER, Baseline, Detector, JudgeAccuracy, Level, Limits, why_too_high
from everyclaim.monitor.watch.plan import WatchPlan
from everyclaim.monitor.watch.source import AnswerSource, Rows, WatchPass
from everyclaim.monitor.watch.watcher import Alarms, Watcher
from everyclaim.stats.intervals import Estimate, clustered_mean, clustered_ratio
from everyclaim.stats.proportions import normal_quantile
from everyclaim.stats.types import FEW_OF_A_KIND
from everyclaim.store.store import Store
from everyclaim.store.watching import WatchStore

_CONTRADICTED = list(Label).index(Label.CONTRADICTED)
_FAILED = list(Outcome).index(Outcome.FAILED)


@public
def baseline(run: Run | str | None = None, *, store: str | os.PathLike[str] = DEFAULT_STORE) -> Baseline:
    """Return the baseline rates of a run (a `Run`, an id, the start of one, a name; default: the newest finished).

    Includes the judge's error if 10 contradicted and 10 other claims of the run are labelled. `monitor.Limits.above`
    takes it. Raises `InputError` if the run does not exist or has no claims.
    """
    found = find_run(run, store=store, is_finished=True)
    with Store.open_to_read(found.store_location) as kept:
        figures = kept.figures(found.id)
    claims = np.bincount(figures.sample, minlength=len(figures.ids)).astype(float)
    wrong = np.bincount(figures.sample[figures.label == _CONTRADICTED], minlength=len(figures.ids)).astype(float)
    has = figures.scored & (claims > 0)
    claims, wrong, scores = claims[has], wrong[has], figures.score[figures.scored & np.isfinite(figures.score)]
    if not len(claims) or not len(scores):
        raise InputError(f"run {found.id} has no scored answer with a claim and cannot be a baseline")
    judge, labels = _judge_accuracy(found)
    return Baseline(
        run=found.id,
        answers=int(np.count_nonzero(figures.scored)),
        claims=int(claims.sum()),
        contradicted=_level(clustered_ratio(wrong, claims)),
        contradicted_by_answer=_level(clustered_mean(wrong / claims)),
        score=_level(clustered_mean(scores)),
        failed=float(np.mean(np.equal(figures.outcome, _FAILED))),
        judge=judge,
        labels=labels,
    )


def _level(estimate: Estimate) -> Level:
    value, low, high = estimate.value or 0.0, estimate.low or 0.0, 1.0 if estimate.high is None else estimate.high
    return Level(value, (high - low) / (2 * normal_quantile(0.95)), low, high)


def _judge_accuracy(run: Run) -> tuple[JudgeAccuracy | None, tuple[int, int]]:
    """Return the judge's error, None with too few labels, and how many are of contradicted claims and of others.

    Raises `InputError` where they say that it is chance.
    """
    if (calibration := trust_of(run).calibration) is None:
        return None, (0, 0)
    contradicted = sum(calibration.confusion[_CONTRADICTED])
    labels = contradicted, calibration.used - contradicted
    counts = calibration.counts.get(Label.CONTRADICTED)
    if counts is None or min(labels) < FEW_OF_A_KIND:
        return None, labels
    try:
        return JudgeAccuracy(counts.sensitivity, counts.specificity, counts.positives, counts.negatives), labels
    except ValueError as error:
        raise InputError(f"run {run.id}: {error}") from None


_SHAPE = ("name", "title", "takes_scores", "open", "close", "batches", "send_back")
_LONGEST_NAME = 200


class WatchingOptions(StreamOptions, total=False):
    """Options of a watch, with those that Python takes in more forms than the command line."""

    slices: Sequence[str]  # fields that become tags
    alert_baseline: Annotated[str | Run, "a run, its id or its name"] | None
    alerts: Sequence[Annotated[str | Sink, "a sink such as 'webhook:URL', 'slack:URL' or 'command:PROGRAM'"]]
    mapping: Mapping[str, str] | None  # field names, theirs → ours
    concurrency: InFlight | None
    max_failed: Share  # of the answers; an alert above it
    hooks: Sequence[Hook]
    on_start: Callable[[str], None]  # told once what is watched, where results go, and when an alert is sent
    on_pass: Callable[[WatchPass | Exception], None]  # told of every pass, and of what failed and is tried again
    stop: threading.Event | None  # set it, from anywhere, to end in order


class WatchOptions(Options, WatchingOptions, total=False):
    """Options of a watch, in addition to those of a score."""


_OF_SOURCE = {
    "langfuse": {"settle", "lateness", "since", "observation", "environment", "send_back"},
    "otlp": {"settle", "events_to", "send_back"},
    "sql": {"lateness", "query", "watermark", "key"},
}


@public
def watch(source: Any, *, store: str | os.PathLike[str] = DEFAULT_STORE, **options: Unpack[WatchOptions]) -> WatchPass:
    """Score answers as they arrive, each once, into runs of the store; return counts.

    `source` is a growing file of JSON lines or a folder of such files, ``langfuse[:URL]`` (keys in
    ``LANGFUSE_PUBLIC_KEY`` and ``LANGFUSE_SECRET_KEY``), ``otlp[:HOST:PORT]`` (a receiver of spans), ``sql:URL`` with
    `query` and `watermark`, or an object with the methods of `everyclaim.monitor.watch.source.AnswerSource`.

    A random share `rate` of the answers is judged, by a hash of the trace. `min_per_slice` adds answers of each slice
    per day, and `screen` those that a cheap judge suspects; these are stored in separate runs named ``… picked``. The
    limits `daily_answers`, `daily_tokens` and `daily_cost` apply to each UTC day. A run holds the answers of one day or
    of one release. With ``once`` the call ends after the current answers; otherwise it continues until `stop` is set.

    If the mean share of contradicted claims per answer exceeds `alert_above`, or the mean score falls below
    `alert_below`, an alert goes to `alerts`; see `everyclaim.monitor.Detector`. It uses only randomly selected answers.
    `alert_baseline` is a stored run: without either limit, those are 1.5 times its rates, or the upper ends of their
    95 % intervals if those are higher; with human labels, the rate of contradicted claims is corrected for the judge's
    error.

    A watch continues after any interruption and judges no answer twice; `name` identifies it. Other options are those
    of `score`; limits such as `max_cost` apply to the whole call. Raises `ConfigError` for an option that is unknown,
    wrong or without effect, `SourceError` (with ``once``) for a source that cannot be read, `StoreError` if the same
    watch is running elsewhere, and `BudgetExceeded` at a limit of the call.
    """
    check_apart({"the source": source} if isinstance(source, str | os.PathLike) else {}, {"the store": store})
    with closing(Session(chosen_of(options, Options), kept=True, cache=beside(store, REPLIES))) as session:
        return session.run(watch_into(session, source, store, options))


async def watch_into(
    session: Session, source: Any, store: str | os.PathLike[str], options: WatchingOptions
) -> WatchPass:
    """Watch with what a session holds."""
    _check_use(options)
    with within(session.limits), ExitStack() as held:
        opened = _source(source, options, store)
        plan = _plan(opened, options)
        alarms = _alarms(plan, options, store)
        screen = None
        if (spec := options.get("screen")) is not None:
            if talks(spec):
                raise OptionError(f"`screen` must be a free judge such as 'embedded' or 'lexical', got {spec!r}")
            screen = held.enter_context(closing(Session({"judge": spec}, kept=True)))
        kept = held.enter_context(closing(await asyncio.to_thread(WatchStore.open, store)))
        watcher = Watcher(
            opened,
            kept,
            session.metric,
            plan,
            options.get("concurrency") or session.concurrency,
            screen.metric if screen else None,
            hooks=options.get("hooks", ()),
            alarms=alarms,
            stop=options.get("stop") or threading.Event(),
        )
        await watcher.prepare()
        say: Callable[[WatchPass | Exception], None] = options.get("on_pass", lambda _: None)
        try:
            await opened.open()
            if tell := options.get("on_start"):
                tell(_start_line(opened, plan, alarms, store))
                if alarms and alarms.warning:
                    tell(f"warning: {alarms.warning}")
            if not options.get("once", False):
                return await watcher.go_on(say)
            seen = await watcher.read_once()
            say(seen)
            return seen
        finally:
            await opened.close()


def _start_line(source: AnswerSource, plan: WatchPlan, alarms: Alarms | None, store: str | os.PathLike[str]) -> str:
    where, named = one_line(source.title, 120), one_line(plan.title, 60)
    alert = "no alert is set" if alarms is None else f"alert if significantly above: {alarms.told}"
    kept = without_password(os.fspath(store))
    return f"watching {where} · one run per {plan.per}, named '{named}' and the {plan.per}, in {kept} · {alert}"


def _plan(source: AnswerSource, options: WatchingOptions) -> WatchPlan:
    named, known = options.get("name"), {part.name for part in fields(WatchPlan)}
    chosen: Any = {name: value for name, value in options.items() if name in known and value is not None}
    return WatchPlan(_watch_name(named or source.name), named or source.title, **chosen)


def _watch_name(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 13]}#{digest(name, 12)}"


def _alarms(plan: WatchPlan, options: WatchingOptions, store: str | os.PathLike[str]) -> Alarms | None:
    limit, below = options.get("alert_above"), options.get("alert_below")
    named, sinks = options.get("alert_baseline"), options.get("alerts", ())
    usual = None if named is None else baseline(named, store=store)
    if limit is None and below is None and usual is None:
        if sinks:
            raise OptionError(
                "`alerts` needs `alert_above`, the acceptable share of contradicted claims, `alert_below`, the "
                "acceptable mean score, or `alert_baseline`, a run that sets both"
            )
        return None
    notifier = Notifier([sink_from_spec(sink) if isinstance(sink, str) else sink for sink in sinks]) if sinks else None
    failed, why = min(0.99, max(1e-4, options.get("max_failed", MAX_FAILED))), ""
    if usual is None or limit is not None or below is not None:
        limits = Limits(limit, None if below is None else 1 - below, failed)
    else:
        limits = Limits.above(usual, failed=failed)
        why = why_too_high(limits.contradicted or 0.0, usual)
        if why and (limits.contradicted or 0.0) > NEVER:
            raise ConfigError(why)
    if usual is not None and any(usual.labels):
        why = "; ".join(filter(None, (why, usual.uncorrected and f"the alert limit is {usual.uncorrected}")))
    return Alarms(Detector(limits, judge=usual.judge if usual else None, name=plan.title), notifier, why)


def _check_use(options: WatchingOptions) -> None:
    """Refuse what would do nothing."""
    if options.get("rate", 1.0) == 1.0:
        for name in ("min_per_slice", "screen"):
            if options.get(name):
                raise OptionError(f"`{name}` needs a `rate` below 1: otherwise all answers are judged")
    if options.get("min_per_slice") and not options.get("slices"):
        raise OptionError("`min_per_slice` needs `slices`, the fields that define slices")
    if options.get("worry") is not None and not options.get("screen"):
        raise OptionError("`worry` needs `screen`")
    limits = ("daily_answers", "daily_tokens", "daily_cost")
    if options.get("when_spent", "skip") != "skip" and all(options.get(name) is None for name in limits):
        named = ", ".join(f"`{name}`" for name in limits)
        raise OptionError(f"`when_spent` needs a daily limit: {named}")
    if options.get("once") and options.get("every") is not None:
        raise OptionError("`every` is the time between passes; `once` makes only one pass")


# ---- sources


def _source(source: Any, options: WatchingOptions, store: str | os.PathLike[str]) -> AnswerSource:
    """Return the source that is meant. Raises `ConfigError` for options that it has no use for."""
    if not isinstance(source, str | os.PathLike):
        if not all(hasattr(source, name) for name in _SHAPE):
            raise InputError(
                f"a source is a path, {', '.join(_OF_SOURCE)} or an object with {', '.join(_SHAPE)}, not"
                f" {type(source).__name__}"
            )
        _options_of("one of your own", options)
        return cast("AnswerSource", source)
    text = os.fspath(source)
    if text == "-":
        raise ConfigError("standard input cannot be watched: score it, or watch a file")
    kind, colon, argument = text.partition(":")
    if kind not in _OF_SOURCE:
        if colon:
            _check_scheme(text, kind)
        kind, argument = "files", text
    chosen = _options_of(kind, options)
    rows = Rows(options.get("mapping"), options.get("slices", ()))
    if kind == "langfuse":
        from everyclaim.monitor.watch.langfuse import Langfuse

        return Langfuse(argument, rows, **chosen)
    if kind == "otlp":
        from everyclaim.monitor.watch.otlp import DEFAULT_ADDRESS, OtlpReceiver

        listen = argument or DEFAULT_ADDRESS
        return OtlpReceiver(listen, rows, store, _watch_name(options.get("name") or f"otlp:{listen}"), **chosen)
    if kind == "sql":
        from everyclaim.monitor.watch.sql import SqlQuery

        return SqlQuery(argument, rows, **chosen)
    from everyclaim.monitor.watch.files import LogFiles

    return LogFiles(argument, rows, may_come_later=not options.get("once", False))


def _options_of(kind: str, options: WatchingOptions) -> dict[str, Any]:
    """Return what is chosen about a kind of source; refuse what is for others."""
    known = _OF_SOURCE.get(kind, set())
    for name in sorted(set().union(*_OF_SOURCE.values()) - known):
        if options.get(name) is not None:
            whose = " and ".join(other for other, names in _OF_SOURCE.items() if name in names)
            raise OptionError(f"`{name}` applies to {whose}, not to {kind}")
    return {name: options[name] for name in known - {"send_back"} if options.get(name) is not None}  # type: ignore[literal-required]


def _check_scheme(text: str, kind: str) -> None:
    """Refuse what looks like another kind of source, and is no file."""
    if os.path.exists(text):  # noqa: PTH110 - also of what is no path
        return
    if "://" in text:
        raise ConfigError(f"unknown source {kind}://: use langfuse:https://…, sql:postgresql://…, or a path")
    if meant := did_you_mean(kind, _OF_SOURCE):
        raise ConfigError(f"no source {kind!r} and no such file{meant}")
