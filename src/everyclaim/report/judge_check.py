"""The page of a check of a judge."""

from __future__ import annotations

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.estimates import interval, percent, points, share_of
from everyclaim.analysis.judge_check import Against, Drift, JudgeCheck
from everyclaim.core.plaintext import counted, words
from everyclaim.report.style import Page, data, hanging, house_table, indented, joined, usage_line
from everyclaim.stats.types import Inference


def judge_check_page(found: JudgeCheck) -> Page:
    """Lay a check out: rates, repeating, order, length, drift, the other judge, then what is shown to be wrong."""
    head = joined([data(found.judge, "bold", 60), counted(len(found.asked), "labelled claim")])
    made = house_table("share of claims", "", "95 % interval", "")
    rows = [
        ("supported called so (TPR)", found.supported_called_so),
        ("failing called so (TNR)", found.failing_called_so),
        ("other label when asked again", found.flips),
        ("other label, passages turned round", found.turned),
    ]
    for name, rate in rows:
        if rate.n:
            made.add_row(name, percent(rate.value), interval(rate), share_of(rate))
    parts: list[RenderableType] = [head, Text(), made]
    if found.unjudged:
        parts.append(Text(f"no verdict came for {100 * found.unjudged:.1f} % of what was asked", "yellow"))
    if found.lengths:
        parts += [Text(), _lengths(found)]
    parts += [Text(), _drift(found.drift)]
    if found.against:
        parts += [Text(), _against(found.against)]
    parts.append(Text())
    parts += [hanging(Text("!", "bold red"), Text(told)) for told in (*found.findings, *found.shortfalls)]
    if found.verdict:
        parts.append(Text(found.verdict, "" if found.shortfalls else "green"))
    if found.usage.calls:
        parts += [Text(), Text.assemble(("usage ", "dim"), usage_line(found.usage))]
    return Page(indented(Stack(*parts), 2))


def _lengths(found: JudgeCheck) -> RenderableType:
    made = house_table("by length", "shorter", "longer", "points", "")
    for one in found.lengths:
        made.add_row(
            f"{one.of}, {words(one.rate)}",
            percent(one.shorter.value),
            percent(one.longer.value),
            _points(one.difference),
            Text("differs", "bold red") if one.is_shown else "",
        )
    return made


def _drift(drift: Drift | None) -> RenderableType:
    if drift is None:
        return Text("drift: the first check of this judge on these claims; later ones are compared with it", "dim")
    last = "" if drift.changed_last is None else f", {drift.changed_last:,} since the last check"
    told = (
        f"drift since {drift.since[:10]} ({counted(drift.checks, 'earlier check')}): {drift.changed:,} of"
        f" {drift.claims:,} labels changed{last}; judged as people do: {_points(drift.difference)} points, p"
        f" {drift.p_value:.3f} of {drift.alpha:.4f} to spend: all checks together raise a false alarm in 5 % at most"
    )
    changed = [Text.assemble(("changed since: ", "yellow"), data("; ".join(drift.differs), limit=400))]
    return Stack(Text(told), *(changed if drift.differs else []))


def _against(one: Against) -> RenderableType:
    kappa = "" if one.kappa is None else f", kappa {one.kappa:.2f}"
    alike = f"{percent(one.agreeing.value)} of {counted(one.claims, 'claim')} labelled alike ({interval(one.agreeing)})"
    told = f"; judged as people do: {_points(one.difference)} points"
    return Text.assemble("beside ", data(one.judge, "bold", 60), f": {alike}{kappa}{told}")


def _points(one: Inference) -> str:
    sign = "+" if one.value > 0 else ""
    return f"{sign}{points(one.value)} ({points(one.interval.low)} … {points(one.interval.high)})"
