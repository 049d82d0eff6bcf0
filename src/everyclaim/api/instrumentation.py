"""Observers of the work, from specs, objects and functions: opened with an evaluator and closed with it."""

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

LOOPBACK = "127.0.0.1"
Observe = str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None


@dataclass(frozen=True, slots=True)
class OtelOptions:
    """What a spec may say of `otel`."""

    slices: Annotated[tuple[str, ...], Opt("tags whose values metrics tell apart")] = ()
    with_texts: Annotated[bool, Opt("failing claims in the explanation of the event")] = False


@dataclass(frozen=True, slots=True)
class PrometheusOptions:
    """What a spec may say of `prometheus`."""

    slices: Annotated[tuple[str, ...], Opt("tags whose values are told apart")] = ()
    max_releases: Annotated[int, Range(1), Opt("releases that are told apart")] = 20


class Instrumentation:
    """The observers of a session. What a spec opened, `close` closes; objects that were given are their owners'."""

    def __init__(self, given: Observe) -> None:
        wanted = [] if given is None else [given] if isinstance(given, str) or callable(given) else list(given)
        with contextlib.ExitStack() as closing:
            self.observers: tuple[Observer, ...] = tuple(_opened(observer, closing) for observer in wanted)
            self._closing = closing.pop_all()

    def close(self) -> None:
        """Export or write what is left, and stop serving; where that fails it is logged, as the work is done."""
        try:
            self._closing.close()
        except Exception as error:  # noqa: BLE001 - an exporter may raise anything
            _log.warning("what was left of the telemetry is lost: %s: %s", type(error).__name__, error)


def _opened(given: str | Observer, closing: contextlib.ExitStack) -> Observer:
    if not isinstance(given, str):
        return given
    spec = Spec.parse(given)
    openers = {"otel": _otel, "prometheus": _prometheus}
    if spec.name not in openers:
        meant = did_you_mean(spec.name, openers)
        raise ConfigError(f"unknown observer {spec.name!r}; known: {', '.join(openers)}{meant}")
    return openers[spec.name](spec, closing)


def _otel(spec: Spec, closing: contextlib.ExitStack) -> Observer:
    from everyclaim.monitor.otel import OpenTelemetry, exported

    options = read(spec, OtelOptions)
    if not spec.argument:
        return OpenTelemetry(slices=options.slices, with_texts=options.with_texts)
    parts = urlsplit(spec.argument)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            "otel needs the address of a collector that takes OTLP over HTTP, as in otel:http://localhost:4318"
        )
    observer, close = exported(spec.argument, slices=options.slices, with_texts=options.with_texts)
    closing.callback(close)
    return observer


def _prometheus(spec: Spec, closing: contextlib.ExitStack) -> Observer:
    from everyclaim.monitor.prometheus import Metrics, TextFile

    options, where = read(spec, PrometheusOptions), spec.argument
    metrics = Metrics(slices=options.slices, max_releases=options.max_releases)
    if where.endswith(".prom"):
        file = TextFile(metrics, where)
        closing.callback(file.close)
        return file
    host, _, port = where.rpartition(":")
    if not port.isdecimal() or not port.isascii() or not 0 < int(port) < 65536:
        raise ConfigError(
            "prometheus needs a port to serve /metrics at or a file ending in .prom, as in prometheus:9464, "
            f"prometheus:0.0.0.0:9464 or prometheus:/var/lib/node_exporter/everyclaim.prom; got {where!r}"
        )
    closing.callback(metrics.serve(host.strip("[]") or LOOPBACK, int(port)))
    return metrics
