"""Who is told of the work: observers from specs, objects and functions, opened with an evaluator and closed with it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from everyclaim.core.errors import ConfigError
from everyclaim.core.events import Observer
from everyclaim.core.kinds import Range
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.options import Opt, read
from everyclaim.core.spec import Spec

_log = logging.getLogger(__name__)

HOME = "127.0.0.1"
_KNOWN = ("otel", "prometheus")


@dataclass(frozen=True, slots=True)
class OfOtel:
    """What a spec may say of `otel`."""

    slices: Annotated[tuple[str, ...], Opt("tags whose values metrics tell apart")] = ()
    with_texts: Annotated[bool, Opt("failing claims in the explanation of the event")] = False


@dataclass(frozen=True, slots=True)
class OfPrometheus:
    """What a spec may say of `prometheus`."""

    slices: Annotated[tuple[str, ...], Opt("tags whose values are told apart")] = ()
    max_releases: Annotated[int, Range(1), Opt("releases that are told apart")] = 20


class Observing:
    """The observers of a session. What a spec opened, `close` closes; objects that were given are their owners'."""

    def __init__(self, given: str | Observer | Sequence[str | Observer] | None) -> None:
        self._closing = contextlib.ExitStack()
        wanted = [] if given is None else [given] if isinstance(given, str) or callable(given) else list(given)
        try:
            self.observers: tuple[Observer, ...] = tuple(map(self._opened, wanted))
        except BaseException:
            self._closing.close()
            raise

    def close(self) -> None:
        """Export or write what is left, and stop serving; where that fails it is logged, as the work is done."""
        try:
            self._closing.close()
        except Exception as error:  # noqa: BLE001 - an exporter may raise anything
            _log.warning("what was left of the telemetry is lost: %s: %s", type(error).__name__, error)

    def _opened(self, one: str | Observer) -> Observer:
        if not isinstance(one, str):
            return one
        spec = Spec.parse(one)
        if spec.name == "otel":
            return self._otel(spec)
        if spec.name == "prometheus":
            return self._prometheus(spec)
        raise ConfigError(
            f"unknown observer {spec.name!r}; known: {', '.join(_KNOWN)}{did_you_mean(spec.name, _KNOWN)}"
        )

    def _otel(self, spec: Spec) -> Observer:
        from everyclaim.monitor.otel import Exported, OpenTelemetry

        said = read(spec, OfOtel)
        if not spec.argument:
            return OpenTelemetry(slices=said.slices, with_texts=said.with_texts)
        parts = urlsplit(spec.argument)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(
                "otel needs the address of a collector that takes OTLP over HTTP, as in otel:http://localhost:4318"
            )
        exported = Exported(spec.argument, slices=said.slices, with_texts=said.with_texts)
        self._closing.callback(exported.close)
        return exported

    def _prometheus(self, spec: Spec) -> Observer:
        from everyclaim.monitor.prometheus import Metrics, TextFile

        said = read(spec, OfPrometheus)
        where = spec.argument
        if where.endswith(".prom"):
            file = TextFile(Metrics(slices=said.slices, max_releases=said.max_releases), where)
            self._closing.callback(file.close)
            return file
        host, _, port = where.rpartition(":")
        if not port.isdecimal() or not port.isascii() or not 0 < int(port) < 65536:
            raise ConfigError(
                "prometheus needs a port to serve /metrics at or a file ending in .prom, as in prometheus:9464, "
                f"prometheus:0.0.0.0:9464 or prometheus:/var/lib/node_exporter/everyclaim.prom; got {where!r}"
            )
        metrics = Metrics(slices=said.slices, max_releases=said.max_releases)
        self._closing.callback(metrics.serve(host.strip("[]") or HOME, int(port)))
        return metrics


Observe = str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
