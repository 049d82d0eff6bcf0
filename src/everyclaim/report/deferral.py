"""The page of a fitted deferral zone."""

from __future__ import annotations

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.deferral import BandFit, Settled
from everyclaim.analysis.estimates import NO_NUMBER, percent
from everyclaim.core.plaintext import counted
from everyclaim.report.style import Page, data, house_table, indented, joined


def band_page(fit: BandFit, judge: str, spec: str) -> Page:
    """Show what the judge may settle and how often it is wrong there; `spec` is the cascade to use."""
    basis = f"{counted(fit.claims, 'labelled claim')} on {counted(fit.clusters, 'set of passages', 'sets of passages')}"
    head = joined([Text("deferral zone", style="bold"), joined([Text("of"), data(judge)], " "), basis])
    made = house_table("", "p(supported)", "settled", "wrong", f"at most ({fit.confidence:.0%} sure)")
    rows = (
        ("as supported", f"≥ {fit.high:g}", fit.as_supported),
        ("as not supported", f"≤ {fit.low:g}", fit.as_not_supported),
        ("in all", "", fit.settled),
    )
    for name, edge, settled in rows:
        made.add_row(name, edge if settled.claims else NO_NUMBER, *_numbers(settled))
    parts: list[RenderableType] = [head, Text(), made, Text()]
    if fit.settled.claims:
        doubt = fit.claims - fit.settled.claims
        parts += [Text(f"in doubt: {doubt:,} of {fit.claims:,} claims ({percent(doubt / fit.claims)})"), Text()]
        use = joined([Text("use", style="dim"), Text("--judge"), data(f"'{spec}'", "bold")], " ")
        use.no_wrap, use.overflow = True, "ignore"  # it is there to be copied
        parts.append(use)
    else:
        parts.append(Text(why_nothing(fit), style="yellow"))
    return Page(indented(Stack(*parts), 2))


def why_nothing(fit: BandFit) -> str:
    """Say why there is no zone, and what would help."""
    if fit.clusters < fit.needed:
        return (
            f"too few labels: an error of at most {fit.error:.1%} takes {fit.needed:,} sets of passages without "
            f"a single error to show, and there are {fit.clusters:,}"
        )
    return (
        f"nothing can be settled: however sure the judge is, an error of at most {fit.error:.1%} cannot be shown; "
        "allow more, label more, or take a better judge"
    )


def _numbers(settled: Settled) -> tuple[str, str, str]:
    if not settled.claims:
        return "0", NO_NUMBER, NO_NUMBER
    return (
        f"{settled.claims:,}",
        f"{settled.wrong:,} ({percent(settled.wrong / settled.claims)})",
        percent(settled.at_most),
    )
