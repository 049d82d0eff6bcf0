"""Charts: well-formed SVG that says in words what it draws, without a style, a script or a number that is none."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from everyclaim.core.types import Label
from everyclaim.report.html.charts import ChartPoint, histogram, interval_plot, label_bar, line_chart, reliability_chart

HOSTILE = '<script>alert("x")</script> & \x00 \u202e'
READINGS = [
    ChartPoint("care", 0.8, 0.7, 0.88, "12 answers", "supported"),
    ChartPoint(HOSTILE, 1.0, 0.6, 1.0),
    ChartPoint("nothing", None),
    ChartPoint("bare", 0.0),
]
CHARTS = {
    "bar": label_bar({Label.SUPPORTED: 990, Label.UNSUPPORTED: 9, Label.CONTRADICTED: 1}),
    "empty bar": label_bar(dict.fromkeys(Label, 0)),
    "intervals": interval_plot(READINGS, title=HOSTILE, axis="claims supported"),
    "no intervals": interval_plot([], title="none", axis="claims supported"),
    "histogram": histogram([3, 0, 12, 45], [0, 0.25, 0.5, 0.75, 1], title="Scores", axis="score"),
    "empty histogram": histogram([0, 0], [0, 0.5, 1], title="Scores", axis="score"),
    "lines": line_chart(
        {"supported": READINGS, "other": [ChartPoint("care", 0.04, 0.01, 0.07)] * 4},
        title="Releases", axis="release", marked={2: HOSTILE},
    ),
    "scores": line_chart({"mean score": READINGS}, title="Releases", axis="release", percent=False),
    "one run": line_chart({"supported": READINGS[:1]}, title="Releases", axis="release"),
    "no run": line_chart({}, title="Releases", axis="release"),
    "reliability": reliability_chart([(0.2, ChartPoint("0 to 40 %", 0.3, 0.1, 0.6, "9 labels")), (0.9, READINGS[2])]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_well_formed_and_told_in_words(name):
    """It has a title and a description, and is an image with a name to those who do not see it."""
    svg = ET.fromstring(CHARTS[name])
    assert svg.get("role") == "img"
    assert svg.get("aria-label")
    assert [one.tag for one in svg][:2] == ["title", "desc"]
    assert not svg.findall(".//script")
    assert not [one for one in svg.iter() if "style" in one.attrib]
    assert "nan" not in CHARTS[name].lower()
    assert "\x00" not in CHARTS[name]


def test_names_on_an_axis_are_told_apart():
    """Words that all of them begin or end with are left out; the whole name is a tool tip."""
    names = ["release 2026-11-01 of the bot", "release 2026-11-02 of the bot"]
    chart = line_chart({"supported": [ChartPoint(name, 0.8) for name in names]}, title="Releases", axis="release")
    assert [title.tail for title in ET.fromstring(chart).iter("title")][1:] == ["2026-11-01", "2026-11-02"]
