"""A collector on loopback that takes OTLP over HTTP as protobuf, and keeps what was exported."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    url: str = ""
    traces: list[Any] = field(default_factory=list)
    metrics: list[Any] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    resources: list[dict[str, str]] = field(default_factory=list)
    raw: bytes = b""


@contextmanager
def collecting() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            found.raw += body
            if self.path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                for part in request.resource_spans:
                    found.resources.append({one.key: one.value.string_value for one in part.resource.attributes})
                    found.traces += [span for scope in part.scope_spans for span in scope.spans]
            elif self.path == "/v1/logs":
                request = ExportLogsServiceRequest.FromString(body)
                found.logs += [
                    log for part in request.resource_logs for scope in part.scope_logs for log in scope.log_records
                ]
            else:
                request = ExportMetricsServiceRequest.FromString(body)
                found.metrics += [
                    one for part in request.resource_metrics for scope in part.scope_metrics for one in scope.metrics
                ]
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
