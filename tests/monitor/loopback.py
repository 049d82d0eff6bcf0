"""Servers on loopback, for what sends over HTTP: a receiver of webhooks, and a collector of OTLP."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from loopback_server import Received, Reply, serving


@dataclass
class Receiver:
    """`replies` are the statuses of the first requests, then 200; with `headers` beside, `stall` seconds late."""

    url: str = ""
    replies: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    stall: float = 0.0
    requests: list[Received] = field(default_factory=list)

    def answer(self, request: Received) -> Reply:
        self.requests.append(request)
        time.sleep(self.stall)
        return Reply(self.replies.pop(0) if self.replies else 200, b"ok", self.headers)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    with serving(receiver.answer) as receiver.url:
        yield receiver


@dataclass
class Collector:
    """`replies` are the statuses of the first requests, then 200: what is not taken is not kept."""

    url: str = ""
    replies: list[int] = field(default_factory=list)
    traces: list[Any] = field(default_factory=list)
    metrics: list[Any] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)
    raw: bytes = b""

    def take(self, request: Received) -> Reply:
        if self.replies:
            return Reply(self.replies.pop(0))
        body = gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
        self.raw += body
        match request.path:
            case "/v1/traces":
                traces = ExportTraceServiceRequest.FromString(body).resource_spans
                self.resources += [
                    {one.key: one.value.string_value for one in part.resource.attributes} for part in traces
                ]
                self.traces += [span for part in traces for scope in part.scope_spans for span in scope.spans]
            case "/v1/logs":
                logs = ExportLogsServiceRequest.FromString(body).resource_logs
                self.logs += [log for part in logs for scope in part.scope_logs for log in scope.log_records]
            case _:
                metrics = ExportMetricsServiceRequest.FromString(body).resource_metrics
                self.metrics += [one for part in metrics for scope in part.scope_metrics for one in scope.metrics]
        return Reply()

    @property
    def events(self) -> list[dict[str, Any]]:
        """Logs as plain values: the event's name, trace and span, and its attributes."""
        return [
            {"event": log.event_name, "trace": log.trace_id.hex(), "span": log.span_id.hex()}
            | {one.key: one.value.string_value or one.value.double_value for one in log.attributes}
            for log in self.logs
        ]


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    with serving(collector.take) as collector.url:
        yield collector
