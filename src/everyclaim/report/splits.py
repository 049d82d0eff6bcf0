"""The page of what people say of splits: the accepted share against its target, what is wrong, and where."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.calibration import AT_LEAST
from everyclaim.analysis.estimates import interval, percent, share_of
from everyclaim.analysis.splits import SplitCheck, SplitSentence
from everyclaim.core.plaintext import counted, words
from everyclaim.core.types import SplitMark
from everyclaim.report.style import Page, data, hanging, house_table, indented, joined

_SHOWN = 5  # rejected sentences
_STYLE = {"met": "green", "missed": "bold red", "not shown": "yellow"}


def splits_page(found: SplitCheck) -> Page:
    """Lay the marks of splits out."""
    people = counted(len(found.annotators), "annotator")
    head = joined([Text(f"run {found.run}", "bold"), data(found.decomposer, limit=60), people])
    made = house_table("sentences", "share", "95 % interval", "", AT_LEAST)
    standing = Text(found.standing, _STYLE[found.standing])
    accepted = found.accepted
    made.add_row("accepted", percent(accepted.value), interval(accepted), share_of(accepted), standing)
    for mark, rate in found.with_mark.items():
        made.add_row(f"with {words(mark.value)}", percent(rate.value), interval(rate), share_of(rate), "")
    parts: list[RenderableType] = [head, Text(), made]
    if found.incomplete:
        parts.append(Text(f"{counted(found.incomplete, 'sentence')} with claims not marked yet: in no share", "dim"))
    parts += [Text(note, "dim") for note in found.notes]
    for one in found.rejected[:_SHOWN]:
        parts += [Text(), *_rejected(one)]
    if (more := len(found.rejected) - _SHOWN) > 0:
        parts += [Text(), Text(f"… and {counted(more, 'more rejected sentence')}; --json has them all", "dim")]
    return Page(indented(Stack(*parts), 2))


def _rejected(one: SplitSentence) -> Iterator[RenderableType]:
    yield hanging(Text("·", "dim"), data(one.text, limit=400))
    for claim, mark in zip(one.claims, one.marks, strict=True):
        is_bad = mark not in (None, SplitMark.GOOD)
        named = Text(f" {words(mark.value)}" if mark else " no mark", "yellow" if is_bad else "dim")
        yield indented(hanging(Text("→", "dim"), data(claim, limit=240) + named), 2)
    for claim in one.better:
        yield indented(hanging(Text("better", "green"), data(claim, limit=240)), 2)
