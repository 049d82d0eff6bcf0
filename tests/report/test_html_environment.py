"""The environment of every page: escaped, harmless, and no number printed but as the terminal prints it."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader, UndefinedError

from everyclaim.analysis import estimates
from everyclaim.core.types import Label
from everyclaim.report.html.environment import asset, environment
from everyclaim.stats.intervals import NOTHING, Estimate

HOSTILE = {
    "<script>alert(1)</script>": "&lt;script&gt;alert(1)&lt;/script&gt;",
    '" onmouseover="x': "&#34; onmouseover=&#34;x",
    "{{ 7 * 7 }}": "{{ 7 * 7 }}",
    "a\x00b": "a\\x00b",
    "safe \u202egpj.exe": "safe \\u202egpj.exe",
    "\ud800": "\\ud800",
    "line one\nline two\r\n": "line one\nline two\\x0d\n",
    "שלום \u200fעולם": "שלום \u200fעולם",
    "👩\u200d💻 family": "👩\u200d💻 family",
    "10\u00a0000 €": "10\u00a0000 €",
}


def printed(template: str, **values) -> str:
    return environment(DictLoader({"page": template})).get_template("page").render(**values)


@pytest.mark.parametrize(("given", "wanted"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_text_under_test_is_text(given, wanted):
    """Markup is escaped, what is invisible or reorders the page is an escape, scripts of the world stay."""
    assert printed("{{ text }}", text=given) == wanted
    assert printed('<p title="{{ text }}">', text=given) == f'<p title="{wanted}">'


@pytest.mark.parametrize("value", [0.5, None, float("nan"), [1], {"a": 1}])
def test_what_is_not_formatted_is_an_error(value):
    """A page never says 0.30000000000000004, None or NaN."""
    with pytest.raises(TypeError, match="a page cannot print"):
        printed("{{ value }}", value=value)


def test_what_is_not_defined_is_an_error():
    """A misspelt name does not leave a gap in the page."""
    with pytest.raises(UndefinedError):
        printed("{{ sorce }}")


def test_numbers_are_those_of_the_terminal():
    """One rounding for one number, whatever shows it."""
    rate = Estimate(0.8325, 0.77449, 0.88551, 203, 60, "bootstrap")
    page = "{{ r.value|percent }} | {{ r|interval }} | {{ r|span }} | {{ r|score }} | {{ r|share_of }}"
    assert printed(page, r=rate) == " | ".join(
        [
            estimates.percent(rate.value), estimates.interval(rate), estimates.span(rate), estimates.score(rate),
            estimates.share_of(rate),
        ]
    )  # fmt: skip
    assert printed(page, r=NOTHING) == "– | – | – | – | 0 of 0"


def test_labels_have_a_word_a_sign_and_a_meaning():
    """No label is told by its colour alone."""
    page = "{% for l in labels %}{{ l|sign }} {{ l|word }}: {{ l|meaning }}; {% endfor %}"
    assert printed(page) == (
        "✓ supported: the passages say so; ? unsupported: the passages do not say; "
        "✗ contradicted: the passages say the opposite; "
    )
    assert len({printed("{{ l|sign }}", l=label) for label in Label}) == 3


def test_a_caller_s_templates_stand_beside_ours():
    """The dashboard's own templates use our macros through the same environment."""
    page = "{% import 'everyclaim/parts.html' as parts %}{{ parts.label(labels[2]) }}"
    assert 'class="label contradicted"' in printed(page)


@pytest.mark.parametrize("name", ["theme.css", "answer.js"])
def test_no_asset_asks_the_network_for_anything(name):
    """Nothing is imported or linked, so that a page is whole without a network."""
    text = asset(name)
    assert not any(word in text for word in ("http:", "https:", "@import", "url(", "fetch(", "import("))
