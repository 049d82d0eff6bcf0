"""Rules for Prometheus and a dashboard for Grafana, made from the table of measures.

No panel of the dashboard can name a metric that there is not. The rules, `rules.yml.jinja`, alert on rates that rose
beyond their budget, by more than chance and for long enough. A rate of contradicted claims is compared with its budget
in three pairs of windows: fast and far above, slow and a little above; the short window of a pair ends an alert when
the trouble has. An alert also needs the rise to be more than chance: its distance from the budget in standard errors
that count the claims of an answer as one cluster. The error of a mean score is at the most √(m(1 − m)/n), as for any
number within [0, 1].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import described
from everyclaim.monitor import telemetry
from everyclaim.monitor.detector import ErrorBudget

# By how many standard errors a rate must lie above its budget: of the present rate, which is looked at again and again,
# and of the budget, which was measured once.
NOW, ONCE = 4, 2
FEWEST_ANSWERS = 30  # in the long window
MARGIN = 0.05  # by which the mean score may lie below what is usual
FAILED = 0.05  # share of answers that may fail
FEWEST_TO_FAIL = 10  # answers of an hour: of fewer, two that fail prove nothing
TROUBLE = ("quote_not_found", "incomplete_verdict", "unstable", "disagreement", "audit_disagreed")  # of verdicts
_NUMBERS = {"NOW": NOW, "ONCE": ONCE, "FEWEST_ANSWERS": FEWEST_ANSWERS, "MARGIN": MARGIN, "TROUBLE": TROUBLE}
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OURS = {"label", "release", "outcome", "of", "failure_mode", "le", "flag", "result", "model", "answered_by"}
_TEMPLATE = Path(__file__).with_name("rules.yml.jinja")


class Burn(NamedTuple):
    """An alert when the odds of a rate are `factor` times its budget's over the long window and the short one."""

    long: str
    short: str
    factor: float
    severity: str

    def bar(self, budget: float) -> float:
        """Return the rate above which it is: nearly `factor` times a small budget, and below 1 for every one."""
        return self.factor * budget / (1 + (self.factor - 1) * budget)


BURNS = (Burn("1h", "10m", 4, "critical"), Burn("6h", "1h", 2, "critical"), Burn("3d", "12h", 1.5, "warning"))


def rules_text(budget: ErrorBudget, *, match: Mapping[str, str] | None = None, max_failed: float = FAILED) -> str:
    """Return a file of rules, in Prometheus's YAML. `match` names labels of the series that are meant, as `job`.

    Raises `ConfigError` for what is no name of a label, or a share of failures that is none.
    """
    if not 0 < max_failed < 1:
        raise ConfigError(f"max_failed must be a share between 0 and 1, got {max_failed!r}")
    pairs = _matchers(match or {})
    names = {measure.name: measure.prometheus for measure in telemetry.INSTRUMENTS}

    def series(name: str, matchers: str = "", part: str = "", *, alone: bool = False) -> str:
        inside = "" if alone else ",".join(filter(None, (matchers, pairs)))
        return f"{names[name]}{part}{{{inside}}}" if inside else f"{names[name]}{part}"

    environment = Environment(  # noqa: S701 - it makes YAML
        line_statement_prefix="%", variable_start_string="<<", variable_end_string=">>", undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    return environment.from_string(_TEMPLATE.read_text("utf-8")).render(
        _NUMBERS,
        head=[f"# {line}".rstrip() for note in _notes(budget, pairs) for line in wrap(note, 110)],
        budget=budget,
        judge=budget.judge,
        burns=BURNS,
        windows=dict.fromkeys(window for burn in BURNS for window in (burn.short, burn.long)),
        FEWEST_TO_FAIL=FEWEST_TO_FAIL,
        max_failed=max_failed,
        series=series,
        short=lambda number: f"{number:.6g}",
        percent=lambda share: f"{100 * share:.2f} %",
    )


def _notes(budget: ErrorBudget, pairs: str) -> list[str]:
    return [
        "Rules for Prometheus, written by `everyclaim watch rules`: regenerate them instead of editing.",
        *budget.notes,
        (
            f"An alert needs {', '.join(f'{burn.factor:g}' for burn in BURNS)} times the odds of the budget over "
            f"{', '.join(burn.long for burn in BURNS)}, and over {', '.join(burn.short for burn in BURNS)} before now; "
            f"more than chance above it, which is {NOW} standard errors of the rate, claims of an answer counted as "
            f"one cluster, and {ONCE} of the budget; and {FEWEST_ANSWERS} answers."
        ),
        *([f"Only series with {pairs}."] if pairs else []),
    ]


def _matchers(match: Mapping[str, str]) -> str:
    """Return matchers of labels as PromQL has them, on one line of YAML."""
    for name in match:
        if not _LABEL.fullmatch(name) or name in _OURS:
            raise ConfigError(
                f"{described(name, may_be_shown=True)} is not a label: use one that your Prometheus adds, as in job=bot"
            )
    return ",".join(f"{name}={_quoted(value)}" for name, value in match.items())


def _quoted(text: str) -> str:
    told = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in told)


