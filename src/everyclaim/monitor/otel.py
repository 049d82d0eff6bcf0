"""OpenTelemetry: a span for every answer and every call of a judge, metrics, and the event of the GenAI conventions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.core.events import AnswerGuarded, JudgeCalled, ScoringEnded, ScoringStarted, WorkEvent
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Outcome, Result
from everyclaim.monitor.evaluation import ERROR_TYPE, EVENT, EvaluatedSpan, attributes_of, code_of, evaluated_here
from everyclaim.monitor.telemetry import FOLDED, INSTRUMENTS, Instrument, LabelLimiter, measurements

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.trace import Span

TIME_OUT = 5.0  # seconds of one export of ours

_OPEN: ContextVar[tuple[Any, ...]] = ContextVar("everyclaim_spans", default=())


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
        try:
            from opentelemetry import _logs, context, metrics, trace
        except ImportError:
            raise MissingExtraError("OpenTelemetry", "otel") from None
        if not (tracer_provider or meter_provider or logger_provider) and not _is_set_up():
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
                self._evaluated(result, self._context.get_current(), evaluated_here())

    def _begin(self, event: ScoringStarted) -> None:
        """Open the span, and let it be the one around what follows in this context."""
        outside = self._context.get_current()
        of = evaluated_here()
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
                self._evaluated(event.result, around, evaluated_here())
        span.end()

    def _describe(self, span: Span, result: Result) -> None:
        made = result.provenance
        span.set_attributes(
            {
                "everyclaim.metric": made.metric.partition("?")[0],
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

    def _evaluated(self, result: Result, around: Context, of: EvaluatedSpan | None) -> None:
        """Send the event of the conventions, on the span that is evaluated."""
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
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise MissingExtraError("OpenTelemetry", "otel") from None
    base, resource = endpoint.rstrip("/"), _resource()
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


def _is_set_up() -> bool:
    """Whether the process has a provider that does anything."""
    from opentelemetry import _logs, metrics, trace

    providers = (trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider())
    idle = ("Proxy", "NoOp", "_Proxy")
    return any(not type(provider).__name__.startswith(idle) for provider in providers)


def _resource() -> Resource:
    """Name the service, unless ``OTEL_SERVICE_NAME`` does."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    named = Resource({"service.name": "everyclaim", "service.version": __version__})
    return named.merge(OTELResourceDetector().detect())
