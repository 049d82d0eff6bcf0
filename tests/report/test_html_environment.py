"""The environment of every page: escaped, harmless, and no number printed but as the terminal prints it."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader

from everyclaim.report.html.environment import environment

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
