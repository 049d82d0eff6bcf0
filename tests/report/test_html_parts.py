"""The macros: an answer with its claims in place, its passages with the evidence of all of them; charts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pages_sample as sample
import pytest

from everyclaim.core.protocols import Kept
from everyclaim.core.types import Difference, Evidence, Label, Outcome, Passage, Result, Sample, Span
from everyclaim.report.html import shared
from everyclaim.report.html.answers import answer_view
from everyclaim.report.html.charts import (
    ChartPoint,
    interval_plot,
    label_bar,
    line_chart,
    reliability_chart,
    score_histogram,
)

HOSTILE = [
    "<script>alert(1)</script>", "</textarea><img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0", "{{ 7*7 }}",
    "\u202eevil\u202c", "שלום עולם", "👩\u200d💻 🇪🇺", "nul\x00nul", "\ud83d", "word" * 20_000, "]]>-->", "&lt;b&gt;",
]  # fmt: skip


class Reader(HTMLParser):
    """Collects tags, attributes and text; checks that every tag is closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]
        if tag not in {"br", "img", "input", "meta", "rect", "line"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(str(html))
    reader.close()
    assert reader.open == []
    return reader


def rendered(kept, **options):
    return str(shared().get_template("everyclaim/parts.html").module.answer(answer_view(kept, **options)))


def hostile(text):
    """An answer that is nothing but this text, everywhere a text can stand."""
    claims = tuple(
        sample.claim(number, text, label, rationale=text, evidence=(Evidence(text, 0, len(text), text),), flags=(text,),
                     difference=Difference(text, Span(0, len(text)), text, Span(0, len(text))))
        for number, label in enumerate(Label, 1)
    )  # fmt: skip
    result = Result(text, Outcome.SCORED, 0.5, sample.PROVENANCE, claims=claims, question=text, tags={text: text},
                    warnings=(text,))  # fmt: skip
    return Kept(0, "", Sample(text, text, (Passage(text, text, text),), text, tags={text: text}), result)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text_everywhere(text):
    """In answers, claims, quotes, titles, ids, flags: no tag of its own, no attribute, nothing that acts."""
    html = rendered(hostile(text))
    html.encode("utf-8")
    found = read(html)
    assert set(found.tags) <= {
        "div", "h4", "p", "a", "mark", "details", "summary", "span", "ul", "li", "blockquote", "bdi", "table", "tr",
        "td", "th",
    }  # fmt: skip
    assert not [one for one in found.attributes if one[1].startswith("on") or one[1] in ("style", "src")]
    assert all(value.startswith("#a1-") for _, name, value in found.attributes if name == "href")


def test_claims_stand_in_the_answer_and_evidence_in_its_passage():
    """Each claim's stretch leads to its finding; its quote is marked in the passage it names."""
    html = rendered(sample.detailed(7))
    assert read(html).tags.count("blockquote") == 3
    assert 'id="a8-c2"' in html
    assert re.search(r'<mark class="evidence" data-claims="2">for ', html)
    assert '<mark class="difference" data-claims="2">three years</mark>' in html  # its judge did not say where
    assert re.search(r'<mark class="evidence" data-claims="1">within 60 days</mark>', html)
    assert "passages disagree" in html
    assert "three years is not two years" in html


HOSTILE_NAMES = '<script>alert("x")</script> & \x00 \u202e'
READINGS = [
    ChartPoint("care", 0.8, 0.7, 0.88, "12 answers", "supported"),
    ChartPoint(HOSTILE_NAMES, 1.0, 0.6, 1.0),
    ChartPoint("nothing", None),
    ChartPoint("bare", 0.0),
]
CHARTS = {
    "bar": label_bar({Label.SUPPORTED: 990, Label.UNSUPPORTED: 9, Label.CONTRADICTED: 1}),
    "empty bar": label_bar(dict.fromkeys(Label, 0)),
    "intervals": interval_plot(READINGS, title=HOSTILE_NAMES, axis="claims supported"),
    "no intervals": interval_plot([], title="none", axis="claims supported"),
    "histogram": score_histogram([3, 0, 12, 45]),
    "empty histogram": score_histogram([0, 0]),
    "lines": line_chart(
        {"supported": READINGS, "other": [ChartPoint("care", 0.04, 0.01, 0.07)] * 4},
        title="Releases", marked={2: HOSTILE_NAMES},
    ),
    "scores": line_chart({"mean score": READINGS}, title="Releases", percent=False),
    "one run": line_chart({"supported": READINGS[:1]}, title="Releases"),
    "no run": line_chart({}, title="Releases"),
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
