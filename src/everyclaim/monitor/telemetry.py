"""What is measured, under which names, and what an event says of it: one table for Prometheus and for OpenTelemetry.

The page of names in the docs, the dashboard and the rules are made from this table or checked against it. `Metrics`
counts for Prometheus: in a registry of its own, rendered for an endpoint, served on a port, or kept in a file.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from everyclaim.core.errors import ConfigError, OperatorError, needed_for
from everyclaim.core.events import (
    AnswerGuarded,
    JudgeCalled,
    Purpose,
    QueueChanged,
    RequestAnswered,
    ScoringEnded,
    ScoringStarted,
    WorkEvent,
)
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import FailureMode, Label, Outcome, Result, tag_values

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_log = logging.getLogger(__name__)

OTHER = "other"
MOST_VALUES: Mapping[str, int] = {  # of labels whose values nobody has listed
    "release": 20, "value": 50, "tag": 10, "flag": 30, "code": 40, "model": 20, "answered_by": 20, "queue": 20,
}  # fmt: skip
LONGEST_VALUE = 100  # characters

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, slots=True)
class Instrument:
    """One thing that is counted or measured. Buckets of a histogram include their upper ends."""

    name: str
    kind: Literal["counter", "histogram", "level", "gauge"]  # a level goes up and down by steps, a gauge is set
    help: str
    labels: tuple[str, ...] = ()
    unit: str = "1"  # as UCUM writes it
    buckets: tuple[float, ...] = ()

    @property
    def prometheus(self) -> str:
        """The name in Prometheus; a histogram has `_bucket`, `_sum` and `_count` behind it."""
        return f"everyclaim_{self.name}{'_total' if self.kind == 'counter' else ''}"

    @property
    def otel(self) -> str:
        """The name in OpenTelemetry."""
        return f"everyclaim.{self.name}"


# What to add to a measure, or to set it to; label values in the measure's order.
Measurement = tuple[Instrument, tuple[str, ...], float]


def _counter(name: str, text: str, *labels: str, unit: str = "1") -> Instrument:
    return Instrument(name, "counter", text, labels, unit)


def _times(name: str, text: str, *labels: str) -> Instrument:
    return Instrument(name, "histogram", text, labels, "s", _SECONDS)


ANSWERS = _counter("answers", "Answers by outcome.", "outcome", "release")
CLAIMS = _counter("claims", "Claims of scored answers, by verdict.", "label", "release")
FAILING = _counter("failing_claims", "Failing claims of scored answers by failure mode.", "failure_mode", "release")
_SUMS = "Sums over answers of n², x² and n·x, for n claims of which x are contradicted"
_FOR = "for a standard error of the rate clustered by answer"
PRODUCTS = _counter("answer_products", f"{_SUMS}: {_FOR}.", "of", "release")
SCORE = Instrument("answer_score", "histogram", "Scores of answers.", ("release",), "1", _SHARES)
SLICED = _counter("slice_claims", "Claims by exported tags and verdict.", "tag", "value", "label")
FLAGGED = _counter("flagged_claims", "Claims by flag of their verdict.", "flag")
FAILURES = _counter("failures", "Answers that could not be judged, by error code.", "code")
SECONDS = _times("score_seconds", "Wall time of scoring one answer.", "outcome")
IN_PROGRESS = Instrument("in_progress", "level", "Answers being scored.")
QUEUE = Instrument("queue", "gauge", "Queued items.", ("queue",))
CALLS = _counter(
    "judge_calls", "Calls of language models by outcome: answered, cached, failed.", "model", "answered_by", "result"
)
ERRORS = _counter("judge_errors", "Failed calls of language models by error code.", "model", "code")
CALL_SECONDS = _times(
    "judge_call_seconds", "Duration of a call including waiting and retries; without cached ones.", "model"
)
TOKENS = _counter("judge_tokens", "Tokens by kind: prompt, completion, cache_read, cache_write.", "model", "kind")
COST = _counter("judge_cost_dollars", "Cost of calls with a known price.", "model", unit="{USD}")
UNPRICED = _counter("judge_calls_unpriced", "Calls with an unknown cost.", "model")
GUARDED = _counter("guarded_answers", "Answers of guards: validated, returned anyway, refused.", "decision")
_OTHERS = "Judged items other than answers: drafts of guards, given claims, tests of a judge."
CHECKS = _counter("other_checks", _OTHERS, "purpose", "outcome")
REQUESTS = _counter("requests", "Requests to the service.", "route", "method", "status")
REQUEST_SECONDS = _times("request_seconds", "Duration of a request to the service, including waiting.", "route")
FOLDED = _counter("folded_labels", "Values beyond the limit of a label; counted as `other`.", "label")
INSTRUMENTS = tuple(instrument for instrument in globals().copy().values() if isinstance(instrument, Instrument))
CLAIM_SQUARES, CONTRADICTED_SQUARES, CLAIM_PRODUCTS = "claims_squared", "contradicted_squared", "claims_contradicted"


def measurements(event: WorkEvent, slices: Sequence[str] = ()) -> Iterator[Measurement]:
    """Yield what an event says; `slices` are the tags whose values are told apart."""
    match event:
        case ScoringStarted():
            yield IN_PROGRESS, (), 1
        case ScoringEnded(result=result, purpose=purpose):
            yield IN_PROGRESS, (), -1
            if result is not None:
                yield from _of_scoring(result, event.seconds, slices, purpose)
        case AnswerGuarded(result=result):
            decision = "refused" if event.refused else "validated" if event.validated else "returned"
            yield GUARDED, (decision,), 1
            if not event.refused:
                yield from _of_result(result, slices)
        case JudgeCalled():
            yield from _of_call(event)
        case QueueChanged():
            yield QUEUE, (event.queue,), event.waiting
        case RequestAnswered():
            yield REQUESTS, (event.route, event.method, str(event.status)), 1
            yield REQUEST_SECONDS, (event.route,), event.seconds


def _of_scoring(result: Result, seconds: float, slices: Sequence[str], purpose: Purpose) -> Iterator[Measurement]:
    outcome = result.outcome.value
    yield SECONDS, (outcome,), seconds
    if result.outcome is Outcome.FAILED:
        yield FAILURES, (result.reason.partition(":")[0] or "unknown",), 1
    if purpose != "answer":
        yield CHECKS, (purpose, outcome), 1
    else:
        yield from _of_result(result, slices)


def _of_result(result: Result, slices: Sequence[str]) -> Iterator[Measurement]:
    release = result.release or ""
    # Zeros too, here and below: a rise is counted from a value that was there before, so a series that begins with the
    # first failure, or the first contradiction, would lose it.
    for outcome in Outcome:
        yield ANSWERS, (outcome.value, release), int(outcome is result.outcome)
    if result.outcome is not Outcome.SCORED:
        return
    if result.score is not None:
        yield SCORE, (release,), result.score
    verdicts = [claim.verdict for claim in result.claims]
    modes = Counter(verdict.failure_mode for verdict in verdicts)
    flags = Counter(
        flag for verdict in verdicts for flag in (*verdict.flags, *(("conflict",) if verdict.conflict else ()))
    )
    counts = result.counts
    for label, count in counts.items():
        yield CLAIMS, (label.value, release), count
    for mode in FailureMode:
        yield FAILING, (mode.value, release), modes[mode]
    for flag, count in flags.items():
        yield FLAGGED, (flag,), count
    claims, wrong = len(result.claims), counts[Label.CONTRADICTED]
    products = {CLAIM_SQUARES: claims**2, CONTRADICTED_SQUARES: wrong**2, CLAIM_PRODUCTS: claims * wrong}
    for of, amount in products.items():
        yield PRODUCTS, (of, release), amount
    for tag in slices:
        for value in tag_values(result.tags.get(tag, ())):
            for label, count in counts.items():
                yield SLICED, (tag, value, label.value), count


def _of_call(call: JudgeCalled) -> Iterator[Measurement]:
    done = "failed" if call.failure else "cached" if call.is_cached else "answered"
    yield CALLS, (call.model, call.answered_by, done), 1
    if call.failure:
        yield ERRORS, (call.model, call.failure), 1
    if call.is_cached:
        return
    yield CALL_SECONDS, (call.model,), call.seconds
    usage = call.usage
    for kind in ("prompt", "completion", "cache_read", "cache_write"):
        if count := getattr(usage, f"{kind}_tokens"):
            yield TOKENS, (call.model, kind), count
    if usage.cost is None:
        yield UNPRICED, (call.model,), 1
    elif usage.cost:
        yield COST, (call.model,), usage.cost


class LabelLimiter:
    """Tells the values of a label apart up to a number; beyond it they count as `other`, as a warning says once.

    A label with endless values (a release named after a commit, a tag with user ids) would let telemetry grow without
    end. `on_fold` is called with the label whenever a value is folded. Safe from any thread.
    """

    def __init__(self, on_fold: Callable[[str], None], most: Mapping[str, int] = MOST_VALUES) -> None:
        self._most = dict(most)
        self._on_fold = on_fold
        self._known: dict[str, set[str]] = {label: set() for label in self._most}
        self._lock = threading.Lock()

    def limit(self, labels: tuple[str, ...], values: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values as they are told."""
        pairs = zip(labels, values, strict=True)
        return tuple(self._limited(label, value) if label in self._most else value for label, value in pairs)

    def _limited(self, label: str, value: str) -> str:
        shown = one_line(value, LONGEST_VALUE)
        with self._lock:
            known, most = self._known[label], self._most[label]
            if not shown or shown in known or len(known) < most:
                known.update([shown] if shown else [])
                return shown
            if OTHER not in known:
                known.add(OTHER)
                _log.warning("telemetry distinguishes %d values of %r; further ones count as %r", most, label, OTHER)
        self._on_fold(label)
        return OTHER


