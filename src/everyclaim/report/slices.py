"""Slices in the terminal: what the answers of each value came to, and why their claims fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.estimates import NO_NUMBER, percent, span
from everyclaim.analysis.estimates import score as score_text
from everyclaim.analysis.slices import FEW
from everyclaim.analysis.summary import Group
from everyclaim.core.plaintext import words
from everyclaim.core.types import FailureMode, Label
from everyclaim.report.style import BAND_STYLE, data, house_table, indented

SLICES_SHOWN = 20
_COLUMNS = 4  # values beside each other in the table of failure modes


def slice_tables(slices: Mapping[str, Mapping[str, Group]]) -> Iterator[RenderableType]:
    """Show a table for each slice, and one of failure modes by its largest values."""
    is_small = False
    for tag, groups in slices.items():
        shown = sorted(groups.items(), key=lambda item: (-item[1].total, item[0]))
        yield from (Text(), indented(_rates(tag, shown), 2))
        is_small = is_small or any(group.is_small for _, group in shown[:SLICES_SHOWN])
        failing = [(value, group) for value, group in shown if group.claims]
        if len(failing) > 1 and any(group.failure_modes for _, group in failing):
            yield from (Text(), indented(_modes(tag, failing), 2))
    if is_small:
        told = f"! fewer than {FEW} scored answers: the interval says something, the number alone does not"
        yield from (Text(), indented(Text(told, style="yellow"), 2))


def _rates(tag: str, groups: Sequence[tuple[str, Group]]) -> RenderableType:
    made = house_table(data(tag, limit=60), "scored", "score", "95 % interval", "unsupp.", "contrad.")
    for value, group in groups[:SLICES_SHOWN]:
        made.add_row(
            _value(value),
            Text.assemble(f"{group.scored:,}/{group.total:,}", (" !", "yellow") if group.is_small else "  "),
            Text(score_text(group.score), style=BAND_STYLE[group.band] if group.band else ""),
            span(group.score),
            percent(group.rates[Label.UNSUPPORTED].value),
            percent(group.rates[Label.CONTRADICTED].value),
        )
    more = len(groups) - SLICES_SHOWN
    return Stack(made, Text(f"… and {more:,} more values; --json has them all", style="dim")) if more > 0 else made


def _modes(tag: str, groups: Sequence[tuple[str, Group]]) -> RenderableType:
    """Show the share of all claims that fail in each way, values beside each other."""
    shown = groups[:_COLUMNS]
    made = house_table("share of claims", *(_value(value) for value, _ in shown))
    there = {mode for _, group in shown for mode in group.failure_modes}
    for mode in (mode.value for mode in FailureMode if mode.value in there):
        shares = [group.failure_modes.get(mode, 0) / group.claims for _, group in shown]
        made.add_row(words(mode), *(percent(share) if share else NO_NUMBER for share in shares))
    more = len(groups) - len(shown)
    tail = f"by {tag}; --json has {more:,} more values" if more else f"by {tag}"
    return Stack(made, Text.assemble(data(tail, "dim", 120)))


def _value(value: str) -> Text:
    return data(value, limit=60) if value else Text("(not given)", style="dim")
