"""Rules for Prometheus: alerts on rates that rose beyond their budget, by more than chance and for long enough.

A rate of contradicted claims is compared with its budget in three pairs of windows: fast and far above, slow and a
little above; the short window of a pair ends an alert when the trouble has. An alert also needs the rise to be more
than chance: its distance from the budget in standard errors that count the claims of an answer as one cluster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import described
from everyclaim.core.types import Label, Outcome
from everyclaim.monitor.baseline import ErrorBudget
from everyclaim.monitor.telemetry import (
    ANSWERS,
    CALLS,
    CLAIM_PRODUCTS,
    CLAIM_SQUARES,
    CLAIMS,
    CONTRADICTED_SQUARES,
    FAILURES,
    FLAGGED,
    PRODUCTS,
    SCORE,
)

# By how many standard errors a rate must lie above its budget: of the present rate, which is looked at again and again,
# and of the budget, which was measured once.
NOW, ONCE = 4, 2
FEWEST_ANSWERS = 30  # in the long window
MARGIN = 0.05  # by which the mean score may lie below what is usual
FAILED = 0.05  # share of answers that may fail
FEWEST_TO_FAIL = 10  # answers of an hour: of fewer, two that fail prove nothing
TROUBLE = ("quote_not_found", "incomplete_verdict", "unstable", "disagreement", "audit_disagreed")  # of verdicts
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_CONTRADICTED = f'label="{Label.CONTRADICTED.value}"'
_SCORED = f'outcome="{Outcome.SCORED.value}"'
_FAILED = f'outcome="{Outcome.FAILED.value}"'


Rule = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Burn:
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
    wanted = _Selector(_pairs(match or {}))
    groups = [  # each reads only what it records itself: Prometheus evaluates groups in no order
        ("everyclaim-contradicted", [*_rates(budget, wanted), *_contradicted(budget)]),
        ("everyclaim-score", _scores(budget, wanted)),
        ("everyclaim-judge", [*_failing(wanted, max_failed), *_drift(wanted)]),
    ]
    head = [f"# {line}".rstrip() for note in _notes(budget, wanted) for line in wrap(note, 110)]
    body = [line for name, rules in groups for line in (f"  - name: {name}", "    rules:", *_yaml(rules))]
    return "\n".join([*head, "groups:", *body]) + "\n"


def _notes(budget: ErrorBudget, wanted: _Selector) -> list[str]:
    return [
        "Rules for Prometheus, written by `everyclaim watch rules`: write them anew rather than changing them.",
        *budget.notes,
        (
            f"An alert needs {', '.join(f'{one.factor:g}' for one in BURNS)} times the odds of the budget over "
            f"{', '.join(one.long for one in BURNS)}, and over {', '.join(one.short for one in BURNS)} before now; "
            f"more than chance above it, which is {NOW} standard errors of the rate, claims of an answer counted as "
            f"one cluster, and {ONCE} of the budget; and {FEWEST_ANSWERS} answers."
        ),
        *([f"Of series with {wanted.pairs} alone."] if wanted.pairs else []),
    ]


@dataclass(frozen=True, slots=True)
class _Selector:
    """Sums of increases of the series that are meant."""

    pairs: str

    def sum(self, name: str, window: str, matching: str = "", *, by: str = "release") -> str:
        """Return the increase over a window, summed by labels."""
        return f"sum{f' by ({by}) ' if by else ''}(increase({self._series(name, matching)}[{window}]))"

    def most(self, name: str, window: str, matching: str, *, by: str) -> str:
        """Return the most that a counter was, by labels."""
        return f"max by ({by}) (max_over_time({self._series(name, matching)}{window}))"

    def _series(self, name: str, matching: str) -> str:
        inside = ",".join(part for part in (matching, self.pairs) if part)
        return f"{name}{{{inside}}}" if inside else name


def _rates(budget: ErrorBudget, wanted: _Selector) -> list[Rule]:
    """Rates of contradicted claims and their standard errors, by window and release: raw, then corrected."""
    judge = budget.judge
    rules: list[Rule] = []
    for window in dict.fromkeys(window for burn in BURNS for window in (burn.short, burn.long)):
        claims, raw = f"everyclaim:claims:increase_{window}", f"everyclaim:contradicted_judged:ratio_{window}"
        squares, mixed, sizes = (
            wanted.sum(PRODUCTS.prometheus, window, f'of="{of}"')
            for of in (CONTRADICTED_SQUARES, CLAIM_PRODUCTS, CLAIM_SQUARES)
        )
        rules += [
            _record(f"everyclaim:answers:increase_{window}", wanted.sum(ANSWERS.prometheus, window, _SCORED)),
            _record(claims, wanted.sum(CLAIMS.prometheus, window)),
            _record(raw, f"{wanted.sum(CLAIMS.prometheus, window, _CONTRADICTED)} / {claims}"),
            _record(
                f"everyclaim:contradicted:ratio_{window}",
                f"clamp(({raw} - {1 - judge.specificity:.6g}) / {judge.sharpness:.6g}, 0, 1)",
            ),
            _record(
                f"everyclaim:contradicted:error_{window}",
                f"sqrt(clamp_min({squares}\n- 2 * {raw} * {mixed}\n+ {raw} ^ 2 * {sizes}, 0))"
                f"\n/ {claims} / {judge.sharpness:.6g}",
            ),
        ]
    return rules


def _contradicted(budget: ErrorBudget) -> list[Rule]:
    rules = []
    for burn in BURNS:
        bar = burn.bar(budget.contradicted)
        rate, error = f"everyclaim:contradicted:ratio_{burn.long}", f"everyclaim:contradicted:error_{burn.long}"
        rules.append(
            _alert(
                "EveryclaimContradictedClaims",
                (
                    f"{rate} > {bar:.6g}",
                    f"{rate} - {budget.contradicted:.6g} > {_beyond(error, f'{budget.error:.6g}')}",
                    f"everyclaim:contradicted:ratio_{burn.short} > {bar:.6g}",
                    f"everyclaim:answers:increase_{burn.long} >= {FEWEST_ANSWERS}",
                ),
                {"severity": burn.severity, "window": burn.long},
                "Release {{ $labels.release }}: {{ $value | humanizePercentage }} of the claims are contradicted",
                f"Over {burn.long} that is more than {100 * bar:.2f} %, where the budget is "
                f"{100 * budget.contradicted:.2f} %, and more than chance. `everyclaim compare` says what changed.",
            )
        )
    return rules


def _scores(budget: ErrorBudget, wanted: _Selector) -> list[Rule]:
    """The mean score by release, and its standard error at the most: of a number within [0, 1] it is √(m(1 − m)/n)."""
    total, count = f"{SCORE.prometheus}_sum", f"{SCORE.prometheus}_count"
    rules: list[Rule] = []
    for window, by in (("1h", "release"), ("6h", "release"), *((("7d", ""),) if budget.score is None else ())):
        mean, answers = f"everyclaim:score:mean_{window}", f"everyclaim:score:answers_{window}"
        rules += [
            _record(answers, wanted.sum(count, window, by=by)),
            _record(mean, f"{wanted.sum(total, window, by=by)} / {answers}"),
            _record(f"everyclaim:score:error_{window}", f"sqrt(clamp_min({mean} * (1 - {mean}), 0) / {answers})"),
        ]
    usual, doubt = (f"scalar(everyclaim:score:{what}_7d offset 6h)" for what in ("mean", "error"))
    told = "that of the week before"
    if budget.score is not None:
        usual, doubt = (f"{number:.6g}" for number in budget.score)
        told = f"the baseline's {budget.score[0]:.3f}"
    lost = f"{usual} - everyclaim:score:mean_6h"
    rules.append(
        _alert(
            "EveryclaimFaithfulnessDrop",
            (
                f"{lost} > {MARGIN}",
                f"{lost} > {_beyond('everyclaim:score:error_6h', doubt)}",
                f"{usual} - everyclaim:score:mean_1h > {MARGIN}",
                f"everyclaim:score:answers_6h >= {FEWEST_ANSWERS}",
            ),
            {"severity": "warning", "window": "6h"},
            "Release {{ $labels.release }}: the mean score is {{ $value | humanize }} lower",
            f"Over 6h it lies more than {MARGIN} below {told}, and by more than chance.",
        )
    )
    return rules


def _failing(wanted: _Selector, most: float) -> list[Rule]:
    share = {window: f"everyclaim:failed:ratio_{window}" for window in ("10m", "1h")}
    sums = {window: wanted.sum(ANSWERS.prometheus, window, by="") for window in share}
    records = [
        _record(name, f"{wanted.sum(ANSWERS.prometheus, window, _FAILED, by='')} / {sums[window]}")
        for window, name in share.items()
    ]
    alert = _alert(
        "EveryclaimJudgeFailing",
        (
            f"{share['1h']} > {most:g}",
            f"{share['1h']} - {most:g} > {NOW} * sqrt({most * (1 - most):.6g} / {sums['1h']})",
            f"{share['10m']} > {most:g}",
            f"{sums['1h']} >= {FEWEST_TO_FAIL}",
        ),
        {"severity": "critical", "window": "1h"},
        "{{ $value | humanizePercentage }} of the answers could not be judged",
        f"More than {100 * most:g} % failed over 1h: they are in no rate, so the other alerts see less. "
        f"{FAILURES.prometheus} says why, by code.",
    )
    return [*records, alert]


def _drift(wanted: _Selector) -> list[Rule]:
    """Another model behind the judge's name, and verdicts that more often contradict themselves or their evidence."""
    answered = 'result="answered",answered_by!=""'
    now = wanted.sum(CALLS.prometheus, "1h", answered, by="model, answered_by")
    before = wanted.most(CALLS.prometheus, "[7d:1h] offset 1h", answered, by="model, answered_by")
    known = wanted.most(CALLS.prometheus, "[7d:1h] offset 1h", answered, by="model")
    flags = f'flag=~"{"|".join(TROUBLE)}"'
    records: list[Rule] = []
    for window in ("1d", "7d"):
        share, claims = f"everyclaim:trouble:ratio_{window}", wanted.sum(CLAIMS.prometheus, window, by="")
        answers = f"everyclaim:trouble:answers_{window}"
        records += [
            _record(answers, wanted.sum(ANSWERS.prometheus, window, _SCORED, by="")),
            _record(share, f"{wanted.sum(FLAGGED.prometheus, window, flags, by='')} / {claims}"),
            _record(f"everyclaim:trouble:error_{window}", f"sqrt(clamp_min({share} * (1 - {share}), 0) / {answers})"),
        ]
    today, week, error = "everyclaim:trouble:ratio_1d", "everyclaim:trouble:ratio_7d", "everyclaim:trouble:error"
    return [
        *records,
        _alert(
            "EveryclaimJudgeChanged",
            (f"({now} > 0 unless {before} > 0)", f"on (model) {known} > 0"),
            {"severity": "warning"},
            "{{ $labels.model }} is answered by {{ $labels.answered_by }}, as it was not in the week before",
            "A score is comparable under one judge alone: judge labelled claims again (`everyclaim calibrate`).",
        ),
        _alert(
            "EveryclaimJudgeDrift",
            (
                f"{today} > 2 * ({week} offset 1d)",
                f"{today} - ({week} offset 1d) > {_beyond(f'{error}_1d', f'({error}_7d offset 1d)')}",
                f"everyclaim:trouble:answers_1d >= {FEWEST_ANSWERS}",
            ),
            {"severity": "warning", "window": "1d"},
            "{{ $value | humanizePercentage }} of the verdicts are in trouble with themselves or their evidence",
            f"Over a day more than twice as many as in the week before ({', '.join(TROUBLE)}): the judge or the "
            "answers have changed. Judge labelled claims again (`everyclaim calibrate`).",
        ),
    ]


