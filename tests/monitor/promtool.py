"""Rules under promtool: counters of simulated traffic as `Metrics` counts it, evaluated as Prometheus does it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

MINUTES = 5  # between scrapes
PER_HOUR = 60 // MINUTES
PER_DAY = 24 * PER_HOUR


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promtool, of Debian's package `prometheus`; without it these tests fail."""
    beside = Path(sys.executable).with_name("promtool")  # where the Makefile puts it
    found = beside if beside.exists() else shutil.which("promtool")
    assert found, "promtool is not installed: apt-get install prometheus, or run the tests by make"
    return subprocess.run([found, *map(str, arguments)], check=False, capture_output=True, text=True)


class Traffic:
    """Answers by scrape interval; claims of an answer go wrong together."""

    def __init__(self, seed: int, per_interval: float = 12.0) -> None:
        self.random = np.random.default_rng(seed)
        self.per_interval = per_interval
        self.series: dict[str, list[float]] = {}
        self.length = 0

    def run(
        self, intervals: int, rate: float, *, release: str = "v1", failed: float = 0.0, trouble: float = 0.01,
        model: str = "m-1",
    ) -> Traffic:  # fmt: skip
        """So many intervals with this rate of contradicted claims (correlation 0.3 within an answer)."""
        spread = 1 / 0.3 - 1
        counts = self.random.poisson(self.per_interval, intervals)
        lost = self.random.binomial(counts, failed)
        answers = counts - lost
        owner = np.repeat(np.arange(intervals), answers)
        claims = self.random.integers(1, 10, len(owner))
        wrong = self.random.binomial(claims, self.random.beta(rate * spread, (1 - rate) * spread, len(owner)))

        def per(values: np.ndarray) -> np.ndarray:
            return np.bincount(owner, values, minlength=intervals)

        of = f'release="{release}"'
        rows = {
            f'everyclaim_answers_total{{outcome="scored",{of}}}': answers,
            f'everyclaim_answers_total{{outcome="failed",{of}}}': lost,
            f'everyclaim_claims_total{{label="CONTRADICTED",{of}}}': per(wrong),
            f'everyclaim_claims_total{{label="SUPPORTED",{of}}}': per(claims - wrong),
            f'everyclaim_answer_products_total{{of="claims_squared",{of}}}': per(claims**2),
            f'everyclaim_answer_products_total{{of="contradicted_squared",{of}}}': per(wrong**2),
            f'everyclaim_answer_products_total{{of="claims_contradicted",{of}}}': per(claims * wrong),
            f"everyclaim_answer_score_sum{{{of}}}": per(1 - wrong / claims),
            f"everyclaim_answer_score_count{{{of}}}": answers,
            'everyclaim_flagged_claims_total{flag="quote_not_found"}': self.random.binomial(answers * 5, trouble),
            f'everyclaim_judge_calls_total{{model="openai:m",answered_by="{model}",result="answered"}}': counts,
        }
        for name, row in rows.items():
            line = self.series.setdefault(name, [0.0] * self.length)
            line.extend((line[-1] if line else 0.0) + np.cumsum(row))
        self.length += intervals
        for line in self.series.values():
            line.extend([line[-1]] * (self.length - len(line)))
        return self

    def lines(self) -> list[str]:
        return [
            f"      - series: {json.dumps(name)}\n        values: {json.dumps(' '.join(f'{value:.4f}' for value in row))}"
            for name, row in self.series.items()
        ]


def fired(
    folder: Path, rules: str, traffic: Traffic, windows: Sequence[tuple[int, int]], every: int = 30
) -> list[dict[str, set[str]]]:
    """Return which alerts fired between each two scrapes, by name, with their releases; looked at `every` minutes.

    promtool cannot print what a query gives: it is told to expect nothing, and reports what it got.
    """
    (folder / "rules.yml").write_text(rules, "utf-8")
    assert len({end - start for start, end in windows}) == len(windows), "windows are told apart by their lengths"
    tests = []
    for start, end in windows:
        query = f"count_over_time(ALERTS{{alertstate='firing'}}[{(end - start) * MINUTES}m])"
        tests += [
            f"      - expr: {json.dumps(query)}",
            f"        eval_time: {end * MINUTES}m",
            "        exp_samples: []",
        ]
    head = ["rule_files: [rules.yml]", f"evaluation_interval: {every}m", "tests:", f"  - interval: {MINUTES}m"]
    text = "\n".join([*head, "    input_series:", *traffic.lines(), "    promql_expr_test:", *tests])
    (folder / "test.yml").write_text(text + "\n", "utf-8")
    done = promtool("test", "rules", folder / "test.yml")
    report = done.stdout + done.stderr
    assert "FAILED" in report or "SUCCESS" in report, report
    assert "yaml" not in report, report
    reports = dict(re.findall(r"\[(\d+)m\]\)\", time: (?:.*?)got:(.*?)(?=expr:|\Z)", report, re.DOTALL))
    return [_alerts(reports.get(str((end - start) * MINUTES), "")) for start, end in windows]


def _alerts(got: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for labels in re.findall(r"\{(alertname=[^}]*)\}", got):
        pairs = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        found.setdefault(pairs["alertname"], set()).add(pairs.get("release", pairs.get("answered_by", "")))
    return found