# ---- the dashboard

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLOURS = {"SUPPORTED": "#3a7fd0", "UNSUPPORTED": "#e39a13", "CONTRADICTED": "#9a1245"}
_WINDOW = "[$__rate_interval]"
_RELEASE = 'release=~"$release"'
_WIDTH, _HEIGHT = 12, 8


def dashboard() -> dict[str, Any]:
    """Return the dashboard as plain JSON values, for import in Grafana or for provisioning from a file."""
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    query = f"label_values({telemetry.ANSWERS.prometheus}, release)"
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

    claims, score = telemetry.CLAIMS.prometheus, telemetry.SCORE.prometheus
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
            {corrected: "{{release}}", f"{corrected} + 2 * everyclaim:contradicted:error_1h": "and 2 standard errors"},
            "percentunit",
        ),
        _panel("Claims by verdict", {count(claims, "label", f"{{{_RELEASE}}}"): "{{label}}"}, stacked=True),
        _panel(
            "Mean score over 1h", {f"{hour(f'{score}_sum')} / {hour(f'{score}_count')}": "{{release}}"}, "none", most=1
        ),
        _panel(
            "Why claims fail",
            {count(telemetry.FAILING.prometheus, "failure_mode", f"{{{_RELEASE}}}"): "{{failure_mode}}"},
            stacked=True,
        ),
        _panel("Answers by outcome", {count(telemetry.ANSWERS.prometheus, "outcome"): "{{outcome}}"}, stacked=True),
        _panel("Answers that could not be judged, by code", {count(telemetry.FAILURES.prometheus, "code"): "{{code}}"}),
        _panel(
            "Calls of judges",
            {
                by_model.format("result", telemetry.CALLS.prometheus): "{{model}} {{result}}",
                by_model.format("code", telemetry.ERRORS.prometheus): "{{model}} {{code}}",
            },
            "reqps",
        ),
        _panel("Scoring time per answer", _quantiles(f"{telemetry.SECONDS.prometheus}_bucket"), "s"),
        _panel("Duration of judge calls", _quantiles(f"{telemetry.CALL_SECONDS.prometheus}_bucket"), "s"),
        _panel("Tokens", {count(telemetry.TOKENS.prometheus, "kind"): "{{kind}}"}, stacked=True),
        _panel("Cost per day", {count(telemetry.COST.prometheus, "model", window="[1d]"): "{{model}}"}, "currencyUSD"),
        _panel(
            "Running and queued",
            {
                f"sum({telemetry.IN_PROGRESS.prometheus})": "in progress",
                f"sum by (queue) ({telemetry.QUEUE.prometheus})": "{{queue}}",
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
