"""The names of metrics: dashboard, rules and docs name only what the real client renders."""

from __future__ import annotations

import json
import re
from pathlib import Path

from promtool import promtool

from everyclaim.monitor import Metrics
from everyclaim.monitor.baseline import error_budget
from everyclaim.monitor.rules import dashboard, rules_text

NAME = re.compile(r"\beveryclaim_[a-z_]+\b")


def rendered() -> set[str]:
    text = Metrics().render().decode("utf-8")
    families = re.findall(r"^# TYPE (\S+) (\w+)", text, re.MULTILINE)
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    return {f"{name}{part}" for name, kind in families for part in parts.get(kind, ("",))}


def recorded() -> set[str]:
    return set(re.findall(r"record: (\S+)", rules_text(error_budget(None, 0.02))))


def test_the_dashboard_names_only_metrics_that_there_are() -> None:
    """Of the client, and of the rules that record rates."""
    text = json.dumps(dashboard())
    assert set(NAME.findall(text)) <= rendered()
    assert set(re.findall(r"everyclaim:[a-z_:]+\w+", text)) <= recorded()
    assert len(set(NAME.findall(text))) > 10


def test_the_expressions_of_the_dashboard_are_promql(tmp_path: Path) -> None:
    """As rules they pass promtool, with Grafana's variables filled in."""
    lines = ["groups:", "  - name: dashboard", "    rules:"]
    for place, target in enumerate(target for panel in dashboard()["panels"] for target in panel["targets"]):
        expression = target["expr"].replace("$__rate_interval", "5m").replace("$release", ".*")
        lines += [f"      - record: panel_{place}", f"        expr: {json.dumps(expression)}"]
    (tmp_path / "panels.yml").write_text("\n".join(lines) + "\n", "utf-8")
    done = promtool("check", "rules", tmp_path / "panels.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_name_only_metrics_that_there_are() -> None:
    """A renamed metric would make an alert silent for ever."""
    assert set(NAME.findall(rules_text(error_budget(None, 0.02)))) <= rendered()