FRESH = 15.0  # seconds after which a file is written anew


class Metrics:
    """Counts what it is told of, for Prometheus.

        metrics = Metrics()
        with ec.Evaluator(observe=metrics) as evaluator:
            …
        metrics.render(), metrics.content_type         # the body and the header of your own /metrics

    `slices` are tags whose values are told apart; `max_releases` releases are, and any further one counts as `other`.
    Where ``PROMETHEUS_MULTIPROC_DIR`` names a folder, counts of all processes are rendered together, as
    prometheus_client does it; call `ended` for a process that is gone. Safe from any thread.
    """

    def __init__(self, *, slices: Sequence[str] = (), max_releases: int = MOST_VALUES["release"]) -> None:
        with needed_for("counting for Prometheus", "prometheus"):
            import prometheus_client
        if max_releases < 1:
            raise ConfigError(f"max_releases must be at least 1, got {max_releases!r}")
        self._client: Any = prometheus_client
        self._own = prometheus_client.CollectorRegistry()
        self._slices = tuple(slices)
        try:
            self._parts = {measure: self._part(measure) for measure in INSTRUMENTS}
        except OSError as error:
            raise OperatorError(f"cannot use PROMETHEUS_MULTIPROC_DIR: {error.strerror or error}") from None
        most = {**MOST_VALUES, "release": max_releases}
        self._limiter = LabelLimiter(lambda label: self._parts[FOLDED].labels(label).inc(), most)

    def __call__(self, event: WorkEvent) -> None:
        """Count what an event says."""
        for measure, labels, amount in measurements(event, self._slices):
            part = self._parts[measure]
            child = part.labels(*self._limiter.limit(measure.labels, labels)) if labels else part
            getattr(child, {"histogram": "observe", "gauge": "set"}.get(measure.kind, "inc"))(amount)

    @property
    def content_type(self) -> str:
        """What the HTTP header says of `render`."""
        return str(self._client.CONTENT_TYPE_LATEST)

    def render(self) -> bytes:
        """Return everything in Prometheus's text format, of all processes where they share a folder."""
        return bytes(self._client.generate_latest(self._registry()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, whole or not at all, for the textfile collector of node_exporter."""
        try:
            self._client.write_to_textfile(os.fspath(path), self._registry())
        except OSError as error:
            raise OperatorError(f"cannot write the metrics to {os.fspath(path)}: {error.strerror or error}") from None

    def serve(self, host: str, port: int) -> Callable[[], None]:
        """Serve ``/metrics`` from a thread until the returned function is called. Raises `OperatorError`."""
        try:
            server, thread = self._client.start_http_server(port, host, self._registry())
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OperatorError(f"cannot serve metrics at {host}:{port}: {reason}") from None

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop

    @staticmethod
    def ended(process: int) -> None:
        """Take a process that is gone out of the gauges, where processes share a folder."""
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(process)  # type: ignore[no-untyped-call]

    def _registry(self) -> CollectorRegistry:
        from prometheus_client import CollectorRegistry, multiprocess, values

        # As prometheus_client decided when it was imported: that is where the counts are.
        if not getattr(values.ValueClass, "_multiprocess", False):
            return self._own

        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return together

    def _part(self, measure: Instrument) -> Any:
        said = (measure.prometheus, measure.help, measure.labels)
        if measure.kind == "counter":
            return self._client.Counter(*said, registry=self._own)
        if measure.kind == "histogram":
            return self._client.Histogram(*said, registry=self._own, buckets=measure.buckets)
        return self._client.Gauge(*said, registry=self._own, multiprocess_mode="livesum")


class TextFile:
    """Metrics that are kept in a file: written again every few seconds while something happens, and at the end."""

    def __init__(self, metrics: Metrics, path: str | os.PathLike[str]) -> None:
        self._metrics = metrics
        self._path = Path(path)
        self._lock = threading.Lock()
        self._written = time.monotonic()
        metrics.write(self._path)  # now, so that a folder that is not there is known before the work begins

    def __call__(self, event: WorkEvent) -> None:
        """Count, and write where that is long ago."""
        self._metrics(event)
        with self._lock:
            if time.monotonic() - self._written < FRESH:
                return
            self._written = time.monotonic()
        self._metrics.write(self._path)

    def close(self) -> None:
        """Write the last of it."""
        self._metrics.write(self._path)
