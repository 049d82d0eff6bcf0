"""Blocks and sentences of a text, with true offsets.

Two steps. `blocks` reads the layout line by line: paragraphs, headings, list items, table rows, code, quotes.
`sentences` runs `sentencex` inside each block, in its language, and repairs what that is known to get wrong: further
abbreviations, brackets and citations after the full stop, tokenised quotes. Both are linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, NamedTuple

from sentencex import get_sentence_boundaries

from everyclaim.core.types import Span
from everyclaim.text.citations import citations, without_citations
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.lists import COMPANIES, LETTERED, MONTHS, OPENING_ADVERBS, PLACES_AND_KIN
from everyclaim.text.marks import is_json, prose_in_code, rendered, values_in_json
from everyclaim.text.stops import carries_on, opens_sentence
from everyclaim.text.tokens import trimmed

Kind = Literal["paragraph", "heading", "item", "table_row", "code", "quote", "citation"]
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_FENCE = re.compile(r"\s{0,3}(?P<fence>```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*")
_RULE = re.compile(r"\s{0,3}(?:(?:[-_]\s*){3,}|(?:\*\s*){3,})")
_BOLD_LINE = re.compile(r"\s{0,3}(?:\*\*[^*\n]{1,100}\*\*|__[^_\n]{1,100}__)\s*:?\s*")
_ITEM = re.compile(
    r"\s*(?:[-*+•‣◦▪●○·–—⁃∙■□◾◆◇➤►▶→⇒]|\(?\d{1,3}[.)]|\((?:[a-z]|[ivx]{1,4})\)|[a-z]\))"
    r"[ \t\u00a0]+(?:\[[ xX]\]\s+)?(?=\S)"
)
_QUOTE = re.compile(r"\s{0,3}>(?:[ \t>]*)")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULED = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*")
_NEAR = re.compile(r"[ \t]*(?:\r?\n)?[ \t]*")  # between a sentence and its citation
_OPENS = re.compile(r"<(?!/|https?:|www)(?![^<>]*>[^<>]*</)")  # a tag that something follows
_APART = "\n\n"
_LEFTOVER = re.compile(
    r"\s*(?:''|``(?=\s*$)|[”’\"')\]»]+(?=\s|$)|"
    r"\(\d{1,3}(?:\s?[,;]\s?\d{1,3})*\)(?=\s*(?:$|[A-Z\[(])))+"
)
_INNER_STOP = re.compile(r"[.!?)]\s+\S")  # what `_MISSED` is looked for at
_MISSED = re.compile(
    r"(?P<stop>\b(?P<word>[a-z]{3,20})[.!?]|(?<=[.!?])\))\s+(?=[*_]*[\"“(]?[A-Z])"
    # A number's unit looks like an initial or an abbreviation: "It weighs 900 g. It was …"
    r"|(?P<short>\d\s?(?:[kcmµ]?[sVWA]|lb|oz|ft|°?[CF])\."
    r"(?=\s+(?:The|An?|It|He|She|They|We|You|This|These|In|On)\s)"
    # So do months, addresses on the web and the ends of names: "open since May. Florists …", "in the U.S. Overall, …"
    r"|(?:\d\s?(?:[a-zµ]{1,4}/[a-z]{1,3}|[kcmµ]?[gml]|mins?|sec|hr?s?)"
    rf"|\b(?:May|{MONTHS}|etc)|\b[a-z0-9-]{{2,40}}\.[a-z]{{2,4}})\.(?=\s+[*_]*[\"“(]?[A-Z][a-z])"
    rf"|\b(?:{COMPANIES}|{PLACES_AND_KIN}|Ave|Blvd|Rd|al|(?:[A-Z]\.){{1,5}}[A-Z]|[ap]\.m)\."
    rf"(?=\s+(?:{OPENING_ADVERBS}),)|{LETTERED}\.(?=\s+[A-Z][a-z]))\s+"
)
_MISSED_ELSEWHERE = re.compile(
    r"(?P<stop>(?:(?P<word>[^\W\d_]{1,20})|\d{4}\s?[rг]|(?<=[.!?])\))[.!?])"
    r"\s+(?=[\"“„«(¿¡]?[^\W\d_])"
)
_PLAIN = re.compile(r"[\ud800-\udfff]")
_STOP = re.compile(r"[.!?]\s+|[。！？]")
_STOP_BEHIND = re.compile(r"(?<=[^\s.!?:;,])([ \t]{3,})([.!?])(?=\s|$)")
_PORTION = 20_000  # characters; no real paragraph is longer
_RUN = re.compile(r"[`´'\"‘’‚“”„«»‹›「」『』]{4,}")
_IN_BRACKETS = re.compile(r"(?<=[^\W\d_] )\((\d{1,3})\)(?= [^\W\d_])")


_CLOCK = re.compile(r"\b[ap]\.\s?m\.\s*$")
_OF_CLOCK = re.compile(  # a day or a zone: "at 5 p.m. Monday"; not "Monday: 9 a.m.", "Monday is a holiday"
    rf"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(?:{MONTHS}|January|February|March|April|May|June|July|August|"
    r"September|October|November|December)\.? \d{1,2}|(?:Eastern|Central|Pacific|Mountain|Greenwich|Local)|"
    r"[ECPM][SD]?T|GMT|UTC|CES?T|BST|JST|IST)\b(?!:| (?:is|are|was|were|will|has|had|can|may)\b)"
)
_COUNTING = re.compile(  # "approx. 5 km", "pp. 5-7"
    rf"\b(?:approx|ca|max|min|incl|resp|figs?|nos?|vols?|ch|sec|eqs?|refs?|art|pp?|eds?|{MONTHS})\s?\.\s*$",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """A piece of layout; ``text[start:end]`` is its content without the marker (`#`, `-`, `1.`, `>`)."""

    kind: Kind
    start: int
    end: int


class Sentence(NamedTuple):
    """A trimmed sentence with its citations, and the kind of block it stands in.

    Headings, rows and code are one each, and so is a citation that stands apart: a line that names a source.
    """

    start: int
    end: int
    kind: Kind


class _Line(NamedTuple):
    """A line that is not blank, and whether a blank line stands before it."""

    start: int
    end: int
    text: str
    after_blank: bool


def blocks(text: str) -> list[Block]:
    """Find the layout blocks of a text, in order; horizontal rules and table rulings belong to none."""
    lines = list(_lines(text))
    found: list[Block] = []
    index = 0
    fences = _fence_ends(lines)
    in_table = False
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else None
        if index in fences:
            last = fences[index]
            found += _fenced(text, lines[index : last + 1])
            index, in_table = last + 1, False
            continue
        if _is_row(line, following, in_table=in_table):
            if not _RULED.fullmatch(line.text):
                found.append(Block("table_row", *trimmed(text, line.start, line.end)))
            index, in_table = index + 1, True
            continue
        in_table = False
        underlined = (
            following is not None
            and not following.after_blank
            and _UNDERLINE.fullmatch(following.text) is not None
            and _ITEM.match(line.text) is None
        )
        if marker := _HEADING.match(line.text):
            found.append(Block("heading", *trimmed(text, line.start + marker.end(), line.end)))
        elif underlined and (line.after_blank or not found or found[-1].kind == "heading"):
            found.append(Block("heading", *trimmed(text, line.start, line.end)))
            index += 1
        elif _BOLD_LINE.fullmatch(line.text) and not line.text.rstrip().rstrip("*_").endswith((".", "!", "?")):
            found.append(Block("heading", *trimmed(text, line.start, line.end)))
        elif not _RULE.fullmatch(line.text):
            index = _running_text(text, lines, index, found)
            continue
        index += 1
    return [block for block in found if block.start < block.end]


def sentences(text: str, language: str = "") -> list[Sentence]:
    """Split a text into trimmed, ordered, non-overlapping sentences; ``text[start:end]`` is the sentence.

    `language` is an ISO 639-1 code; unknown ones fall back to general rules. Without one, every block is read in the
    language it is in, or the text is where a block does not tell. HTML is read as the layout it stands for.
    """
    bare = without_citations(text)
    moved = dict[int, int]()

    def stop_first(found: re.Match[str]) -> str:
        """Move a full stop before the blank that a citation left, as sentences end by what stands before it."""
        moved[found.start() + 1] = found.end()
        return found[2] + found[1]

    closed = _STOP_BEHIND.sub(stop_first, bare) if bare != text else bare
    found = _bare_sentences(rendered(closed), language)
    return _with_citations([one._replace(end=moved.get(one.end, one.end)) for one in found], text, bare)


def _with_citations(found: list[Sentence], text: str, bare: str) -> list[Sentence]:
    """Put citations back into the sentences that they stand behind or before; others stand for themselves."""
    apart: list[Sentence] = []
    cited = citations(text)
    lines = {one.span for one in cited.lists}
    for start, end in cited.spans:
        after = bisect_left(found, start + 1, key=lambda one: one.end)
        following = found[after] if after < len(found) else None
        if following is not None and following.start < end:
            continue
        gap = bare[found[after - 1].end : start] if after else _APART
        ahead = bare[end : following.start] if following is not None else _APART
        opens = "\n" in gap or text[end - 1].isspace() or _OPENS.match(text, start) is not None
        if (start, end) in lines:
            apart.append(Sentence(start, end, "citation"))
        elif following is not None and opens and not ahead.strip(" \t"):
            found[after] = following._replace(start=start)
        elif _NEAR.fullmatch(gap) and found[after - 1].kind not in {"code", "table_row"}:
            found[after - 1] = found[after - 1]._replace(end=end)
        else:
            apart.append(Sentence(start, end, "citation"))
    return sorted([*found, *apart])


def _bare_sentences(text: str, language: str) -> list[Sentence]:
    """The sentences of a text without citations."""
    found: list[Sentence] = []
    usual = language or language_of(text)
    for block in blocks(text):
        if block.kind in ("heading", "table_row", "code"):
            found.append(Sentence(block.start, block.end, block.kind))
            continue
        content = text[block.start : block.end]
        spoken = language or (language_of(content) if _STOP.search(content) else "") or usual
        for start, end in _block_sentences(content, spoken):
            found.append(Sentence(block.start + start, block.start + end, block.kind))
    return found


def _lines(text: str) -> Iterator[_Line]:
    before = 0
    for match in _LINE.finditer(text):
        content = match.group()
        if content.isspace():
            continue
        gap = text[before : match.start()]
        breaks = gap.count("\n") or gap.count("\r") or len(gap)
        yield _Line(match.start(), match.end(), content, breaks > 1)
        before = match.end()


def _fence_ends(lines: list[_Line]) -> dict[int, int]:
    """First line → last line of every closed fence. One left open is plain text, so it hides nothing."""
    ends: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for index, line in enumerate(lines):
        match = _FENCE.match(line.text)
        if match is None:
            continue
        fence = match["fence"]
        if opened is None:
            opened = (index, fence)
        elif fence.startswith(opened[1]) and not line.text[match.end() :].strip():
            ends[opened[0]] = index
            opened = None
    return ends


def _fenced(text: str, lines: list[_Line]) -> Iterator[Block]:
    """The code of a closed fence, and what it says: text set as code, comments, messages, the values of JSON."""
    start = lines[0].start
    data = len(lines) > 2 and is_json(text[lines[1].start : lines[-1].start])
    for line in lines[1:-1]:
        for found in (values_in_json if data else prose_in_code)(line.text):
            begin = line.start + found.start
            code = trimmed(text, start, begin)
            if code.start < code.end:
                yield Block("code", *code)
            yield Block("item" if data else "paragraph", begin, line.start + found.end)
            start = line.start + found.end
    start = trimmed(text, start, lines[-1].end).start
    if start < lines[-1].end:
        yield Block("code", start, lines[-1].end)


def _is_row(line: _Line, following: _Line | None, *, in_table: bool) -> bool:
    """Whether a line is a row of a pipe table: by its own pipes, or by the ruling next to it."""
    if "|" not in line.text or _ROW.fullmatch(line.text) or _RULED.fullmatch(line.text):
        return "|" in line.text
    if in_table and not line.after_blank:
        return True
    return following is not None and not following.after_blank and _RULED.fullmatch(following.text) is not None


def _running_text(text: str, lines: list[_Line], index: int, found: list[Block]) -> int:
    """Add the paragraph, item or quote that begins at a line; return the line after it."""
    line = lines[index]
    kind: Kind = "paragraph"
    if marker := _QUOTE.match(line.text):
        kind = "quote"
    elif marker := _ITEM.match(line.text):
        kind = "item"
    start = line.start + (marker.end() if marker else 0)
    last = index
    while last + 1 < len(lines) and _continues(lines[last], lines[last + 1], kind):
        last += 1
    start = trimmed(text, start, line.end).start
    found.append(Block(kind, start, trimmed(text, start, lines[last].end).end))
    return last + 1


def _continues(line: _Line, following: _Line, kind: Kind) -> bool:
    """Whether the next line carries on the same block: a wrapped line rather than a new statement."""
    text = following.text
    if following.after_blank or _FENCE.match(text) or _HEADING.match(text) or _RULE.fullmatch(text):
        return False
    if kind == "quote":
        return _QUOTE.match(text) is not None
    if _ITEM.match(text) or _QUOTE.match(text) or _ROW.fullmatch(text) or _BOLD_LINE.fullmatch(text):
        return False
    # A short line without a full stop before a capital is a line of its own ("Name: X", a title, an address).
    before = line.text.rstrip()
    first = text.lstrip(" \t*_")[:1]
    width = 80 if kind == "item" and not text[0].isspace() else 45  # what goes on an item is mostly moved in
    return not (len(before) < width and before[-1] not in ".!?,;…。！？" and (first.isupper() or first.isdigit()))


def _block_sentences(text: str, language: str) -> list[Span]:
    """Sentence offsets inside one block; the language is empty when nothing told."""
    # Lone surrogates cannot cross into sentencex, and runs of quote marks make it quadratic; lengths stay equal.
    safe = _unnumbered(_RUN.sub(lambda run: "-" * len(run.group()), _PLAIN.sub("\ufffd", text)))
    bounds = list(_bounds(safe, language or ENGLISH))
    joined: list[list[int]] = []
    for start, end in bounds:
        begin = start
        if joined and _belongs_before(safe, joined[-1][0], (start, end), language):
            begin = end
        elif joined and (leftover := _LEFTOVER.match(safe, start, end)):
            begin = leftover.end()
        if joined:
            joined[-1][1] = begin
        if safe[begin:end].strip():
            joined.append([begin, end])
    result = []
    for start, end in joined:
        for left, right in _divided(safe, start, end, language):
            place = trimmed(text, left, right)
            if place.start < place.end:
                result.append(place)
    return result


def _unnumbered(text: str) -> str:
    """Take the brackets from numbers that repeat a word, as in "twelve (12) Months": sentencex reads list marks there.

    Where the next number stands in brackets, too, it is a list: "(1) Open the valve (2) Close it".
    """
    numbers = {int(found[1]) for found in _IN_BRACKETS.finditer(text)}

    def bare(found: re.Match[str]) -> str:
        listed = not numbers.isdisjoint({int(found[1]) - 1, int(found[1]) + 1})
        return found.group() if listed else f"-{found[1]}-"

    return _IN_BRACKETS.sub(bare, text) if numbers else text


def _bounds(text: str, language: str) -> Iterator[tuple[int, int]]:
    """What sentencex finds, asked in portions: quotes that never close make it quadratic."""
    begin = 0
    while begin < len(text):
        end = len(text)
        if end - begin > _PORTION:
            stops = [stop.end() for stop in _STOP.finditer(text, begin + _PORTION // 2, begin + _PORTION)]
            end = stops[-1] if stops else begin + _PORTION
        for found in get_sentence_boundaries(language, text[begin:end]):
            yield begin + found["start_index"], begin + found["end_index"]
        begin = end


def _belongs_before(text: str, previous: int, piece: tuple[int, int], language: str) -> bool:
    """Whether a piece carries on the sentence before: its full stop was an abbreviation's."""
    start, end = piece
    following = text[start:end].lstrip()
    if not following:
        return True
    if start and not text[start - 1].isspace() and text[start - 1].isalnum():
        return True  # a portion ended inside a word
    if not any(character.isalnum() for character in following) and not following.startswith(("[", "(")):
        return True  # nothing but punctuation
    tail = text[max(previous, start - 24) : start]
    if language != ENGLISH:
        return carries_on(tail, following, language)
    if _CLOCK.search(tail) and _OF_CLOCK.match(following):
        return True
    return following[0].isdigit() and _COUNTING.search(tail) is not None


