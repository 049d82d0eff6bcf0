"""The page of the docs that lists what telemetry tells, made from the table of measures."""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.monitor.bounded import MOST
from everyclaim.monitor.measures import MEASURES

_HEAD = """# Telemetry

What `observe` tells, and under which names; [monitoring](../how-to/monitoring.md) says how it is switched on. This page
is generated from the table that both exporters read.

## Metrics

| Prometheus | OpenTelemetry | kind | labels | what it counts |
| --- | --- | --- | --- | --- |
"""

_TAIL = """
A histogram has `_bucket`, `_sum` and `_count` in Prometheus; its upper ends are for scores 0, 0.1 … 0.9, 0.95, 0.99 and
1, for times 0.01 to 300 seconds. What a guard checks on the way (and streams), given claims, and what a judge is tried
on are in `other_checks` alone; a guard's answers are those it returned.

`answer_products` are sums over scored answers of n claims, x of them contradicted: `claims_squared` Σn²,
`contradicted_squared` Σx², `claims_contradicted` Σn·x. With the rate r = Σx/Σn its standard error is
√(Σx² − 2r·Σn·x + r²·Σn²) / Σn, which counts the claims of an answer as one cluster, as they go wrong together.

## Spans and the event

| span | kind | attributes |
| --- | --- | --- |
| `everyclaim.score` | internal | `everyclaim.sample.id`, `.purpose`, `.metric`, `.judge`, `.decomposer`, `.outcome`, \
`.score`, `.release`, `.claims.supported`, `.claims.unsupported`, `.claims.contradicted`; \
of one that failed `error.type` |
| `chat MODEL` | client, inside it | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model`, \
`gen_ai.response.model`, `gen_ai.usage.input_tokens`, `gen_ai.usage.output_tokens`, `everyclaim.cached`, \
`everyclaim.cost_dollars`; `error.type` |

The log event `gen_ai.evaluation.result`, one for each answer, has the span that is evaluated as its context (the one
that `evaluating` says, else the one active where the scoring began, else `everyclaim.score`), and

| attribute | value |
| --- | --- |
| `gen_ai.evaluation.name` | the metric: `faithfulness`, … |
| `gen_ai.evaluation.score.value` | the score, of scored answers alone |
| `gen_ai.evaluation.score.label` | of the worst claim: `supported`, `unsupported`, `contradicted`; else the outcome: \
`no_claims`, `abstained`, `failed` |
| `gen_ai.evaluation.explanation` | counts by verdict and failure mode; with `with_texts` also the claims that fail, \
and why |
| `gen_ai.response.id` | where `evaluating` says it |
| `error.type` | the code of an answer that failed |
| `everyclaim.sample.id` | the id of the sample |

These conventions are in development; the names are those of the GenAI semantic conventions of November 2026.
"""


def reference() -> str:
    """Return the page, in Markdown."""
    rows = []
    for one in MEASURES:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        rows.append(_row([f"`{one.prometheus}`", f"`{one.otel}`", one.kind, labels, one.help]))
    return _HEAD + "\n".join(rows) + "\n" + _labels() + _TAIL


def _labels() -> str:
    known = {
        "label": ", ".join(f"`{label.value}`" for label in Label),
        "outcome": ", ".join(f"`{outcome.value}`" for outcome in Outcome),
        "failure_mode": ", ".join(f"`{mode.value}`" for mode in FailureMode),
    }
    most = ", ".join(f"`{label}` {count}" for label, count in MOST.items())
    lines = [f"- `{label}`: {values}" for label, values in known.items()]
    return (
        "\nValues of labels:\n\n"
        + "\n".join(lines)
        + "\n- told apart up to a number, any further one counts as `other`, as `folded_labels` and a warning say:\n"
        + f"  {most}\n"
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
