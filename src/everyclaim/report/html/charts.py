"""Charts as static SVG: they need no script, no network and no inline style, and print as they are shown.

Colours come from the classes of ``theme.css``; every chart has a title, a description in words for those who do not see
it, axes with their unit, and the intervals drawn. Text in them is a size of its own: a chart is about 440 units wide.
What a chart says and where its points lie is computed here; ``charts.html`` draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Any

from markupsafe import Markup

from everyclaim.analysis import minus
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.types import Label
from everyclaim.report.html import shared
from everyclaim.report.style import shares_of
from everyclaim.stats.intervals import Estimate

WIDTH = 440
_RIGHT = WIDTH - 20  # where axes end
_NAME = 20  # characters of a name beside a row
_GLYPH = 6.5  # width of a letter below an axis
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value within [0, 1] with its interval, and what it is called; `note` stands behind the name, `kind` is a class.

    A value of None is not drawn, and said to be missing.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    kind: str = ""


def reading(name: str, rate: Estimate, unit: str, kind: str = "") -> ChartPoint:
    """Return a rate as a chart draws it; `unit` is what it is of, empty: untold."""
    return ChartPoint(name, rate.value, rate.low, rate.high, f"{rate.n:,} {unit}" if unit else "", kind)


def label_bar(counts: Mapping[Label, int]) -> Markup:
    """Draw one bar shared out by label; a label that occurs is never too narrow to be seen."""
    total = sum(counts.values())
    told = ", ".join(f"{counts[label]:,} {label.value.lower()}" for label in Label)
    widths = shares_of([counts[label] for label in Label], 100) if total else [0, 0, 0]
    parts = [part for part in zip(Label, accumulate(widths, initial=0), widths, strict=False) if part[2]]
    return _drawn("bar", "Claims by label", f"{counted(total, 'claim')}: {told}.", parts=parts)


def interval_plot(readings: Sequence[ChartPoint], *, title: str, axis: str, percent: bool = True) -> Markup:
    """Draw one row per reading: a point at its value, a line over its interval; the axis goes from 0 to 1 (100 %)."""
    return _rows(readings, _Scale(150, _RIGHT), _ticks(percent), title, axis, _NAME, percent)


def difference_plot(readings: Sequence[ChartPoint], *, title: str) -> Markup:
    """Draw one row per difference of shares, a point and its interval, on an axis around 0 as wide as it has to be."""
    ends = (end for one in readings for end in (one.value, one.low, one.high) if end is not None)
    furthest = max(map(abs, ends), default=0.0)
    reach = next((end for end in (0.02, 0.05, 0.1, 0.2, 0.5) if furthest <= end), 1.0)
    ticks = [(tick * reach, minus(f"{100 * tick * reach:+g}") if tick else "0") for tick in (-1, -0.5, 0, 0.5, 1)]
    axis = "after − before, points (95 % intervals)"
    return _rows(readings, _Scale(184, _RIGHT, -reach, reach), ticks, title, axis, _NAME + 4)


def _rows(
    readings: Sequence[ChartPoint],
    scale: _Scale,
    ticks: Sequence[tuple[float, str]],
    title: str,
    axis: str,
    longest: int,
    percent: bool = True,
) -> Markup:
    told = ". ".join(_told(one, percent=percent) for one in readings) + "."
    return _drawn("rows", title, told, readings=readings, x=scale, ticks=ticks, axis=axis, longest=longest)


def score_histogram(counts: Sequence[int]) -> Markup:
    """Draw how many answers there are in each of equal ranges of the score; the last holds its upper end."""
    highest, edges = max(*counts, 1), [place / len(counts) for place in range(len(counts) + 1)]
    columns = [column for column in zip(counts, edges, edges[1:], strict=False) if column[0]]
    told = "; ".join(f"{count:,} from {low:g} to {high:g}" for count, low, high in columns)
    return _drawn(
        "histogram",
        "Answers by score",
        f"Number of answers by score: {told or 'none'}.",
        columns=columns,
        x=_Scale(44, _RIGHT),
        y=_Scale(150, 28, 0, highest),
        levels=_round_ticks(highest),
        ticks=_ticks(percent=False),
        axis="score",
        unit="answers",
    )


def line_chart(
    series: Mapping[str, Sequence[ChartPoint]],
    *,
    title: str,
    marked: Mapping[int, str] | None = None,
    percent: bool = True,
) -> Markup:
    """Draw values over runs in their order, one line per series with its interval as a band.

    All series have the same readings' names, which stand below. `marked` places get a line and are told in words. A
    series is drawn in the colour of the `kind` of its readings.
    """
    names = [one.name for one in next(iter(series.values()), ())]
    # Rates of a few per cent are not drawn on an axis of 100 %.
    reach = max((one.high or one.value or 0.0 for points in series.values() for one in points), default=1.0)
    highest = next((end for end in (0.04, 0.1, 0.2, 0.4, 0.6, 0.8) if reach <= end), 1.0)
    across = _Scale(60, _RIGHT - 14, 0 if len(names) > 1 else -1, max(1, len(names) - 1))
    known = {
        name: [(place, one) for place, one in enumerate(points) if one.value is not None]
        for name, points in series.items()
    }
    told = [why for _, why in sorted((marked or {}).items())]
    told += [f"{name}, {_told(one, percent=percent)}" for name, points in known.items() for _, one in points]
    written = [_short(name) for name in names]
    widest = (max(map(len, written), default=0) + 1) * (_GLYPH if "".join(names).isascii() else 2 * _GLYPH)
    every = ceil(widest * (len(names) - 1) / (across.right - across.left)) or 1
    below = [(min(across(place), WIDTH - widest / 2), written[place], names[place]) for place in range(len(names))]
    return _drawn(
        "lines",
        title,
        ". ".join(told) + ".",
        series=[(next((one.kind for _, one in points if one.kind), "plain"), points) for points in known.values()],
        x=across,
        y=_Scale(190, 12, 0, highest),
        levels=_ticks(percent, highest),
        marked=sorted(marked or {}),
        below=below[::every],
        axis="runs in order, with 95 % intervals",
    )


def reliability_chart(bins: Sequence[tuple[float, ChartPoint]]) -> Markup:
    """Draw what was found against what was stated, with intervals; on the diagonal, probabilities mean what they say.

    Each bin is the mean stated probability and a reading of the share found, its `note` the number of labels.
    """
    known = [(stated, one) for stated, one in bins if one.value is not None]
    told = ". ".join(f"predicted {100 * stated:.0f} %, {_told(one)}" for stated, one in known) + "."
    title, x, y = "Predicted and observed probability", _Scale(46, 300), _Scale(264, 26)
    return _drawn("reliability", title, told, bins=known, x=x, y=y, ticks=_ticks())


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values between `low` and `high` to places between `left` and `right`, or between bottom and top."""

    left: float
    right: float
    low: float = 0.0
    high: float = 1.0

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.left + (self.right - self.left) * min(1.0, max(0.0, share))


