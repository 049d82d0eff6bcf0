"""Results, runs and comparisons in a notebook: short, with a style that stays inside its own output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markupsafe import Markup

from everyclaim.analysis.comparison import Comparison
from everyclaim.analysis.summary import Summary
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.report.html.answers import answer_view
from everyclaim.report.html.charts import label_bar
from everyclaim.report.html.comparison import delta_row
from everyclaim.report.html.environment import asset, shared
from everyclaim.store.records import RunRecord

_CLAIMS = 20


def result_html(result: Result) -> str:
    """Write a result: its score, and its claims with their verdicts, the failing ones open to be read."""
    view = answer_view(Kept(0, "", Sample(result.id, "", (), result.question), result), key=f"nb{len(result.claims)}-")
    shown = sorted(view.claims, key=lambda one: (not one.is_failing, one.number))
    return _rendered("result", view=view, shown=shown[:_CLAIMS], more=max(0, len(shown) - _CLAIMS))


def run_html(record: RunRecord, summary: Summary, worst: Sequence[Kept]) -> str:
    """Write a run: the headline, the labels, and the answers to look at first."""
    group = summary.overall
    rest = [(outcome, count) for outcome, count in group.outcomes.items() if count and outcome is not Outcome.SCORED]
    views = [answer_view(kept, context=200, key=f"nb{record.id}-") for kept in worst]
    return _rendered("run", record=record, group=group, rest=rest, bar=label_bar(group.labels), views=views)


def comparison_html(comparison: Comparison) -> str:
    """Write a comparison: the sentence, and the looks at the whole."""
    rows = [delta_row(delta.measure.title, delta) for delta in comparison.numbers.whole]
    return _rendered("comparison", comparison=comparison, rows=rows)


def _rendered(name: str, **values: object) -> str:
    page = shared().get_template("everyclaim/notebook.html")
    return page.render(what=name, style=_style(), failing=(Label.UNSUPPORTED, Label.CONTRADICTED), **values)


@cache
def _style() -> Markup:
    """The theme, its every rule inside ``.everyclaim``, so that the rest of the notebook keeps its own delta."""
    theme = re.sub(r"/\*.*?\*/", "", asset("theme.css"), flags=re.DOTALL).partition("@media print")[0]
    tokens, _, rules = theme.partition("*, *::before")
    rules = re.sub(r"^(html|body) \{[^}]*\}\n", "", "*, *::before" + rules, flags=re.MULTILINE)
    ours = tokens.replace(":root", ".everyclaim")
    base = "background: var(--ground); color: var(--text); padding: 0.6rem 0.8rem; font: 14px/1.5 var(--sans);"
    return Markup(f"{ours}.everyclaim {{ {base} {rules} }}")  # noqa: S704 - our own file
