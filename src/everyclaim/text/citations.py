"""Citations: marks of an answer that name its sources. They are read, and never judged as text.

`citations` finds them in every form in use: numbers in brackets, superscripts and footnotes, links, "(Manual, p. 12)",
"(Smith 2020)", file names, the marks of providers, tags, "Source: …" lines, lists of sources, addresses.
`without_citations` blanks them out and keeps the length of the text, so that offsets stay true.

Only a citation's own form is cut: what stands in its place and asserts something ("【It was recalled in 2019】",
a link's title, an entry of a list of sources) stays in the text, and is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.core.types import Citation, Source, Span
from everyclaim.text.sources import (
    ADDRESS,
    CASELESS,
    FILE,
    KINDS,
    NUMBERS,
    PLACE,
    SAID,
    asserts_something,
    is_reference,
    listed,
    named_in,
    numbered,
    source_of,
)

_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒", "0123456789-,")
_UP = "⁰¹²³⁴-⁹"
_RAISED = rf"(?<=[.,;:!?)”\"’])(?=[{_UP}])|(?<=[^\W\d_{_UP}]{{4}})(?=[¹²³⁴-⁹])"
_FILE_NAMED = r"[^【】〔〕\]\n]{1,60}\.[a-z]{2,5}"  # with blanks
_MARK = re.compile(
    rf"(?:\[\[|\\\[|\[|［)\s?\^?(?P<numbers>{NUMBERS}(?:\]\s?[–-]\s?\[\d{{1,3}})?)\^?\s?(?:\]\]|\\\]|\]|］)"
    r"(?P<to>\([^()\s]{1,500}\))?(?!:\s)"
    r"|\[\^(?P<note>[\w-]{1,30})\^?\](?!:\s)|\^\[?(?P<caret>\d{1,3})\]?\^"
    rf"|[【〔⟦](?P<lens>[\x21-\x7e–]{{0,40}}\d[\x21-\x7e–]{{0,40}}|source)"
    rf"(?:†(?P<at>[^\s【】〔〕]{{1,80}}|{_FILE_NAMED}))?[】〕⟧]"
    rf"|\[(?P<dagger>\d{{1,3}})†(?P<file>[^\s\]]{{1,80}}|{_FILE_NAMED})\]"
    r"|\[citation needed\]|:contentReference\[oaicite:(?P<oai>\d+)\](?:\{index=\d+\})?"
    r"|\ue200(?P<private>[^\s\ue201]{1,200})\ue201"
    rf"|⁽(?P<up>[{_UP},;⁻–-]{{1,20}})⁾|(?:{_RAISED})(?P<raised>[{_UP}]{{1,3}}(?:[,⁻˒]{{1,2}}[{_UP}]{{1,3}}){{0,9}})(?!\w)"
    rf"|(?:(?<=[.,;:!?)”\"’\]])|(?<=[^\W\d_]{{4}}))\s?<sup\b[^<>]{{0,60}}>\s?"
    rf"(?:<a\b[^<>]{{0,200}}>)?(?P<sup>{NUMBERS})(?:</a>)?\s?</sup>"
    rf"|<sup\b[^<>]{{0,60}}>\s?\[(?P<super>{NUMBERS})\](?:\([^()\s]{{1,500}}\))?\s?</sup>"
    r"|<(?P<tag>cite|ref|co|source|citation)\b:?(?P<attributes>[^<>]{0,200})>"
    r"(?:(?P<tagged>[^<>\n]{0,300})</(?P=tag)\b:?[^<>]{0,60}>)?"
    r"|!?\[(?P<label>[^\]\[\n]{1,200})\]\(<?(?P<link>[^()\s<>]{1,400}(?:\([^()\s]{0,80}\)[^()\s]{0,80})?)>?"
    r"(?:\s+[\"'(](?P<title>[^\n\"]{1,200}?)[\"')])?\)"
    rf"|<?(?P<address>{ADDRESS})>?",
    CASELESS,
)
_SIGN = re.compile(
    rf"[\[(【〔⟦［⁽^<:\ue200{_UP}]|https?:|www\.|sources?|references?|further|read more|bibliography"
    rf"|\b(?:{KINDS})\s(?:no\.?\s)?\d",
    CASELESS,
)
_CODE = re.compile(r"^[ ]{0,3}(```|~~~).*?^[ ]{0,3}\1|(?<!`)`[^`\n]{1,500}`(?!`)", re.MULTILINE | re.DOTALL)
_TRAILING = re.compile(  # at the end of a line, or of a cell
    r"[.!?…。][*_]{0,3}[ \t]+(?P<source>[*_]{0,3}(?:sources?|quellen?|fuentes?|fonti|fonte)\s?[:：]\s?"
    r"(?P<rest>[^\n|]{1,200}?))(?=[ \t]*(?:\||$))",
    CASELESS | re.MULTILINE,
)
_BRACKETS = re.compile(r"\((?P<round>[^()\[\]\n]{1,240})\)|\[(?P<square>[^()\[\]\n]{1,240})\](?![(:\[])")
_CUT, _CODED = "\x00", "\x01"
_FRAMED = re.compile(rf"[\s,;.&]*(?:(?:{SAID}|and|e\.g\.|{PLACE})[\s,;.]*)*", CASELESS)
_OPENING = re.compile(
    r"(?:(?<=[.!?:]\s)|(?<=^)|(?<=[-*•|]\s))(?:(?:according to|based on|as \w+ in|as per|per|in|from|as)\s"
    rf"{_CUT}+(?:\s\w+s)?,\s*|{_CUT}+\s\w+s\s(?:also\s)?that\s+)",
    CASELESS | re.MULTILINE,
)
_CLOSING = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)"
    r",?\s(?:according to|based on|as (?:\w+ )?\w+ in|as per|per|see|cf\.?|(?<=, )(?:from|in|by))\s"
    rf"{_CUT}+(?=[\s{_CUT}]*(?:[.!?;,)]|$))",
    CASELESS | re.MULTILINE,
)
_WORDED = re.compile(
    rf"\b(?:{KINDS})\s(?:no\.?\s)?(?P<numbers>\d{{1,2}}(?:\s?(?:[,&–-]|and)\s?\d{{1,2}}){{0,9}})\b", CASELESS
)
_BEHIND_STOP = re.compile(r"[.!?…。][\"'”’)\]*_\x00]*\s+$|^\s*(?:[-*•]\s+)?$|\|\s*$")
_FRAMES = re.compile(rf"[(\[]\s?(?:[^()\[\]]{{0,160}}[\])][,;]\s?)*(?:{SAID}\s)?$", CASELESS)
_UNFRAMES = re.compile(r"[,.;]?\s?(?:[)\]]|[,;]\s?\[)")
_ENDS_STATEMENT = re.compile(rf"[\s{_CUT}]*(?:[.,;:!?。]|$|\n)|\s+[A-Z]")
_ENDS_SENTENCE = re.compile(r"\s*(?:[.;,]\s*)?(?:$|\n|\|)|\s+[\"“(\[]?[A-Z0-9]")


class FoundCitation(NamedTuple):
    """The citations of a text: marks in it, and what its lists of sources hold."""

    marks: tuple[Citation, ...]
    lists: tuple[Citation, ...]  # a "Source: …" line, a footnote, an entry of a list

    @property
    def spans(self) -> list[Span]:
        """All that is cut, in order."""
        return sorted(one.span for one in (*self.marks, *self.lists))


@remembered(4_000_000, lambda found, text: 4 * len(text) + 400 * (len(found.marks) + len(found.lists)))
def citations(text: str) -> FoundCitation:
    """Find the citations of a text."""
    if _SIGN.search(text) is None:
        return FoundCitation((), ())
    shown = _over(text, [Span(*code.span()) for code in _CODE.finditer(text)], _CODED)
    lists, labels = listed(shown)
    trailing = [
        Citation(Span(*found.span("source")), (source_of(found["rest"]),))
        for found in _TRAILING.finditer(shown)
        if is_reference(found["rest"])
    ]
    shown = _over(shown, [one.span for one in (*lists, *trailing)], " ")
    marks = trailing + [one for found in _MARK.finditer(shown) for one in _marks(found, shown)]
    marks = _bracketed(_over(shown, [one.span for one in marks], _CUT), marks)
    shown = _over(shown, [one.span for one in marks], _CUT)
    worded = {Citation(Span(*found.span()), numbered(found["numbers"])) for found in _WORDED.finditer(shown)}
    marks += worded
    for pattern in (_OPENING, _CLOSING):
        shown = _over(shown, [one.span for one in marks], _CUT)
        marks = _widened(marks, [Span(*found.span()) for found in pattern.finditer(shown)])
    marks = [one for one in marks if one not in worded]  # "passage 2" is one in "According to passage 2, …" alone
    return FoundCitation(tuple(sorted(_completed(one, labels) for one in marks)), tuple(lists))


def is_mark(text: str) -> bool:
    """Whether a text is nothing but citations."""
    return not without_citations(text).strip()


def without_citations(text: str) -> str:
    """Blank citations out; the length and the line breaks stay."""
    return _over(text, citations(text).spans, " ")


def _completed(mark: Citation, labels: Mapping[str, Source]) -> Citation:
    """Give sources what a list of sources says of their number or label."""
    known = (labels.get(source.name or str(source.number), source) for source in mark.sources)
    meant = [one._replace(number=source.number) for one, source in zip(known, mark.sources, strict=True)]
    return mark._replace(sources=tuple(dict.fromkeys(meant)))


def _over(text: str, spans: Sequence[Span], sign: str) -> str:
    """Write a sign over stretches, but for their line breaks."""
    if not spans:
        return text
    parts, place = list[str](), 0
    for start, end in sorted(spans):
        if end > place:
            parts += [text[place:start], re.sub(r"[^\n\r]", sign, text[max(start, place) : end])]
            place = end
    return "".join([*parts, text[place:]])


def _marks(found: re.Match[str], text: str) -> Iterable[Citation]:
    kind = found.lastgroup or ""
    if found["label"] is not None:
        return _link(found, text)
    if found["tag"] is not None:
        return _tags(found)
    if found["address"] is not None and not _stands_alone(found, text):
        return []
    said = found[kind] if kind else ""
    if kind in {"lens", "at", "dagger", "file"}:
        sources = _of_provider(found["lens"] or found["dagger"], found["at"] or found["file"] or "")
    elif kind == "private":
        ids = [one for one in said.split("\ue202")[1:] if one]
        sources = [Source(int("0" + re.sub(r"^.*\D", "", one)) + 1, one) for one in ids]  # "turn0search0" is the first
    elif kind == "oai":
        sources = [Source(int(said) + 1)]
    elif kind in {"note", "address"}:
        sources = [Source(name=said) if kind == "note" else Source(address=said)]
    else:
        numbers = (found["numbers"] or said).translate(_DIGITS)
        sources = numbered(numbers, (found["to"] or "").strip("()"))
    return [Citation(Span(*found.span()), tuple(sources))]


def _of_provider(first: str, at: str) -> Sequence[Source]:
    """Return the sources of "4:0†guide.pdf", "3†L5-L9" or "source"."""
    place = at if re.fullmatch(PLACE, at, CASELESS) else ""
    if "." in at and not place:
        return [Source(name=at)]
    place_in_message = re.fullmatch(r"\d{1,3}:(\d{1,3})", first)
    if place_in_message:
        return [Source(int(place_in_message[1]) + 1, page=place)]
    sources = numbered(first) if first[0].isdigit() else [Source(name=first)]
    return [one._replace(page=place) for one in sources]


def _stands_alone(found: re.Match[str], text: str) -> bool:
    """Whether an address or link is no part of a sentence: in brackets, behind a full stop, or alone on its line."""
    before = text[max(text.rfind("\n", 0, found.start()) + 1, found.start() - 200) : found.start()]
    if _FRAMES.search(before) and _UNFRAMES.match(text, found.end()):
        return True
    return _BEHIND_STOP.search(before) is not None and _ENDS_SENTENCE.match(text, found.end()) is not None


def _link(found: re.Match[str], text: str) -> Iterator[Citation]:
    """Of a link that stands alone all is a citation, of one in a sentence what surrounds its words."""
    label, title = found["label"].strip(), found["title"] or ""
    source = Source(name=label, address=found["link"])
    alone = _stands_alone(found, text) or re.fullmatch(rf"(?:{KINDS}|link|{FILE}|{ADDRESS})", label, CASELESS)
    ends = [found.end()]
    if title and asserts_something(title):
        ends = [found.start("title"), found.end("title"), found.end()]
    if alone and not asserts_something(label):
        yield Citation(Span(found.start(), ends[0]), (source,))
    elif found.group().startswith("!"):
        return
    else:
        yield Citation(Span(found.start(), found.start("label")), ())
        yield Citation(Span(found.end("label"), ends[0]), (source,))
    for start, end in zip(ends[1::2], ends[2::2], strict=True):
        yield Citation(Span(start, end), (source,))


def _tags(found: re.Match[str]) -> Iterator[Citation]:
    """Of a tag with attributes the tags, else all where it only names a source."""
    attributes, inner = found["attributes"].strip(" /"), found["tagged"]
    values = re.findall(r"=\s?[\"']?([^\"'\s]+)", attributes) or re.findall(r"^\d[\d,\s:-]*$", attributes)
    each = [numbered(value) if re.fullmatch(NUMBERS, value) else (Source(name=value),) for value in values]
    sources = tuple(source for several in each for source in several)
    if inner is None:
        if sources or attributes:
            yield Citation(Span(*found.span()), sources)
    elif sources:
        yield Citation(Span(found.start(), found.start("tagged")), ())  # the closing one cites
        yield Citation(Span(found.end("tagged"), found.end()), sources)
    elif re.fullmatch(NUMBERS, inner.strip()):
        yield Citation(Span(*found.span()), numbered(inner))
    elif named := (named_in(inner) or ((Source(name=inner.strip()),) if not asserts_something(inner) else ())):
        yield Citation(Span(*found.span()), named)


def _bracketed(text: str, marks: Sequence[Citation]) -> list[Citation]:
    """Add what stands in brackets: "(Manual, p. 12)", "[guide.pdf]", and brackets around marks: "(see [1], p. 3)"."""
    found, wider = list(marks), list[Span]()
    for bracket in _BRACKETS.finditer(text):
        inner, span = bracket["round"] or bracket["square"], Span(*bracket.span())
        if _CUT in inner:
            if _FRAMED.fullmatch(inner.replace(_CUT, " ")):
                wider.append(span)
            continue
        ends = _ENDS_STATEMENT.match(text[bracket.end() : bracket.end() + 200]) is not None
        address = re.fullmatch(rf"\s?(?:{SAID}\s)?<?(?P<to>{ADDRESS})>?\s?", inner, CASELESS)
        square = bracket["square"] is not None
        sources = (Source(address=address["to"]),) if address else named_in(inner, square=square, ends=ends)
        if sources:
            found.append(Citation(span, sources))
    return _widened(found, wider)


def _widened(marks: Sequence[Citation], spans: Sequence[Span]) -> list[Citation]:
    """Make one citation, as wide as it, of all that stand in each of these stretches, which are in order."""
    found, place = list[Citation](), 0
    ordered = sorted(marks)
    for span in spans:
        while place < len(ordered) and ordered[place].span.start < span.start:
            found.append(ordered[place])
            place += 1
        inside: dict[Source, None] = {}
        while place < len(ordered) and ordered[place].span.end <= span.end:
            inside |= dict.fromkeys(ordered[place].sources)
            place += 1
        if inside:
            found.append(Citation(span, tuple(inside)))
    return [*found, *ordered[place:]]
