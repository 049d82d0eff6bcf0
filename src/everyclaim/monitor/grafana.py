"""A dashboard for Grafana, made from the table of measures: no panel can name a metric that there is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everyclaim.monitor import telemetry as told

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLOURS = {"SUPPORTED": "#3a7fd0", "UNSUPPORTED": "#e39a13", "CONTRADICTED": "#9a1245"}
_WINDOW = "[$__rate_interval]"
_RELEASE = 'release=~"$release"'
_WIDTH, _HEIGHT = 12, 8


def dashboard() -> dict[str, Any]:
    """Return the dashboard as plain JSON values, for import in Grafana or for provisioning from a file."""
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    query = f"label_values({told.ANSWERS.prometheus}, release)"
    releases = {
        "name": "release",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "releases"},
        "definition": query,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "refresh": 2,
    }
    panels = _panels()
    for place, panel in enumerate(panels):
        panel["id"] = place + 1
        panel["gridPos"] = {"x": _WIDTH * (place % 2), "y": _HEIGHT * (place // 2), "w": _WIDTH, "h": _HEIGHT}
    return {
        "uid": "everyclaim",
        "title": "everyclaim",
        "tags": ["everyclaim"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [source, releases]},
        "panels": panels,
    }


def _panels() -> list[dict[str, Any]]:
    def count(measure: str, by: str, selector: str = "", window: str = _WINDOW) -> str:
        return f"sum by ({by}) (increase({measure}{selector}{window}))"

    def hour(measure: str, *matchers: str) -> str:
        return count(measure, "release", f"{{{','.join((*matchers, _RELEASE))}}}", "[1h]")

    claims, score = told.CLAIMS.prometheus, told.SCORE.prometheus
    corrected = f"everyclaim:contradicted:ratio_1h{{{_RELEASE}}}"
    by_model = f"sum by (model, {{}}) (rate({{}}{_WINDOW}))"
    contradicted = hour(claims, 'label="CONTRADICTED"')
    return [
        _panel(
            "Contradicted claims, as judged, over 1h",
            {f"{contradicted} / {hour(claims)}": "{{release}}"},
            "percentunit",
        ),
        _panel(
            "Contradicted claims, corrected for the judge's error, over 1h (rules of `everyclaim watch rules`)",
            {
                corrected: "{{release}}",
                f"{corrected} + 2 * everyclaim:contradicted:error_1h": "and 2 standard errors",
            },
            "percentunit",
        ),
        _panel("Claims by verdict", {count(claims, "label", f"{{{_RELEASE}}}"): "{{label}}"}, stacked=True),
        _panel(
            "Mean score over 1h", {f"{hour(f'{score}_sum')} / {hour(f'{score}_count')}": "{{release}}"}, "none", most=1
        ),
        _panel(
            "Why claims fail",
            {count(told.FAILING.prometheus, "failure_mode", f"{{{_RELEASE}}}"): "{{failure_mode}}"},
            stacked=True,
        ),
        _panel("Answers by outcome", {count(told.ANSWERS.prometheus, "outcome"): "{{outcome}}"}, stacked=True),
        _panel("Answers that could not be judged, by code", {count(told.FAILURES.prometheus, "code"): "{{code}}"}),
        _panel(
            "Calls of judges",
            {
                by_model.format("result", told.CALLS.prometheus): "{{model}} {{result}}",
                by_model.format("code", told.ERRORS.prometheus): "{{model}} {{code}}",
            },
            "reqps",
        ),
        _panel("Scoring time per answer", _quantiles(f"{told.SECONDS.prometheus}_bucket"), "s"),
        _panel("Duration of judge calls", _quantiles(f"{told.CALL_SECONDS.prometheus}_bucket"), "s"),
        _panel("Tokens", {count(told.TOKENS.prometheus, "kind"): "{{kind}}"}, stacked=True),
        _panel("Cost per day", {count(told.COST.prometheus, "model", window="[1d]"): "{{model}}"}, "currencyUSD"),
        _panel(
            "Running and queued",
            {
                f"sum({told.IN_PROGRESS.prometheus})": "in progress",
                f"sum by (queue) ({told.QUEUE.prometheus})": "{{queue}}",
            },
        ),
    ]


def _quantiles(buckets: str) -> dict[str, str]:
    return {f"histogram_quantile({q}, sum by (le) (rate({buckets}{_WINDOW})))": f"p{100 * q:g}" for q in (0.5, 0.95)}


def _panel(
    title: str, targets: Mapping[str, str], unit: str = "short", *, stacked: bool = False, most: float | None = None
) -> dict[str, Any]:
    """Return a panel that shows these expressions under these legends."""
    custom = {"fillOpacity": 40 if stacked else 0, "stacking": {"mode": "normal" if stacked else "none"}}
    defaults: dict[str, Any] = {"unit": unit, "min": 0, "custom": custom}
    if most is not None:
        defaults["max"] = most
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": [_coloured(*pair) for pair in _COLOURS.items()]},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for place, (expression, legend) in enumerate(targets.items())
        ],
    }


def _coloured(label: str, colour: str) -> dict[str, Any]:
    fixed = {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}
    return {"matcher": {"id": "byName", "options": label}, "properties": [fixed]}
