"""The page of a judge on trial."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.estimates import NO_NUMBER, interval, percent
from everyclaim.analysis.judge_test import RULE, JudgeTest
from everyclaim.core.plaintext import counted
from everyclaim.report.style import (
    LABEL_SIGN,
    LABEL_STYLE,
    Page,
    data,
    hanging,
    house_table,
    indented,
    joined,
    usage_line,
)
from everyclaim.stats.intervals import Estimate

_WRONG_SHOWN = 10


def judge_test_page(test: JudgeTest, kinds: Mapping[str, str]) -> Page:
    """Show accuracy by kind beside that of the offline judge, what is wrong, what it took, and the word on it."""
    sets = len({one.passages for one in test.answered})
    head = joined(
        [
            Text("judge test", style="bold"),
            joined([Text("of"), data(test.judge)], " "),
            _basis(len(test.answered), sets),
        ]
    )
    parts: list[RenderableType] = [head, Text(), _table(test, kinds), Text()]
    if test.unjudged:
        parts += [Text(f"{counted(test.unjudged, 'claim')} without a usable verdict", style="yellow"), Text()]
    if test.wrong:
        parts += [_wrong(test), Text()]
    parts.append(joined([Text("usage", style="dim"), usage_line(test.usage)], " "))
    if test.is_fit:
        parts += [Text(), Text("fit to judge", style="bold green")]
    else:
        parts += [Text(), Text("not fit to judge", style="bold red")]
        parts += [hanging(Text("-"), Text(why)) for why in test.why_not]
    parts += [Text(), Text(f"fit to judge: {RULE}.", style="dim")]
    return Page(indented(Stack(*parts), 2))


def _basis(claims: int, sets: int) -> str:
    return f"{counted(claims, 'claim')} on {counted(sets, 'set of passages', 'sets of passages')}"


def _table(test: JudgeTest, kinds: Mapping[str, str]) -> RenderableType:
    beside = test.beside
    made = house_table("", "right", "95 % interval", *([beside.judge] if beside else []))
    for kind, share in test.kinds.items():
        made.add_row(Text(kinds.get(kind, kind)), *_cells(share, beside.kinds[kind] if beside else None))
    made.add_row(Text("all kinds", style="bold"), *_cells(test.accuracy, beside.accuracy if beside else None))
    made.add_row("supported claims", *_cells(test.supported, beside.supported if beside else None))
    made.add_row("claims that are not", *_cells(test.not_supported, beside.not_supported if beside else None))
    made.add_row(
        "unsupported and contradicted told apart", *_cells(test.told_apart, beside.told_apart if beside else None)
    )
    made.add_row(
        "verdicts whose quotes are all there", *_cells(test.quotes_found, beside.quotes_found if beside else None)
    )
    return made


def _cells(share: Estimate, beside: Estimate | None) -> list[str]:
    cells = [_of(share), interval(share)]
    return cells if beside is None else [*cells, percent(beside.value)]


def _of(share: Estimate) -> str:
    return NO_NUMBER if share.value is None else f"{round(share.value * share.n)} of {share.n}"


def _wrong(test: JudgeTest) -> RenderableType:
    rows: list[RenderableType] = [Text(f"wrong: {counted(len(test.wrong), 'claim')}", style="dim")]
    for one in test.wrong[:_WRONG_SHOWN]:
        sign = Text(LABEL_SIGN[one.given], style=LABEL_STYLE[one.given]) if one.given else Text("!", style="yellow")
        given = one.given.value.lower() if one.given else "no verdict"
        told = joined([data(one.claim), Text(f"{given}, but is {one.expected.value.lower()}", style="dim")])
        rows.append(hanging(sign, told))
    if (rest := len(test.wrong) - _WRONG_SHOWN) > 0:
        rows.append(Text(f"and {rest} more (--json has all)", style="dim"))
    return Stack(*rows)