def _divided(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Split where sentencex saw one sentence: "(This is so.) The next.", `"First. Second."`, rare words.

    Sentences inside brackets or quotes stay together, unless the quotes hold the whole piece.
    """
    if not _INNER_STOP.search(text, start, end):
        yield start, end
        return
    piece = text[start:end].strip()
    quoted = piece[:1] in {'"', "“"} and not any(mark in piece[1:-1] for mark in '"“”')
    brackets = -1 if quoted and piece[0] == "“" else 0
    quotes = 1 if quoted and piece[0] == '"' else 0
    place = start
    missed = _MISSED if language == ENGLISH else _MISSED_ELSEWHERE
    for cut in missed.finditer(text, start, end):
        stop = cut.end("short" if language == ENGLISH and cut["short"] else "stop")
        stretch = text[place:stop]
        brackets += sum(map(stretch.count, "([“")) - sum(map(stretch.count, ")]”"))
        quotes += stretch.count('"')
        place = stop
        if brackets <= 0 and quotes % 2 == 0 and _ends_here(text, cut, stop, language):
            yield start, place
            start = place
    yield start, end


def _ends_here(text: str, cut: re.Match[str], stop: int, language: str) -> bool:
    """Whether a full stop that sentencex did not take for one ends a sentence."""
    if language == ENGLISH:
        return True
    following = text[cut.end() : cut.end() + 40]
    if not following.lstrip('"“„«(¿¡')[:1].isupper():
        return False
    if len(cut["word"] or "long") < 3 and not opens_sentence(following):
        return False  # an initial, an abbreviation: sentencex was right
    return not carries_on(text[max(0, stop - 24) : cut.end()], following, language)
