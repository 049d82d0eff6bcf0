"""A dashboard for Grafana, made from the table of measures: no panel can name a metric that there is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everyclaim.monitor.measures import (
    ANSWERS,
    CALL_SECONDS,
    CALLS,
    CLAIMS,
    COST,
    ERRORS,
    FAILING,
    FAILURES,
    IN_PROGRESS,
    QUEUE,
    SCORE,
    SECONDS,
    TOKENS,
)

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLOURS = {"SUPPORTED": "#3a7fd0", "UNSUPPORTED": "#e39a13", "CONTRADICTED": "#9a1245"}
_WINDOW = "[$__rate_interval]"
_WIDTH, _HEIGHT = 12, 8


def dashboard() -> dict[str, Any]:
    """Return the dashboard as plain JSON values, for import in Grafana or for provisioning from a file."""
    label = 'sum by (label) (increase({name}{{release=~"$release"}}{window}))'
    claims = label.format(name=CLAIMS.prometheus, window=_WINDOW)
    all_claims = f'sum by (release) (increase({CLAIMS.prometheus}{{release=~"$release"}}[1h]))'
    contradicted = f'sum by (release) (increase({CLAIMS.prometheus}{{label="CONTRADICTED",release=~"$release"}}[1h]))'
    failing = f'{FAILING.prometheus}{{release=~"$release"}}'
    corrected = 'everyclaim:contradicted:ratio_1h{release=~"$release"}'
    scores = [
        f'sum by (release) (increase({SCORE.prometheus}_{part}{{release=~"$release"}}[1h]))'
        for part in ("sum", "count")
    ]
    panels = [
        _panel(
            "Contradicted claims, as judged, over 1h",
            [(f"{contradicted} / {all_claims}", "{{release}}")],
            "percentunit",
        ),
        _panel(
            "Contradicted claims, corrected for the judge's error, over 1h (rules of `everyclaim watch rules`)",
            [
                (corrected, "{{release}}"),
                (f"{corrected} + 2 * everyclaim:contradicted:error_1h", "and 2 standard errors"),
            ],
            "percentunit",
        ),
        _panel("Claims by verdict", [(claims, "{{label}}")], "short", stacked=True),
        _panel("Mean score over 1h", [(f"{scores[0]} / {scores[1]}", "{{release}}")], "none", most=1),
        _panel(
            "Why claims fail",
            [(f"sum by (failure_mode) (increase({failing}{_WINDOW}))", "{{failure_mode}}")],
            "short",
            stacked=True,
        ),
        _panel(
            "Answers by outcome",
            [(f"sum by (outcome) (increase({ANSWERS.prometheus}{_WINDOW}))", "{{outcome}}")],
            "short",
            stacked=True,
        ),
        _panel(
            "Answers that could not be judged, by code",
            [(f"sum by (code) (increase({FAILURES.prometheus}{_WINDOW}))", "{{code}}")],
            "short",
        ),
        _panel(
            "Calls of judges",
            [
                (f"sum by (model, result) (rate({CALLS.prometheus}{_WINDOW}))", "{{model}} {{result}}"),
                (f"sum by (model, code) (rate({ERRORS.prometheus}{_WINDOW}))", "{{model}} {{code}}"),
            ],
            "reqps",
        ),
        _panel("Time of scoring an answer", _quantiles(f"{SECONDS.prometheus}_bucket"), "s"),
        _panel("Time of a judge's call", _quantiles(f"{CALL_SECONDS.prometheus}_bucket"), "s"),
        _panel(
            "Tokens", [(f"sum by (kind) (increase({TOKENS.prometheus}{_WINDOW}))", "{{kind}}")], "short", stacked=True
        ),
        _panel("Cost per day", [(f"sum by (model) (increase({COST.prometheus}[1d]))", "{{model}}")], "currencyUSD"),
        _panel(
            "In progress and waiting",
            [(f"sum({IN_PROGRESS.prometheus})", "in progress"), (f"sum by (queue) ({QUEUE.prometheus})", "{{queue}}")],
            "short",
        ),
    ]
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
        "templating": {"list": [_data_source(), _releases()]},
        "panels": panels,
    }


def _quantiles(buckets: str) -> list[tuple[str, str]]:
    return [(f"histogram_quantile({q}, sum by (le) (rate({buckets}{_WINDOW})))", f"p{100 * q:g}") for q in (0.5, 0.95)]


def _panel(
    title: str, targets: Sequence[tuple[str, str]], unit: str, *, stacked: bool = False, most: float | None = None
) -> dict[str, Any]:
    custom = {"fillOpacity": 40 if stacked else 0, "stacking": {"mode": "normal" if stacked else "none"}}
    defaults: dict[str, Any] = {"unit": unit, "min": 0, "custom": custom}
    if most is not None:
        defaults["max"] = most
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": [_coloured(*one) for one in _COLOURS.items()]},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for place, (expression, legend) in enumerate(targets)
        ],
    }


def _coloured(label: str, colour: str) -> dict[str, Any]:
    fixed = {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}
    return {"matcher": {"id": "byName", "options": label}, "properties": [fixed]}


def _data_source() -> dict[str, Any]:
    return {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _releases() -> dict[str, Any]:
    query = f"label_values({ANSWERS.prometheus}, release)"
    return {
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
