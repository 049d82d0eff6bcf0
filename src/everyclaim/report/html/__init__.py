"""Runs, answers and comparisons as HTML: pure rendering, used by the report file, notebooks and the dashboard.

Here is the one Jinja2 environment: everything is escaped, nothing undefined or unformatted is printed. What a template
prints is text of ours or text under test. Text is made harmless before it is escaped (`shown`), and a number goes
through a filter, which writes it as the terminal does: a bare float, or None, is an error.

`layout` cuts a text by what is marked in it, `answers` makes an answer ready for the templates, `charts` draws SVG,
`pages` are whole pages, and `templates/parts.html` has macros for labels, verdicts, claims and passages. The dashboard
renders its own templates with `environment(PackageLoader(…))` and serves `asset("theme.css")` and `asset("answer.js")`
as files: neither needs an inline style or script, so that a content-security policy of ``default-src 'self'`` holds.
Without the script everything is there and readable.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined, Undefined
from markupsafe import Markup, escape

from everyclaim._version import __version__
from everyclaim.analysis import NO_NUMBER, interval, percent, score, share_of, span
from everyclaim.analysis.slices import shown_name
from everyclaim.core.cited import citation_line
from everyclaim.core.plaintext import counted, number, one_line, whole, words
from everyclaim.core.printing import LOWER_BOUNDS, band_of
from everyclaim.core.types import Label, tag_values
from everyclaim.report.style import LABEL_SIGN, dollars, refusal_words

_KEPT = "\n\t\u00ad\u061c\u200c\u200d\u200e\u200f"  # lines, and what spelling and direction need inside one block
_MEANING = {Label.SUPPORTED: "stated in", Label.UNSUPPORTED: "not stated in", Label.CONTRADICTED: "contradicts"}


def environment(*loaders: BaseLoader) -> Environment:
    """Return an environment with our templates under ``everyclaim/``; `loaders` are asked first.

    Filters: `percent`, `interval`, `span`, `score`, `share_of` of an `Estimate` or a share; `number` and `probability`
    of a score or a probability; `thousands`, `counted`, `dollars`, `words`, `line` (one line, shortened), `whole` (a
    sentence of ours whose numbers stay with their units), `commands` (one with commands between backticks), `sentence`
    (the same, from a capital on); `word`, `sign`, `meaning` of a label; `refusal` of its finding; `cited` of
    counts by status; `slice_name` of its name, `values` of a tag; `band` of a score; `place` of a point in a chart.
    """
    ours = PackageLoader("everyclaim.report.html")
    made = Environment(
        loader=ChoiceLoader([*loaders, ours]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    made.globals.update(labels=list(Label), bounds=LOWER_BOUNDS)
    return made


@cache
def shared() -> Environment:
    """Return the environment with our templates alone, made once."""
    return environment()


@cache
def asset(name: str) -> str:
    """Return the text of one of our files: `theme.css`, `answer.js`, `report.js`."""
    return files("everyclaim.report.html").joinpath("assets", name).read_text("utf-8")


def shown(text: str) -> str:
    """Return text as it may stand in a page: what is invisible, or acts on its surroundings, becomes an escape.

    Lines and spaces stay. So do marks of direction and joiners, which are part of spelling; embeddings and overrides,
    which could reorder the page, do not, nor control characters and lone surrogates, which HTML cannot hold.
    """
    if text.isprintable():
        return text
    return "".join(one if _harmless(one) else repr(one)[1:-1] for one in text)


def _harmless(character: str) -> bool:
    if character.isprintable() or character in _KEPT:
        return True
    return character.isspace() and character > "\x1f" and character not in "\x7f\x85\u2028\u2029"


def _printed(value: Any) -> Any:
    if isinstance(value, Markup) or value.__class__ is int:
        return value
    if isinstance(value, str | Undefined):  # which raises
        return shown(str(value))
    raise TypeError(f"a page cannot print {value!r}: numbers go through a filter, and what is missing is said in words")


def _commands(text: str) -> Markup:
    return Markup(re.sub("`(.+?)`", r"<kbd>\1</kbd>", str(escape(shown(text)))))  # noqa: S704 - escaped


_FILTERS = {
    "commands": _commands,
    "sentence": lambda text: _commands(text[:1].upper() + text[1:]),
    "whole": whole,
    "percent": percent,
    "interval": interval,
    "span": span,
    "score": score,
    "share_of": share_of,
    "number": number,
    "probability": lambda value: NO_NUMBER if value is None else f"{value:.2f}",
    "thousands": "{:,}".format,
    "place": lambda value: f"{value:.1f}".removesuffix(".0"),
    "counted": counted,
    "dollars": dollars,
    "words": words,
    "refusal": refusal_words,
    "cited": citation_line,
    "line": lambda text, limit=200: one_line(text, limit),
    "word": lambda label: label.value.lower(),
    "sign": LABEL_SIGN.__getitem__,
    "meaning": lambda label: f"{_MEANING[label]} the passages",
    "slice_name": shown_name,
    "values": lambda tag: ", ".join(tag_values(tag)),
    "band": lambda score, provenance: band_of(provenance.quality(score)).value,
}


def whole_page(template: str, *scripts: str, **values: Any) -> bytes:
    """Render a template of ours with its style and scripts inside.

    The content-security policy names style and script by their digests: whatever else might get into the file, none of
    it runs, and nothing is fetched from or sent to anywhere. The same values give the same bytes.
    """
    style = "\n".join(asset(name) for name in ("theme.css", "report.css"))
    script = "\n".join(asset(name) for name in ("answer.js", *scripts))
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    ours = {"policy": policy, "style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files
    return shared().get_template(template).render(**ours, version=__version__, **values).encode("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def notebook_page(name: str, **values: object) -> str:
    """Render what a notebook shows, with a style that stays inside its own output."""
    page = shared().get_template("everyclaim/notebook.html")
    return page.render(what=name, style=_style(), failing=(Label.UNSUPPORTED, Label.CONTRADICTED), **values)


@cache
def _style() -> Markup:
    """The theme, its every rule inside ``.everyclaim``, so that the rest of the notebook keeps its own delta."""
    theme = re.sub(r"/\*.*?\*/", "", asset("theme.css"), flags=re.DOTALL).partition("@media print")[0]
    tokens, _, rules = theme.partition("*, *::before")
    rules = re.sub(r"^(html|body) \{[^}]*\}\n", "", "*, *::before" + rules, flags=re.MULTILINE)
    ours = tokens.replace(":root", ".everyclaim")
    base = "background: var(--ground); color: var(--text); padding: 0.6rem 0.8rem; font: 14px/1.5 var(--sans);"
    return Markup(f"{ours}.everyclaim {{ {base} {rules} }}")  # noqa: S704 - our own file
