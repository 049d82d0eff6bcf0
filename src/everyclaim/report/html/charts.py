"""Charts as static SVG: they need no script, no network and no inline style, and print as they are shown.

Colours come from the classes of ``theme.css``; every chart has a title, a description in words for those who do not see
it, axes with their unit, and the intervals drawn. Text in them is a size of its own: a chart is about 440 units wide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from markupsafe import Markup, escape

from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.types import Label
from everyclaim.report.html import shown
from everyclaim.report.style import LABEL_SIGN, shares_of
from everyclaim.stats.intervals import Estimate

WIDTH = 440
_ROW = 26
_RIGHT = 20
_AXIS = 34
_NAME = 20  # characters of a name beside a row
_GLYPH = 6.5  # width of a letter below an axis
_SIGNED = 3  # per cent of a bar that hold a sign
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


def label_bar(counts: Mapping[Label, int], *, title: str = "Claims by label") -> Markup:
    """Draw one bar shared out by label; a label that occurs is never too narrow to be seen."""
    total = sum(counts.values())
    told = ", ".join(f"{counts[label]:,} {label.value.lower()}" for label in Label)
    parts = []
    left = 0
    widths = shares_of([counts[label] for label in Label], 100) if total else [0, 0, 0]
    for label, width in zip(Label, widths, strict=True):
        if width:
            name = label.value.lower()
            parts.append(_tag("rect", x=f"{left}%", y=0, width=f"{width}%", height="100%", class_=f"fill {name}"))
            if width >= _SIGNED:
                sign = {"x": f"{left + width / 2:g}%", "y": "72%", "text_anchor": "middle", "class_": f"on {name}"}
                parts.append(_tag("text", LABEL_SIGN[label], **sign))
        left += width
    return _svg(title, f"{counted(total, 'claim')}: {told}.", parts, class_="bar")


def interval_plot(readings: Sequence[ChartPoint], *, title: str, axis: str) -> Markup:
    """Draw one row per reading: a point at its value, a line over its interval; the axis goes from 0 to 100 %."""
    scale, bottom = _Scale(150, WIDTH - _RIGHT), _bottom(readings)
    grid = [_line(scale(tick), 4, scale(tick), bottom, "grid") for tick in _TICKS]
    return _rows(readings, scale, [*grid, *_x_axis(scale, bottom, axis)], title, _NAME)


def difference_plot(readings: Sequence[ChartPoint], *, title: str, axis: str) -> Markup:
    """Draw one row per difference of shares, a point and its interval, on an axis around 0 as wide as it has to be."""
    bottom = _bottom(readings)
    ends = (end for one in readings for end in (one.value, one.low, one.high) if end is not None)
    furthest = max(map(abs, ends), default=0.0)
    reach = next((end for end in (0.02, 0.05, 0.1, 0.2, 0.5) if furthest <= end), 1.0)
    scale = _Scale(170, WIDTH - _RIGHT, -reach, reach)
    parts = []
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        x = scale(tick * reach)
        parts.append(_line(x, 4, x, bottom, "base" if tick == 0 else "grid"))
        written = f"{100 * tick * reach:+g}".replace("-", "−") if tick else "0"
        parts.append(_text(written, x, bottom + 15, "middle", class_="tick"))
    parts.append(_text(axis, (scale.left + scale.right) / 2, bottom + 30, "middle", class_="axis"))
    return _rows(readings, scale, parts, title, _NAME + 4)


def _bottom(readings: Sequence[ChartPoint]) -> int:
    return len(readings) * _ROW + 6


def _rows(readings: Sequence[ChartPoint], scale: _Scale, parts: list[Markup], title: str, longest: int) -> Markup:
    """Draw a row for each reading into a chart with these axes."""
    told = []
    for place, one in enumerate(readings):
        y = 6 + place * _ROW + _ROW / 2
        parts.append(_text(one_line(one.name, longest), scale.left - 10, y + 4, "end", title=one.name))
        if one.value is None:
            parts.append(_text("no data", scale.left + 6, y + 4, class_="quiet"))
            told.append(f"{one_line(one.name, 60)}: no data")
        else:
            parts += _whisker(scale, one, y)
            told.append(_told(one))
    return _svg(title, ". ".join(told) + ".", parts, _bottom(readings) + _AXIS)


def histogram(counts: Sequence[int], edges: Sequence[float], *, title: str, axis: str, unit: str = "answers") -> Markup:
    """Draw how many there are in each of the ranges between `edges`, within [0, 1]; the last holds its upper end."""
    left, top, bottom, right = 44, 18, 150, WIDTH - _RIGHT
    scale = _Scale(left, right)
    highest = max(*counts, 1)
    parts = []
    for tick in _round_ticks(highest):
        y = bottom - (bottom - top) * tick / highest
        parts.append(_line(left, y, right, y, "grid"))
        parts.append(_text(f"{tick:,}", left - 6, y + 4, "end", class_="tick"))
    told = []
    for count, low, high in zip(counts, edges, edges[1:], strict=False):
        x, width = scale(low) + 1, scale(high) - scale(low) - 2
        tall = (bottom - top) * count / highest
        if count:
            parts.append(_tag("rect", x=_n(x), y=_n(bottom - tall), width=_n(width), height=_n(tall), class_="column"))
            parts.append(_text(f"{count:,}", x + width / 2, bottom - tall - 4, "middle", class_="tick"))
            told.append(f"{count:,} from {low:g} to {high:g}")
    parts += _x_axis(scale, bottom, axis, percent=False)
    parts.append(_text(unit, left - 36, top - 7, class_="axis"))
    return _svg(title, f"Number of {unit} by {axis}: {'; '.join(told) or 'none'}.", parts, bottom + _AXIS)


def line_chart(
    series: Mapping[str, Sequence[ChartPoint]],
    *,
    title: str,
    axis: str,
    marked: Mapping[int, str] | None = None,
    percent: bool = True,
) -> Markup:
    """Draw values over runs in their order, one line per series with its interval as a band.

    All series have the same readings' names, which stand below. `marked` places get a line and are told in words. A
    series is drawn in the colour of the `kind` of its readings.
    """
    left, top, right, bottom = 46, 12, WIDTH - _RIGHT, 190
    names = [one.name for one in next(iter(series.values()), ())]
    highest = _ceiling(one for points in series.values() for one in points)
    scale = _Scale(left + 14, right - 14)

    def across(place: int) -> float:
        return scale(place / (len(names) - 1) if len(names) > 1 else 0.5)

    def down(value: float) -> float:
        return bottom - (bottom - top) * min(value, highest) / highest

    parts: list[Markup] = []
    for tick in _TICKS:
        y = down(tick * highest)
        parts.append(_line(left, y, right, y, "grid"))
        level = f"{100 * tick * highest:g} %" if percent else f"{tick * highest:g}"
        parts.append(_text(level, left - 6, y + 4, "end", class_="tick"))
    told = []
    for place, why in sorted((marked or {}).items()):
        parts.append(_line(across(place), top, across(place), bottom, "marked"))
        told.append(why)
    for name, points in series.items():
        kind = next((one.kind for one in points if one.kind), "plain")
        known = [(place, one) for place, one in enumerate(points) if one.value is not None]
        parts.append(_band([(across(place), one) for place, one in known], down, kind))
        line = " ".join(f"{_n(across(place))},{_n(down(one.value or 0))}" for place, one in known)
        parts.append(_tag("polyline", points=line, class_=f"series {kind}"))
        parts += [_dot(across(place), down(one.value or 0), kind) for place, one in known]
        told += [f"{name}, {_told(one, percent=percent)}" for _, one in known]
    written = [_short(name) for name in names]
    widest = (max(map(len, written), default=0) + 1) * (_GLYPH if "".join(names).isascii() else 2 * _GLYPH)
    every = ceil(widest * (len(names) - 1) / (scale.right - scale.left)) or 1
    parts += [
        _text(name, min(across(place), WIDTH - widest / 2), bottom + 16, "middle", class_="tick", title=names[place])
        for place, name in enumerate(written)
        if place % every == 0
    ]
    parts.append(_text(axis, (left + right) / 2, bottom + 32, "middle", class_="axis"))
    return _svg(title, ". ".join(told) + ".", parts, bottom + 40)


def reliability_chart(
    bins: Sequence[tuple[float, ChartPoint]], *, title: str = "Stated and observed frequency"
) -> Markup:
    """Draw what was found against what was stated, with intervals; on the diagonal, probabilities mean what they say.

    Each bin is the mean stated probability and a reading of the share found, its `note` the number of labels.
    """
    left, top, right, bottom = 46, 10, 300, 264
    scale = _Scale(left, right)

    def down(value: float) -> float:
        return bottom - (bottom - top) * value

    parts = []
    for tick in _TICKS:
        parts.append(_line(left, down(tick), right, down(tick), "grid"))
        parts.append(_text(f"{100 * tick:g} %", left - 6, down(tick) + 4, "end", class_="tick"))
    parts.append(_line(scale(0), down(0), scale(1), down(1), "diagonal"))
    told = []
    for stated, one in bins:
        if one.value is None:
            continue
        x = scale(stated)
        if one.low is not None and one.high is not None:
            parts.append(_line(x, down(one.low), x, down(one.high), f"whisker {one.kind or 'plain'}"))
        parts.append(_dot(x, down(one.value), one.kind or "plain"))
        told.append(f"stated {100 * stated:.0f} %, {_told(one)}")
    parts += _x_axis(scale, bottom, "predicted probability")
    parts.append(_text("observed share", left + 6, top + 10, class_="axis"))
    return _svg(title, ". ".join(told) + ".", parts, bottom + _AXIS, width=right + _RIGHT + 8, class_="square")


@dataclass(frozen=True, slots=True)
class _Scale:
    left: float
    right: float
    low: float = 0.0
    high: float = 1.0

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.left + (self.right - self.left) * min(1.0, max(0.0, share))


def _svg(
    title: str, description: str, parts: Iterable[Markup], height: int | None = None, *, width: int = WIDTH, **more: Any
) -> Markup:
    size = {} if height is None else {"viewBox": f"0 0 {width} {height}"}
    told = shown(description)
    inside = [_tag("title", shown(title)), _tag("desc", told), *parts]
    class_ = f"chart {more.get('class_', '')}".strip()
    return _tag("svg", *inside, role="img", aria_label=f"{shown(title)}. {told}", class_=class_, **size)


def _tag(name: str, *content: Markup | str, **attributes: Any) -> Markup:
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value != ""
    )
    return Markup(f"<{name}{written}>{''.join(str(escape(one)) for one in content)}</{name}>")  # noqa: S704 - escaped


def _text(content: str, x: float, y: float, anchor: str = "start", *, class_: str = "", title: str = "") -> Markup:
    hover = [_tag("title", shown(title))] if title and title != content else []
    return _tag("text", *hover, shown(content), x=_n(x), y=_n(y), text_anchor=anchor, class_=class_)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return _tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=class_)


def _dot(x: float, y: float, kind: str) -> Markup:
    return _tag("circle", cx=_n(x), cy=_n(y), r=4.5, class_=f"dot {kind}")


def _whisker(scale: _Scale, one: ChartPoint, y: float) -> list[Markup]:
    kind = one.kind or "plain"
    found = []
    if one.low is not None and one.high is not None:
        low, high = scale(one.low), scale(one.high)
        found = [_line(low, y, high, y, f"whisker {kind}")]
        found += [_line(x, y - 4, x, y + 4, f"whisker {kind}") for x in (low, high)]
    return [*found, _dot(scale(one.value or 0.0), y, kind)]


def _band(points: Sequence[tuple[float, ChartPoint]], down: Any, kind: str) -> Markup:
    known = [(x, one.low, one.high) for x, one in points if one.low is not None and one.high is not None]
    upper = [f"{_n(x)},{_n(down(high))}" for x, _, high in known]
    lower = [f"{_n(x)},{_n(down(low))}" for x, low, _ in reversed(known)]
    return _tag("polygon", points=" ".join(upper + lower), class_=f"band {kind}")


def _x_axis(scale: _Scale, y: float, name: str, *, percent: bool = True) -> list[Markup]:
    parts = [_line(scale.left, y, scale.right, y, "base")]
    for tick in _TICKS:
        written = f"{100 * tick:g} %" if percent else f"{tick:g}"
        parts.append(_text(written, scale(tick), y + 15, "middle", class_="tick"))
    return [*parts, _text(name, (scale.left + scale.right) / 2, y + 30, "middle", class_="axis")]


def _told(one: ChartPoint, *, percent: bool = True) -> str:
    factor, digits, unit = (100, 1, " %") if percent else (1, 3, "")
    between = ""
    if one.low is not None and one.high is not None:
        between = f" (95 % {factor * one.low:.{digits}f} to {factor * one.high:.{digits}f}{unit})"
    note = f", {one.note}" if one.note else ""
    name = f"{one_line(one.name, 60)}: " if one.name else "found "
    return f"{name}{factor * (one.value or 0):.{digits}f}{unit}{between}{note}"


def _short(name: str, most: int = 12) -> str:
    """Shorten a name in its middle: names of releases differ at their ends."""
    line = one_line(name, 200)
    return line if len(line) <= most else f"{line[: most // 2 - 1].rstrip()}…{line[-most // 2 :].lstrip()}"


def _round_ticks(highest: int) -> list[int]:
    """Return two or three round numbers up to the highest."""
    step = 1
    while highest / step > 3:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2  # 1, 2, 5, 10, 20, …
    return list(range(step, highest + 1, step))


def _ceiling(readings: Iterable[ChartPoint]) -> float:
    """Return the share at which the axis ends: rates of a few per cent are not drawn on an axis of 100 %."""
    highest = max((one.high or one.value or 0.0 for one in readings), default=1.0)
    return next((end for end in (0.04, 0.1, 0.2, 0.4, 0.6, 0.8) if highest <= end), 1.0)


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
