"""Rules for Prometheus and a dashboard for Grafana, made from the table of measures.

No panel of the dashboard can name a metric that there is not. The rules, `rules.yml.jinja`, alert on rates that rose
beyond their baseline, by more than chance and for long enough. A rate of contradicted claims is compared with it in
three pairs of windows: fast and far above, slow and a little above; the short window of a pair ends an alert when
the trouble has. An alert also needs the rise to be more than chance: its distance from the baseline in standard errors
that count the claims of an answer as one cluster. The error of a mean score is at the most √(m(1 − m)/n), as for any
number within [0, 1].
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

from everyclaim.analysis import percent
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import described
from everyclaim.core.limits import MAX_FAILED
from everyclaim.core.plaintext import counted, one_line
from everyclaim.monitor import telemetry
from everyclaim.monitor.detector import PERFECT, Baseline, JudgeAccuracy
from everyclaim.stats.types import ROUGH_CLUSTERS

# By how many standard errors a rate must exceed its baseline: of the present rate, which is tested again and again, and
# of the baseline, which was measured once.
NOW, ONCE = 4, 2
FEWEST_ANSWERS = 30  # in the long window
MARGIN = 0.05  # by which the mean score may lie below what is usual
FEWEST_TO_FAIL = 10  # answers of an hour: of fewer, two that fail prove nothing
TROUBLE = ("quote_not_found", "incomplete_verdict", "unstable", "disagreement", "audit_disagreed")  # of verdicts
_NUMBERS = {"NOW": NOW, "ONCE": ONCE, "FEWEST_ANSWERS": FEWEST_ANSWERS, "MARGIN": MARGIN, "TROUBLE": TROUBLE}
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OURS = {"label", "release", "outcome", "of", "failure_mode", "le", "flag", "result", "model", "answered_by"}
_NAMES = {measure.name: measure.prometheus for measure in telemetry.INSTRUMENTS}


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """What rules hold the present against: the rate of contradicted claims that is in order, and the mean score.

    The rate is corrected for the judge's error. `score` is None where no run says what is usual: rules then hold the
    score against its own past. `notes` say how the numbers came about.
    """

    contradicted: float
    error: float  # its standard error
    judge: JudgeAccuracy
    score: tuple[float, float] | None  # mean, standard error
    notes: tuple[str, ...]


def error_budget(usual: Baseline | None, rate: float | None = None) -> ErrorBudget:
    """Take a stated rate for what is in order, else that of a run, which also says how the judge errs.

    A run's rate below its own standard error counts as that; of a stated one, what labels leave open of the judge may
    pass. Raises `ConfigError` for a rate that is no share, and where there is neither.
    """
    judge = usual.judge if usual else None
    accuracy = judge or PERFECT
    if rate is not None or usual is None:
        if rate is None or not 0 < rate < 1:
            raise ConfigError(f"the rate must be a share between 0 and 1 (2 % is 0.02), got {rate!r}")
        error = judge.error(rate) if judge else 0.0
        notes = [f"Baseline rate of contradicted claims: {percent(rate, 2)} (--rate)."]
    else:
        raw = usual.contradicted
        error = max(raw.error / accuracy.sharpness, 1e-6)
        rate = max(accuracy.corrected(raw.value), error)
        said = (
            f"Baseline rate of contradicted claims: {percent(rate, 2)}. In run {one_line(usual.run, 60)} it is "
            f"{percent(raw.value, 2)} of {counted(usual.claims, 'claim')} in {counted(usual.answers, 'answer')} (95 % "
            f"interval {percent(raw.low, 2)} to {percent(raw.high, 2)}). A baseline below its standard error is raised."
        )
        notes = [said]
    if usual is None:
        notes.append("No baseline run was given, so the score is compared with that of the week before.")
        notes.append("Rates are not corrected: no run was read (--baseline RUN).")
        return ErrorBudget(rate, error, PERFECT, None, tuple(notes))
    mean, doubt = usual.score.value, usual.score.error
    notes.append(f"The mean score of run {one_line(usual.run, 60)} is {mean:.3f} (standard error {doubt:.3f}).")
    if judge is None:
        notes.append(f"Rates are {usual.uncorrected} (`everyclaim label`, `everyclaim calibrate`).")
    else:
        notes.append(
            "Rates are corrected for the judge's error: (rate + specificity - 1) / (sensitivity + specificity - 1), "
            f"Rogan and Gladen 1978, with sensitivity {judge.sensitivity:.4f} (from {judge.contradicted:.0f} "
            f"contradicted claims) and specificity {judge.specificity:.4f} (from {judge.others:.0f} other claims)."
        )
    if usual.answers < ROUGH_CLUSTERS:
        notes.append(f"Only {counted(usual.answers, 'answer')}: below {ROUGH_CLUSTERS} the baseline is rough.")
    return ErrorBudget(rate, error, accuracy, (mean, doubt), tuple(notes))


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


def rules_text(budget: ErrorBudget, *, match: Mapping[str, str] | None = None, max_failed: float = MAX_FAILED) -> str:
    """Return a file of rules, in Prometheus's YAML. `match` names labels of the series that are meant, as `job`.

    Raises `ConfigError` for what is no name of a label, or a share of failures that is none.
    """
    if not 0 < max_failed < 1:
        raise ConfigError(f"max_failed must be a share between 0 and 1, got {max_failed!r}")
    pairs = _matchers(match or {})

    def series(name: str, matchers: str = "", part: str = "", *, alone: bool = False) -> str:
        inside = "" if alone else ",".join(filter(None, (matchers, pairs)))
        return f"{_NAMES[name]}{part}{{{inside}}}" if inside else f"{_NAMES[name]}{part}"

    return _rendered(
        "rules.yml.jinja",
        **_NUMBERS,
        head=[f"# {line}".rstrip() for note in _notes(budget, pairs) for line in wrap(note, 110)],
        budget=budget,
        judge=budget.judge,
        burns=BURNS,
        windows=dict.fromkeys(window for burn in BURNS for window in (burn.short, burn.long)),
        FEWEST_TO_FAIL=FEWEST_TO_FAIL,
        max_failed=max_failed,
        series=series,
        short=lambda number: f"{number:.6g}",
        percent=partial(percent, digits=2),
    )


def _notes(budget: ErrorBudget, pairs: str) -> list[str]:
    return [
        "Rules for Prometheus, written by `everyclaim watch rules`: regenerate them instead of editing.",
        *budget.notes,
        "EveryclaimContradictedClaims fires if the odds of a contradicted claim are more than",
        *(f"- {b.factor:g} times the baseline's over {b.long}, and also over the last {b.short}" for b in BURNS),
        (
            f"The longer window must have {FEWEST_ANSWERS} answers, and its rate must exceed the baseline rate by "
            f"sqrt(({NOW} s)^2 + ({ONCE} b)^2): s and b are the standard errors of the rate (clustered by answer) and "
            "of the baseline rate."
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
    told = ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in match.items())
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in told)


def dashboard() -> dict[str, Any]:
    """Return the dashboard as plain JSON values, for import in Grafana or for provisioning from a file."""
    made: dict[str, Any] = json.loads(_rendered("dashboard.json.jinja", **_NAMES))
    return made


def _rendered(template: str, **values: Any) -> str:
    environment = Environment(  # noqa: S701 - it makes YAML and JSON
        line_statement_prefix="%", variable_start_string="<<", variable_end_string=">>", undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    return environment.from_string(Path(__file__).with_name(template).read_text("utf-8")).render(values)