def _drawn(chart: str, title: str, told: str, **values: Any) -> Markup:
    macros: Any = shared().get_template("everyclaim/charts.html").module
    drawn: Markup = getattr(macros, chart)(title, told, **values)
    return drawn


def _ticks(percent: bool = True, highest: float = 1.0) -> list[tuple[float, str]]:
    return [(tick * highest, f"{100 * tick * highest:g} %" if percent else f"{tick * highest:g}") for tick in _TICKS]


def _told(one: ChartPoint, *, percent: bool = True) -> str:
    if one.value is None:
        return f"{one_line(one.name, 60)}: no data"
    factor, digits, unit = (100, 1, " %") if percent else (1, 3, "")
    between = ""
    if one.low is not None and one.high is not None:
        between = f" (95 % {factor * one.low:.{digits}f} to {factor * one.high:.{digits}f}{unit})"
    note = f", {one.note}" if one.note else ""
    name = f"{one_line(one.name, 60)}: " if one.name else "observed "
    return f"{name}{factor * one.value:.{digits}f}{unit}{between}{note}"


def _short(name: str) -> str:
    """Shorten a name in its middle: names of releases differ at their ends."""
    line = one_line(name, 200)
    return line if len(line) <= 12 else f"{line[:5].rstrip()}…{line[-6:].lstrip()}"


def _round_ticks(highest: int) -> list[int]:
    """Return two or three round numbers up to the highest."""
    step = 1
    while highest / step > 3:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2  # 1, 2, 5, 10, 20, …
    return list(range(step, highest + 1, step))
