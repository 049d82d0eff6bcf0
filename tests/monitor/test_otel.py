"""OpenTelemetry through the real SDK: spans, metrics and the evaluation event, on the right span, without users' text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import collecting
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import everyclaim as ec
from everyclaim.monitor import OpenTelemetry, evaluating
from everyclaim.testing import JudgeServer, play

GOOD = {"id": "a", "response": "The unit weighs 9 kg.", "contexts": ["The unit weighs 9 kg."], "release": "v1"}
WRONG = {"id": "b", "response": "The unit weighs 7 kg.", "contexts": ["The unit weighs 9 kg."], "release": "v1"}


class Sdk:
    """Providers that keep what they are told in memory."""

    def __init__(self) -> None:
        self.spans, self.logs, self.reader = InMemorySpanExporter(), InMemoryLogRecordExporter(), InMemoryMetricReader()
        self.tracers, self.loggers = TracerProvider(), LoggerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.meters = MeterProvider([self.reader])

    def observer(self, **options: Any) -> OpenTelemetry:
        return OpenTelemetry(
            tracer_provider=self.tracers, logger_provider=self.loggers, meter_provider=self.meters, **options
        )

    @property
    def events(self) -> list[Any]:
        return [one.log_record for one in self.logs.get_finished_logs()]

    @property
    def points(self) -> dict[str, list[Any]]:
        data = self.reader.get_metrics_data()
        found = [one for part in data.resource_metrics for scope in part.scope_metrics for one in scope.metrics]
        return {one.name: list(one.data.data_points) for one in found}


@pytest.fixture
def sdk() -> Sdk:
    return Sdk()


def test_the_event_of_an_answer_is_as_the_conventions_have_it(sdk: Sdk) -> None:
    """Name, value, label and explanation, on the span that was active: the one of the operation that answered."""
    with (
        ec.Evaluator(observe=sdk.observer()) as evaluator,
        sdk.tracers.get_tracer("app").start_as_current_span("chat x") as app,
    ):
        evaluator.score(WRONG)
    (event,) = sdk.events
    assert event.event_name == "gen_ai.evaluation.result"
    assert dict(event.attributes) == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.score.label": "contradicted",
        "gen_ai.evaluation.explanation": "1 claim: 1 contradicted (1 numeric mismatch)",
        "everyclaim.sample.id": "b",
    }
    assert (event.trace_id, event.span_id) == (app.get_span_context().trace_id, app.get_span_context().span_id)


def test_calls_of_judges_are_spans_inside_their_answer_s(sdk: Sdk, tmp_path: Path) -> None:
    """Of answers scored at the same time each its own, from an evaluator's background loop too."""
    with (
        JudgeServer(play) as server,
        ec.Evaluator(observe=sdk.observer(), judge="openai:m", base_url=server.base_url) as evaluator,
    ):
        evaluator.score_file([GOOD, WRONG], store=tmp_path / "runs.db")
        evaluator.score({**GOOD, "id": "c", "response": "It is heavy."})
    spans = sdk.spans.get_finished_spans()
    answers = {one.context.span_id: one for one in spans if one.name == "everyclaim.score"}
    calls = [one for one in spans if one.name == "chat m"]
    assert len(answers) == 3
    assert len(calls) >= 6
    assert {one.parent.span_id for one in calls} == set(answers)
    for call in calls:
        answer = answers[call.parent.span_id]
        assert answer.start_time <= call.start_time + 10_000_000
        assert call.attributes["gen_ai.operation.name"] == "chat"
        assert call.attributes["gen_ai.provider.name"] == "openai"
        assert call.attributes["gen_ai.usage.input_tokens"] > 0


def test_a_failure_is_an_error_with_a_code_and_no_score(sdk: Sdk) -> None:
    """Never a value of 0; the explanation is the code alone."""

    def broken(_: object) -> float:
        raise ec.JudgeError("rate_limited", "the answer 'The unit weighs 9 kg.' could not be judged")

    with ec.Evaluator(observe=sdk.observer(), metric=broken) as evaluator:
        evaluator.score(GOOD)
    (event,), (span,) = sdk.events, sdk.spans.get_finished_spans()
    assert "gen_ai.evaluation.score.value" not in event.attributes
    assert event.attributes["error.type"] == span.attributes["error.type"] == "rate_limited"
    assert event.attributes["gen_ai.evaluation.score.label"] == "failed"
    assert "unit" not in event.attributes["gen_ai.evaluation.explanation"]
    assert not span.status.is_ok


def test_text_of_the_users_goes_out_only_when_asked_for(sdk: Sdk) -> None:
    """With texts: the failing claims and why, in the explanation."""
    with ec.Evaluator(observe=[sdk.observer(), sdk.observer(with_texts=True)]) as evaluator:
        evaluator.score(WRONG)
    quiet, told = (event.attributes["gen_ai.evaluation.explanation"] for event in sdk.events)
    sent = str([(span.name, dict(span.attributes)) for span in sdk.spans.get_finished_spans()]) + str(sdk.points)
    assert "weighs" not in quiet + sent
    assert "CONTRADICTED: The unit weighs 7 kg." in told


def test_a_spec_exports_to_the_address_given_by_the_time_the_evaluator_is_closed() -> None:
    """Traces, logs and metrics, by OTLP over HTTP to a collector."""
    with collecting() as collector:
        with ec.Evaluator(observe=f"otel:{collector.url}") as evaluator:
            evaluator.score(WRONG)
        assert [span.name for span in collector.traces] == ["everyclaim.score"]
        assert [log.event_name for log in collector.logs] == ["gen_ai.evaluation.result"]
        assert collector.logs[0].span_id == collector.traces[0].span_id
        assert {one.name for one in collector.metrics} >= {"everyclaim.claims", "everyclaim.answers"}
        assert collector.resources[0]["service.name"] == "everyclaim"
        assert b"weighs" not in collector.raw


@pytest.mark.slow
def test_a_process_without_providers_is_told_so_and_one_with_them_uses_them(tmp_path: Path) -> None:
    """`otel` alone means the application's own; telemetry that goes nowhere would be a silent nothing."""
    with pytest.raises(ec.ConfigError, match="no OpenTelemetry provider is set up"):
        ec.Evaluator(observe="otel")
    script = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)
import everyclaim as ec
with ec.Evaluator(observe="otel") as evaluator:
    evaluator.score(response="It is red.", passages="It is red.")
print([span.name for span in spans.get_finished_spans()])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, cwd=tmp_path)
    assert done.stdout.decode().strip() == "['everyclaim.score']"


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_the_event_goes_back_to_the_span_that_is_evaluated_elsewhere(sdk: Sdk) -> None:
    """Of a trace read later, by its traceparent and the id of its response; our own span links to it."""
    with ec.Evaluator(observe=sdk.observer()) as evaluator, evaluating(PARENT, response_id="chatcmpl-1"):
        evaluator.score(GOOD)
    (event,), (span,) = sdk.events, sdk.spans.get_finished_spans()
    assert f"{event.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{event.span_id:016x}" == "b7ad6b7169203331"
    assert event.attributes["gen_ai.response.id"] == "chatcmpl-1"
    assert event.attributes["gen_ai.evaluation.score.label"] == "supported"
    assert [f"{link.context.span_id:016x}" for link in span.links] == ["b7ad6b7169203331"]