def _beyond(error: str, doubt: str) -> str:
    """Return the distance that is more than chance, from the standard errors of what is and of what was."""
    return f"sqrt(({NOW} * {error}) ^ 2 + ({ONCE} * {doubt}) ^ 2)"


def _record(name: str, expression: str) -> Rule:
    return {"record": name, "expr": expression}


def _alert(name: str, conditions: Sequence[str], labels: Mapping[str, str], summary: str, description: str) -> Rule:
    told = {"summary": summary, "description": description}
    return {"alert": name, "expr": "\nand ".join(conditions), "labels": labels, "annotations": told}


def _yaml(rules: Sequence[Rule]) -> list[str]:
    """Write rules as YAML: texts quoted as in JSON, which is YAML, and expressions as blocks to be read."""
    lines = []
    for rule in rules:
        before = "      - "
        for key, value in rule.items():
            if key == "expr":
                lines += [f"{before}expr: |-", *(f"          {line}" for line in str(value).splitlines())]
            elif isinstance(value, Mapping):
                lines.append(f"{before}{key}:")
                lines += [f"          {name}: {json.dumps(text, ensure_ascii=False)}" for name, text in value.items()]
            else:
                lines.append(f"{before}{key}: {value}")
            before = "        "
    return lines


def _pairs(match: Mapping[str, str]) -> str:
    """Return matchers of labels as PromQL has them."""
    taken = {"label", "release", "outcome", "of", "failure_mode", "le", "flag", "result", "model", "answered_by"}
    for name in match:
        if not _LABEL.fullmatch(name) or name in taken:
            raise ConfigError(
                f"{described(name, may_be_shown=True)} is no label to match by: "
                "name one that your Prometheus adds, as in job=bot"
            )
    return ",".join(f"{name}={_quoted(value)}" for name, value in match.items())


def _quoted(text: str) -> str:
    """Quote a text for PromQL, on one line of YAML."""
    told = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in told)
