"""Metrics for Prometheus: in a registry of their own, rendered for an endpoint, served on a port, or kept in a file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everyclaim.core.errors import ConfigError, MissingExtraError, OperatorError
from everyclaim.core.events import WorkEvent
from everyclaim.monitor.telemetry import FOLDED, INSTRUMENTS, MOST_VALUES, Instrument, LabelLimiter, measurements

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

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
        try:
            import prometheus_client
        except ImportError:
            raise MissingExtraError("counting for Prometheus", "prometheus") from None
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
