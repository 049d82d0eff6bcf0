"""Telemetry, alerts and what they are held against; each part is imported on first use.

`Metrics` (Prometheus), `OpenTelemetry` and `evaluating` are told of the work by ``Evaluator(observe=…)``; `Detector`
and the sinks serve those without Prometheus; `everyclaim watch rules` writes rules for those with it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everyclaim.monitor.alerts import (
        Alert,
        AlertError,
        Command,
        Notifier,
        Sink,
        Slack,
        Trying,
        Webhook,
        sink_from_spec,
    )
    from everyclaim.monitor.baseline import Baseline, JudgeAccuracy, Level
    from everyclaim.monitor.detector import Detector, Limits
    from everyclaim.monitor.evaluation import evaluating
    from everyclaim.monitor.otel import OpenTelemetry
    from everyclaim.monitor.prometheus import Metrics

_HOMES = {
    "alerts": (
        "Alert", "AlertError", "Command", "Notifier", "Sink", "Slack", "Trying", "Webhook", "sink_from_spec",
    ),
    "baseline": ("Baseline", "JudgeAccuracy", "Level"),
    "detector": ("Detector", "Limits"),
    "evaluation": ("evaluating",),
    "otel": ("OpenTelemetry",),
    "prometheus": ("Metrics",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Alert",
    "AlertError",
    "Baseline",
    "Command",
    "Detector",
    "JudgeAccuracy",
    "Level",
    "Limits",
    "Metrics",
    "Notifier",
    "OpenTelemetry",
    "Sink",
    "Slack",
    "Trying",
    "Webhook",
    "evaluating",
    "sink_from_spec",
]


def __getattr__(name: str) -> Any:
    if home := _HOME_OF.get(name):
        return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
