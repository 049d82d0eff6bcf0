"""Telemetry, alerts and what they are held against.

`Metrics` (Prometheus), `OpenTelemetry` and `evaluating` are told of the work by ``Evaluator(observe=…)``; `Detector`
and the sinks serve those without Prometheus; `everyclaim watch rules` writes rules for those with it.
"""

from everyclaim.monitor.alerts import Alert, AlertError, Command, Notifier, Sink, Slack, Webhook, sink_from_spec
from everyclaim.monitor.detector import Baseline, Detector, JudgeAccuracy, Level, Limits
from everyclaim.monitor.otel import OpenTelemetry, evaluating
from everyclaim.monitor.telemetry import Metrics

__all__ = [
    "Alert", "AlertError", "Baseline", "Command", "Detector", "JudgeAccuracy", "Level", "Limits", "Metrics", "Notifier",
    "OpenTelemetry", "Sink", "Slack", "Webhook", "evaluating", "sink_from_spec",
]  # fmt: skip
