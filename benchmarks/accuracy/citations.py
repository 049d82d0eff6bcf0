"""What a citation does to a score: 60 faultless answers (prose, lists, tables, sections), cited in every style.

    python benchmarks/accuracy/citations.py [--judge embedded] [--show STYLE]

A citation is read, not judged: an answer's score with citations differs from its score without them by at most one
point, and it has the same claims: an answer that lost one would keep its score. Prints for each style the mean score,
the number of answers whose score moves by more than that or whose claims differ, and the number of claims whose
citations name exactly the passage that the sentence was written from (`none` has no citations, an author and year is
nowhere in these passages, and a list of sources without marks cites all of them). `--show` prints what was judged.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import everyclaim as ec
from everyclaim.core.types import JudgedClaim, Passage
from everyclaim.text.sources import passages_of

_DATA = Path(__file__).with_name("cited_answers.jsonl")
_MOST = 0.01  # that a score may move


class Cited(NamedTuple):
    """A sentence of an answer, the passage that it was written from, counted from 1, its title, and a label."""

    text: str
    number: int
    title: str
    label: str

    @property
    def slug(self) -> str:
        """The title as part of an address or a file name."""
        return self.title.lower().replace("'", "").replace(" ", "-")

    @property
    def address(self) -> str:
        """A page on the web."""
        return f"https://docs.example.com/{self.slug}"


Mark = Callable[[Cited], str]
Ending = Callable[[Mapping[int, Cited]], str]


class Style(NamedTuple):
    """A mark before the full stop, one behind it, what stands before the sentence, and what ends the answer."""

    inside: Mark = lambda _: ""
    behind: Mark = lambda _: ""
    before: Mark = lambda _: ""
    ending: Ending = lambda _: ""


def _inside(form: str) -> Style:
    return Style(inside=lambda one: " " + _filled(form, one))


def _behind(form: str, gap: str = " ") -> Style:
    return Style(behind=lambda one: gap + _filled(form, one))


def _ending(head: str, line: str, behind: str = "") -> Style:
    def ending(sources: Mapping[int, Cited]) -> str:
        return "\n\n" + head + "\n".join(_filled(line, one) for one in sources.values())

    return Style(behind=lambda one: _filled(behind, one), ending=ending)


def _filled(form: str, one: Cited) -> str:
    superscript = "⁰¹²³⁴⁵⁶⁷⁸⁹"[one.number]
    name = ("", "Arden", "Velasco")[one.number]
    names = {"title": one.title, "slug": one.slug, "url": one.address, "up": superscript, "author": name}
    return form.format(n=one.number, index=one.number - 1, **names)


STYLES: Mapping[str, Style] = {
    "none": Style(),
    "[1] inside": _inside("[{n}]"),
    "[1] behind": _behind("[{n}]"),
    "[1] tight": _behind("[{n}]", ""),
    "[1, 9]": _inside("[{n}, 9]"),
    "[1][9]": _inside("[{n}][9]"),
    "([1])": _inside("([{n}])"),
    "superscript": _behind("{up}", ""),
    "<sup>": _behind("<sup>{n}</sup>", ""),
    "<sup>[1]": _behind("<sup>[{n}]</sup>", ""),
    "[^1] with definitions": _ending("", "[^{n}]: {title}, p. 12.", "[^{n}]"),
    "[^1] with addresses": _ending("", "[^{n}]: {url}", "[^{n}]"),
    "[[1]](url)": _behind("[[{n}]]({url})"),
    "[1](url)": _inside("[{n}]({url})"),
    "([title](url))": _inside("([{title}]({url}))"),
    "([title](url)) behind": _behind("([{title}]({url}))"),
    "[title](url) behind": _behind("[{title}]({url})"),
    '[title](url "title")': _behind('[source]({url} "{title}")'),
    "(Title, p. 12)": _inside("({title}, p. 12)"),
    "(Title, p. 12) behind": _behind("({title}, p. 12)"),
    "(Title p. 12-14)": _inside("({title} p. 12–14)"),
    "(see Title, section 4.2)": _inside("(see {title}, section 4.2)"),
    "(Source: Title)": _inside("(Source: {title})"),
    "(Source: Title) behind": _behind("(Source: {title})"),
    "[Source: Title, page 3]": _behind("[Source: {title}, page 3]"),
    "[Title]": _inside("[{title}]"),
    "(Smith 2020)": _inside("({author} 2020)"),
    "(Smith, 2020)": _inside("({author}, 2020)"),
    "(Smith et al., 2020; Lee 2019)": _inside("({author} et al., 2020; Lee 2019)"),
    "(Smith & Lee, 2020, p. 7)": _behind("({author} & Lee, 2020, p. 7)"),
    "【4:0†file】": _behind("【{n}:0†{slug}.pdf】", ""),
    "【4†L5-L9】": _behind("【{n}†L5-L9】"),
    "【1】": _behind("【{n}】", ""),
    "private use": _behind("\ue200cite\ue202turn0search{index}\ue201"),
    "contentReference": _behind(":contentReference[oaicite:{index}]{{index={index}}}"),
    "<cite>Title</cite>": _behind("<cite>{title}</cite>"),
    "<cite id>": Style(before=lambda one: f'<cite id="{one.number}">', behind=lambda _: "</cite>"),
    "<co: 1>": Style(before=lambda one: f"<co: {one.number}>", behind=lambda one: f"</co: {one.number}>"),
    "According to [1],": Style(before=lambda one: f"According to [{one.number}], "),
    "[1] states that": Style(before=lambda one: f"[{one.number}] states that "),
    "According to document 1,": Style(before=lambda one: f"According to document {one.number}, "),
    "Document 1 states that": Style(before=lambda one: f"Document {one.number} states that "),
    ", as stated in [1]": _inside("\b, as stated in [{n}]"),
    "Source line": _behind("\nSource: {title}\n", ""),
    "Source line with address": _behind("\nSource: {url}\n", ""),
    "Sources: list": _ending("Sources:\n", "- {title}, p. 12"),
    "Sources: addresses": _ending("Sources:\n", "- {url}"),
    "## References": _ending("## References\n\n", "{n}. {title}. {url}", " [{n}]"),
    "**Sources:** in one line": _ending("**Sources:** ", "[{n}] {title}"),
    "**References** bold": _ending("**References**\n", "[{n}] {author}, J. (2020). *{title}*. Arden Press.", " [{n}]"),
    "address behind": _behind("{url}"),
    "(address)": _inside("({url})"),
    "<address>": _behind("<{url}>"),
    "[doc-1]": _inside("[doc-{n}]"),
    "[file.pdf]": _inside("[{slug}.pdf]"),
    "[file.pdf, p. 3]": _behind("[{slug}.pdf, p. 3]"),
    "(file.pdf)": _inside("({slug}.pdf)"),
    "(Document 1)": _inside("(Document {n})"),
    "[Source 1]": _behind("[Source {n}]"),
}


def written(form: str, sentences: Sequence[Cited], style: Style) -> str:
    """Write an answer in a style; `form` is prose, list, labelled, numbered, table or sections."""
    texts = [_marked(one, style, " " if form == "table" else "\n") for one in sentences]
    sources = {one.number: one for one in sentences}
    opening = {"table": "| Topic | Answer |\n| --- | --- |\n"}.get(form, "")
    line = {
        "prose": "{text}",
        "list": "- {text}",
        "labelled": "- **{label}:** {text}",
        "numbered": "{place}. {text}",
        "table": "| {label} | {text} |",
        "sections": "## {label}\n\n{text}\n",
    }[form]
    lines = [
        line.format(text=text, label=one.label, place=place)
        for place, (one, text) in enumerate(zip(sentences, texts, strict=True), 1)
    ]
    return opening + (" " if form == "prose" else "\n").join(lines) + style.ending(sources)


def _marked(one: Cited, style: Style, line_break: str) -> str:
    """Put the marks of a style around a sentence."""
    opening, body = style.before(one), one.text.removesuffix(".")
    if opening.endswith((" ", ", ")) and body.split()[0] in {"The", "It", "A"}:
        body = body[:1].lower() + body[1:]
    text = f"{opening}{body}{style.inside(one)}.{style.behind(one)}".replace(" \b", "")
    return text.replace("\n", line_break)


def _is_right(claim: JudgedClaim, cited: Sequence[Cited], passages: Sequence[Passage]) -> bool:
    """Whether a claim cites the passage that its sentence was written from, and no other that there is."""
    sentence = _words(claim.sentence)
    number = next((one.number for one in cited if _words(one.text) in sentence), 0)
    named = {
        found
        for one in getattr(claim, "citations", ())
        for source in one.sources
        for found in passages_of(source, passages)
    }
    return named == {f"doc-{number}"}


def _words(text: str) -> str:
    return text.strip(" .").lower()


def main() -> None:
    """Score every answer in every style."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--show", metavar="STYLE")
    said = parser.parse_args()
    rows = [json.loads(line) for line in _DATA.read_text(encoding="utf-8").splitlines()]
    styles = {name: style for name, style in STYLES.items() if said.show in {None, name} or name == "none"}
    plain: dict[int, tuple[float, list[str]]] = {}
    print(f"{'style':34}{'mean score':>12}{'moved':>8}{'other claims':>14}{'rightly tied':>14}")
    for name, style in styles.items():
        scores, moved, other, tied, claims = list[float](), 0, 0, 0, 0
        for place, row in enumerate(rows):
            cited = [
                Cited(text, number, row["passages"][number - 1][0], *(label or [""]))
                for text, number, *label in row["sentences"]
            ]
            answer = written(row["form"], cited, style)
            passages = [Passage(f"doc-{i}", text, title) for i, (title, text) in enumerate(row["passages"], 1)]
            result = ec.score(response=answer, passages=passages, judge=said.judge)
            score, texts = result.score or 0.0, [_words(claim.text) for claim in result.claims]
            before = plain.setdefault(place, (score, texts))
            scores.append(score)
            moved += abs(score - before[0]) > _MOST
            other += texts != before[1]
            claims += len(texts)
            tied += sum(_is_right(claim, cited, passages) for claim in result.claims)
            if said.show == name:
                print(f"\n{answer}")
                print(*(f"    {claim.verdict.label}: {claim.text!r}" for claim in result.claims), sep="\n")
                print(*(f"    skipped: {piece.text!r} ({piece.reason})" for piece in result.skipped), sep="\n")
        print(f"{name:34}{sum(scores) / len(scores):12.3f}{moved:8}{other:14}{tied:9} / {claims}")


if __name__ == "__main__":
    main()
