"""OpenTelemetry: a span for every answer and every call of a judge, metrics, and the event of the GenAI conventions.

Names of the event `gen_ai.evaluation.result` are written here as the conventions have them (status development); the
constants of the Python package are marked as deprecated.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everyclaim._version import __version__
from everyclaim.core.cited import citation_counts, citation_line, failing_lines
from everyclaim.core.errors import ConfigError, InputError, needed_for
from everyclaim.core.events import AnswerGuarded, JudgeCalled, ScoringEnded, ScoringStarted, WorkEvent
from everyclaim.core.kinds import described
from everyclaim.core.plaintext import counted, one_line, words
from everyclaim.core.types import Label, Outcome, Result
from everyclaim.monitor.telemetry import FOLDED, INSTRUMENTS, Instrument, LabelLimiter, measurements

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

TIME_OUT = 5.0  # seconds of one export of ours
EVENT = "gen_ai.evaluation.result"
ERROR_TYPE = "error.type"
_SHOWN = 10  # failing claims in an explanation
_LONGEST = 200  # characters of an id
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?", re.DOTALL)

_OPEN: ContextVar[tuple[Any, ...]] = ContextVar("everyclaim_spans", default=())


@dataclass(frozen=True, slots=True)
class EvaluatedSpan:
    """The span of the operation that made an answer, as W3C Trace Context has it; 0: not known."""

    trace: int = 0
    span: int = 0
    flags: int = 0
    response_id: str = ""  # `gen_ai.response.id` of it


_HERE: ContextVar[EvaluatedSpan | None] = ContextVar("everyclaim_evaluated", default=None)


@contextmanager
def evaluating(traceparent: str = "", *, response_id: str = "") -> Iterator[None]:
    """Let what is scored inside be the answer of this span and this response.

    `traceparent` is as in W3C's header: ``00-<trace id>-<span id>-<flags>``. Without, it is the span that is active
    where the scoring begins. Raises `InputError` for what is no traceparent.

        with evaluating("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", response_id="chatcmpl-1"):
            evaluator.score(row)
    """
    found = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    trace, span, flags = (int(part, 16) for part in found.groups()) if found else (0, 0, 0)
    if traceparent != "" and not (trace and span):
        raise InputError(
            "traceparent must be like 00-<32 hexadecimal digits>-<16 of them>-01, neither id all zeros; "
            f"got {described(traceparent, may_be_shown=True)}"
        )
    token = _HERE.set(EvaluatedSpan(trace, span, flags, response_id))
    try:
        yield
    finally:
        _HERE.reset(token)


def attributes_of(result: Result, *, response_id: str = "", with_texts: bool = False) -> dict[str, str | float]:
    """Return the attributes of the event, with the label of the worst claim of a scored answer, else its outcome.

    Texts of the users are in it only `with_texts`.
    """
    failing = (Label.CONTRADICTED, Label.UNSUPPORTED)
    worst = next((label for label in failing if result.count(label)), Label.SUPPORTED)
    said: dict[str, str | float] = {
        "gen_ai.evaluation.name": result.provenance.metric_name,
        "gen_ai.evaluation.score.label": worst.value.lower()
        if result.outcome is Outcome.SCORED
        else result.outcome.value,
        "gen_ai.evaluation.explanation": _explanation(result, with_texts=with_texts),
    }
    if result.outcome is Outcome.SCORED and result.score is not None:
        said["gen_ai.evaluation.score.value"] = float(result.score)
    if result.outcome is Outcome.FAILED:
        said[ERROR_TYPE] = code_of(result)
    if response_id:
        said["gen_ai.response.id"] = one_line(response_id, _LONGEST)
    return said


def _explanation(result: Result, *, with_texts: bool = False) -> str:
    """Say why in a line or a few: what was found by label and failure mode; with texts also the claims that fail."""
    if result.outcome is Outcome.FAILED:
        return f"{result.outcome.display_name}: {one_line(result.reason, 500) if with_texts else code_of(result)}"
    if result.outcome is not Outcome.SCORED:
        return result.outcome.display_name
    found = [f"{count:,} {label.value.lower()}" for label, count in result.counts.items() if count]
    modes = Counter(words(claim.verdict.failure_mode.value) for claim in result.failing if claim.verdict.failure_mode)
    why = [f"{count:,} {mode}" for mode, count in modes.items()]
    head = f"{counted(len(result.claims), 'claim')}: {', '.join(found) or 'none'}"
    lines = [f"{head} ({', '.join(why)})" if why else head]
    if cited := citation_counts(result):
        lines.append(f"citations: {citation_line(cited)}")
    if with_texts:
        lines += failing_lines(result)[:_SHOWN]
    return "\n".join(lines)


def code_of(result: Result) -> str:
    """Return the code of a failure, which is one of few words, without what is said behind it."""
    return one_line(result.reason.partition(":")[0], 60) or "_OTHER"


# ---- what is told


class OpenTelemetry:
    """Tells OpenTelemetry what happens: through the providers of your application, or its own.

    Every answer is a span `everyclaim.score` with its calls of judges inside (`chat …`), and one log event
    `gen_ai.evaluation.result` on the span that is evaluated: the one `evaluating` says, else the one active where the
    scoring began. `with_texts` puts failing claims and their reasons into the explanation; otherwise nothing that is
    sent is text of your users. `slices` are tags whose values metrics tell apart. Without providers those that the
    process has set up are used; raises `ConfigError` where there are none. Safe from any thread.
    """

    def __init__(
        self,
        *,
        tracer_provider: Any = None,
        meter_provider: Any = None,
        logger_provider: Any = None,
        slices: Sequence[str] = (),
        with_texts: bool = False,
    ) -> None:
        with needed_for("OpenTelemetry", "otel"):
            from opentelemetry import _logs, context, metrics, trace
        known = (trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider())
        is_idle = all(type(provider).__name__.startswith(("Proxy", "NoOp", "_Proxy")) for provider in known)
        if is_idle and not (tracer_provider or meter_provider or logger_provider):
            raise ConfigError(
                "no OpenTelemetry provider is set up in this process: set one up first, or name a "
                "collector, as in 'otel:http://localhost:4318'"
            )
        self._trace: Any = trace
        self._context: Any = context
        self._tracer = trace.get_tracer("everyclaim", __version__, tracer_provider)
        self._logger = _logs.get_logger("everyclaim", __version__, logger_provider)
        meter = metrics.get_meter("everyclaim", __version__, meter_provider)
        self._parts = {measure: _instrument(meter, measure) for measure in INSTRUMENTS}
        self._limiter = LabelLimiter(lambda label: self._parts[FOLDED](1, {"label": label}))
        self._slices = tuple(slices)
        self._with_texts = with_texts

    def __call__(self, event: WorkEvent) -> None:
        """Tell of an event."""
        for measure, labels, amount in measurements(event, self._slices):
            values = self._limiter.limit(measure.labels, labels)
            self._parts[measure](amount, dict(zip(measure.labels, values, strict=True)))
        match event:
            case ScoringStarted():
                self._begin(event)
            case ScoringEnded():
                self._end(event)
            case JudgeCalled():
                self._called(event)
            case AnswerGuarded(result=result):
                self._evaluated(result, self._context.get_current())

    def _begin(self, event: ScoringStarted) -> None:
        """Open the span, and let it be the one around what follows in this context."""
        outside = self._context.get_current()
        of = _HERE.get()
        links = [self._trace.Link(self._remote(of))] if of and of.trace else []
        attributes: dict[str, Any] = {
            "everyclaim.sample.id": one_line(event.sample.id, 200),
            "everyclaim.purpose": event.purpose,
        }
        span = self._tracer.start_span("everyclaim.score", attributes=attributes, links=links)
        token = self._context.attach(self._trace.set_span_in_context(span))
        _OPEN.set((*_OPEN.get(), (self, event.sample, span, token, outside)))

    def _end(self, event: ScoringEnded) -> None:
        mine = [entry for entry in _OPEN.get() if entry[0] is self and entry[1] is event.sample]
        if not mine:
            return  # begun before this was told of anything
        found = mine[-1]
        _OPEN.set(tuple(entry for entry in _OPEN.get() if entry is not found))
        _, _, span, token, outside = found
        self._context.detach(token)
        if event.result is None:
            self._failed(span, "cancelled")
        else:
            self._describe(span, event.result)
            if event.purpose == "answer":
                active = self._trace.get_current_span(outside).get_span_context().is_valid
                around = outside if active else self._trace.set_span_in_context(span)
                self._evaluated(event.result, around)
        span.end()

    def _describe(self, span: Span, result: Result) -> None:
        made = result.provenance
        span.set_attributes(
            {
                "everyclaim.metric": made.metric_name,
                "everyclaim.judge": made.verifier.partition("?")[0],
                "everyclaim.decomposer": made.decomposer.partition("?")[0],
                "everyclaim.outcome": result.outcome.value,
                **{f"everyclaim.claims.{label.value.lower()}": count for label, count in result.counts.items()},
            }
        )
        if result.score is not None and result.outcome is Outcome.SCORED:
            span.set_attribute("everyclaim.score", result.score)
        if result.release:
            span.set_attribute("everyclaim.release", one_line(result.release, 100))
        if result.outcome is Outcome.FAILED:
            self._failed(span, code_of(result))

    def _failed(self, span: Span, code: str) -> None:
        span.set_attribute(ERROR_TYPE, code)
        span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, code))

    def _called(self, call: JudgeCalled) -> None:
        """A span for what is over, within the one of its answer."""
        provider, _, model = call.model.partition(":")
        begun = int(call.began * 1e9)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": call.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": call.usage.completion_tokens,
            "everyclaim.cached": call.is_cached,
        }
        if call.answered_by:
            attributes["gen_ai.response.model"] = one_line(call.answered_by, 100)
        if call.usage.cost is not None:
            attributes["everyclaim.cost_dollars"] = call.usage.cost
        span = self._tracer.start_span(
            f"chat {model}".strip(), kind=self._trace.SpanKind.CLIENT, attributes=attributes, start_time=begun
        )
        if call.failure:
            self._failed(span, call.failure)
        span.end(begun + int(call.seconds * 1e9))

    def _evaluated(self, result: Result, around: Context) -> None:
        """Send the event of the conventions, on the span that is evaluated."""
        of = _HERE.get()
        said = attributes_of(result, response_id=of.response_id if of else "", with_texts=self._with_texts)
        attributes = {**said, "everyclaim.sample.id": one_line(result.id, 200)}
        if of and of.trace:
            around = self._trace.set_span_in_context(self._trace.NonRecordingSpan(self._remote(of)))
        self._logger.emit(timestamp=time.time_ns(), context=around, attributes=attributes, event_name=EVENT)

    def _remote(self, of: EvaluatedSpan) -> Any:
        flags = self._trace.TraceFlags(of.flags)
        return self._trace.SpanContext(of.trace, of.span, is_remote=True, trace_flags=flags)


def exported(
    endpoint: str, *, slices: Sequence[str] = (), with_texts: bool = False
) -> tuple[OpenTelemetry, Callable[[], None]]:
    """Return an observer that exports by OTLP over HTTP to one address and nowhere else, and what ends it in order."""
    with needed_for("OpenTelemetry", "otel"):
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    # ``OTEL_SERVICE_NAME`` goes before this name.
    named = Resource({"service.name": "everyclaim", "service.version": __version__})
    base, resource = endpoint.rstrip("/"), named.merge(OTELResourceDetector().detect())
    spans, logs = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces", timeout=TIME_OUT)))
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(f"{base}/v1/logs", timeout=TIME_OUT)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{base}/v1/metrics", timeout=TIME_OUT))
    meters = MeterProvider([reader], resource=resource)

    def close() -> None:
        for provider in (spans, logs, meters):
            provider.shutdown()

    observer = OpenTelemetry(
        tracer_provider=spans, meter_provider=meters, logger_provider=logs, slices=slices, with_texts=with_texts
    )
    return observer, close


def _instrument(meter: Any, measure: Instrument) -> Callable[[float, dict[str, str]], None]:
    said = {"unit": measure.unit, "description": measure.help}
    if measure.kind == "histogram":
        buckets = list(measure.buckets)
        record: Callable[[float, dict[str, str]], None] = meter.create_histogram(
            measure.otel, **said, explicit_bucket_boundaries_advisory=buckets
        ).record
        return record
    make = {"counter": "create_counter", "level": "create_up_down_counter", "gauge": "create_gauge"}[measure.kind]
    instrument = getattr(meter, make)(measure.otel, **said)
    tell: Callable[[float, dict[str, str]], None] = instrument.set if measure.kind == "gauge" else instrument.add
    return tell
