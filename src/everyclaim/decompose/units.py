"""Sentences → what may become claims, with what gives each its meaning, and what is skipped and why.

A list item is read with its lead-in and the items above it, a table row with the header, a short answer with the
question before it: "You must not:" governs every item below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.core.types import Skipped, Span
from everyclaim.decompose.assertions import (
    answered,
    asks,
    asserts,
    is_headless,
    is_request,
    is_sentence,
    told,
)
from everyclaim.decompose.openings import introduces, is_label, is_open, lowered, opening, tidy
from everyclaim.decompose.refusals import refused_part
from everyclaim.decompose.selection import (
    COLONS,
    is_adverbial,
    is_bare_answer,
    is_lead_in,
    is_yes,
    reason_to_skip,
)
from everyclaim.text.citations import without_citations
from everyclaim.text.marks import blanked, rendered
from everyclaim.text.segment import Kind, Sentence, sentences
from everyclaim.text.tokens import capital

BEHIND = "\x1f"  # white space that no sentence holds: it stands between a lead-in and what it introduces
BEFORE = 1500  # characters of an answer before a sentence that tell what "it" means there
LONGEST_LEAD = 2000  # characters; what is longer introduces nothing
_MARKUP = " \t*_"
_RULING = re.compile(r"\|?\s*:?-{2,}")
_PIPE = re.compile(r"(?<!\\)\|")
_MARKER = re.compile(r"[^\w\n]*(?:\w{1,4}[.)])?[^\w\n]*")  # of a list item: "  - ", "2. ", "(a) "
_TAB = 4
_MARGIN = 200  # characters; an item begins within them
_DEPTH = 8  # items above one that are read with it
_ENDS = ".!?…\"')]。．｡！？；」』”’）】।॥؟۔"  # of a sentence, in any script


class Ground(NamedTuple):
    """One sentence, ``response[start:end]``; `text` is it without citations, behind its lead-in or header row."""

    start: int
    end: int
    kind: Kind
    text: str


def grounds(response: str, language: str = "") -> list[Ground]:
    """Segment a response; it is asked for before an answer is split, and after."""
    return list(_grounds(response, language))


@remembered(4_000_000, lambda found, text, *_: 8 * len(text) + 300 * len(found))
def _grounds(response: str, language: str) -> tuple[Ground, ...]:
    found = sentences(response, language)
    bare = without_citations(response)
    return tuple(
        Ground(*one, BEHIND.join([*([" ".join(lead)] if lead else []), bare[one.start : one.end].strip()]))
        for one, lead in zip(found, _leads(bare, found), strict=True)
    )


def _leads(response: str, found: Sequence[Sentence]) -> list[list[str]]:
    """Return what introduces each sentence: for an item the lead-in of its list, and of the list around that."""
    leads: list[list[str]] = []
    lead: list[str] = []
    before: Sentence | None = None
    for one in found:
        if one.kind == "citation":
            leads.append([])
            continue
        begins = before is not None and before.kind != "table_row"
        if one.kind not in ("item", "table_row") or (one.kind == "table_row" and begins):
            lead = []
        leads.append(lead)
        text = response[one.start : one.end].strip(_MARKUP)
        if len(text) > LONGEST_LEAD:
            text = ""  # it governs nothing; behind each of a thousand items it would fill the memory
        if one.kind == "table_row":
            lead = lead or [text] if text else lead
        elif text.endswith(":") or one.kind != "item":
            lead = [*(lead[:1] if one.kind == "item" else []), text]
        before = one
    return leads


class SplitUnit(NamedTuple):
    """What may become claims.

    `text` is readable, its markup blanked, with the offsets of the response from `start`. `sentence` is verbatim; what
    introduces it (lead-in, parents, header row) stands in lines before it, verbatim too.
    """

    text: str
    start: int
    end: int
    sentence: str
    complete: str = ""  # a readable claim already made: an item with its lead-in, a table row


class _Above(NamedTuple):
    """Something that introduces what stands below it."""

    indent: int
    text: str  # readable
    verbatim: str


@dataclass(slots=True)
class _Reader:
    """A response on its way through its sentences."""

    response: str
    found: Sequence[Sentence]
    question: str = ""
    readable: str = field(init=False)
    lead: _Above | None = None  # the sentence that introduces the list we are in
    parents: list[_Above] = field(default_factory=list)  # the items that the one we are in stands under
    heading: _Above | None = None  # of what we are in
    header: tuple[str, str] = ("", "")  # of the table we are in: readable, verbatim

    def __post_init__(self) -> None:
        self.readable = rendered(without_citations(self.response))

    def units(self) -> Iterator[SplitUnit | Skipped]:
        """Everything there is, in order."""
        answered = -1
        for index, sentence in enumerate(self.found):
            if index == answered:
                continue
            if sentence.kind != "item":
                self.lead, self.parents = None, []
            if sentence.kind == "table_row":
                yield from self._row(index)
                continue
            self.header = ("", "")
            if answer := self._answer(index):
                answered = index + 1
                yield answer
                continue
            found = self._sentence(index)
            if isinstance(found, Skipped):
                yield found
            else:
                yield from [found] if found.complete else self._parted(found)

    def _text(self, index: int) -> str:
        """A sentence without its citations, which may have begun it: "According to [1], the pump is red."."""
        text = self.readable[self.found[index].start : self.found[index].end]
        said = text.lstrip()
        return text if text == said else text.removesuffix(said) + capital(said)

    def _verbatim(self, index: int) -> str:
        return self.response[self.found[index].start : self.found[index].end]

    def _following(self, index: int) -> Sentence | None:
        return self.found[index + 1] if index + 1 < len(self.found) else None

    def _skipped(self, index: int, reason: str) -> Skipped:
        sentence = self.found[index]
        return Skipped(self._verbatim(index), Span(sentence.start, sentence.end), reason)

    def _sentence(self, index: int) -> SplitUnit | Skipped:
        """A sentence, a heading, an item, or a piece of code."""
        sentence, text = self.found[index], self._text(index)
        reason = self._reason(index)
        if reason == "heading":
            fits = len(text) <= LONGEST_LEAD and not asks(text)
            self.heading = _Above(0, text, self._verbatim(index)) if fits else None
            return self._skipped(index, reason)
        if reason == "bare_answer" and (said := answered(self.question, yes=is_yes(text))):
            return SplitUnit(blanked(text), sentence.start, sentence.end, self._verbatim(index), said)
        if sentence.kind == "item":
            return self._item(index, reason)
        following = self._following(index)
        if following is not None and following.kind in {"item", "heading"}:
            leads = len(text) <= LONGEST_LEAD and (is_open(text) or asserts(text))
            self.lead = _Above(0, text, self._verbatim(index)) if leads else None
            if reason is None and is_lead_in(text):
                reason = "lead_in"
        elif following is not None and following.kind == "code" and is_open(text):
            reason = reason or (None if asserts(text) else "lead_in")  # "Run:"
        elif reason is None and (self._says_itself(index + 1) if following else is_adverbial(text)):
            reason = "lead_in" if is_lead_in(text) else None
        heading, self.heading = self.heading, None
        if reason is not None:
            return self._skipped(index, reason)
        completes = heading is not None and is_headless(blanked(text))
        return self._behind(index, [heading], [heading]) if heading and completes else self._plain(index)

    def _says_itself(self, index: int) -> bool:
        """Whether a sentence needs no lead-in to say something: "5 May" does."""
        text = self._text(index)
        return is_sentence(text) or is_bare_answer(text)

    def _parted(self, unit: SplitUnit) -> Iterator[SplitUnit | Skipped]:
        """A sentence, and apart from it what it declines to tell."""
        parts = refused_part(unit.text)
        if parts is None:
            yield unit
            return
        declined, rest = (Span(unit.start + one.start, unit.start + one.end) for one in parts)
        yield Skipped(self.response[slice(*declined)], declined, "abstention")
        yield SplitUnit(capital(unit.text[slice(*parts[1])]), *rest, unit.sentence)

    def _reason(self, index: int) -> str | None:
        """Why a sentence is skipped, by itself and by where it stands."""
        sentence, text = self.found[index], self._text(index)
        reason = reason_to_skip(text, sentence.kind)
        if reason == "no_words" and any(character.isalnum() for character in self._verbatim(index)):
            return "citation"  # nothing is left without its marks
        if reason is None and len(self.found) > 1 and re.fullmatch(r"\d{1,2}[.)]", text):
            return "no_words"  # the number of a list item that stands on the next line
        if reason == "heading" and _is_answer(text, len(self.found)):
            return None
        if reason is None and _is_title(sentence, text, index, self._following(index)):
            return "heading"
        return reason

    def _plain(self, index: int, above: Sequence[_Above] = ()) -> SplitUnit:
        """A sentence by itself; of a question that tells something, what it tells."""
        sentence, text = self.found[index], self._text(index)
        start, end = (told(text) if asks(text) else _behind_talk(text)) or (0, len(text))
        context = "\n".join([*(one.verbatim for one in above), self._verbatim(index)])
        return SplitUnit(blanked(text[start:end]), sentence.start + start, sentence.start + end, context)

    def _answer(self, index: int) -> SplitUnit | None:
        """A question of the response with the lone yes or no behind it, which says nothing by itself."""
        if index + 1 >= len(self.found) or not asks(self._text(index)) or not is_bare_answer(self._text(index + 1)):
            return None
        if self._reason(index) not in {"question", "heading"}:
            return None
        start, end = self.found[index].start, self.found[index + 1].end
        whole = tidy(blanked(self.readable[start:end]))
        return SplitUnit(blanked(self.readable[start:end]), start, end, self.response[start:end], whole)

    def _item(self, index: int, reason: str | None) -> SplitUnit | Skipped:
        """A list item with what stands above it: completed by that where the item alone is a mere fragment."""
        sentence, text = self.found[index], self._text(index)
        indent = self._indent(sentence)
        parents = self.parents[:-1] if indent is None else [one for one in self.parents if one.indent < indent]
        above = [*([self.lead] if self.lead else []), *parents]
        if indent is not None:
            self.parents = parents[-_DEPTH:]
        if indent is not None and len(text) <= LONGEST_LEAD:
            self.parents = [*self.parents, _Above(indent, text, self._verbatim(index))]
        if reason is not None:
            return self._skipped(index, reason)
        if self._is_parent(index, indent) and is_label(text):
            return self._skipped(index, "lead_in")
        blank = blanked(text)
        if is_sentence(blank) or asks(text):
            return self._plain(index, [one for one in above if one is not self.lead or is_open(one.text)])
        said = [one for one in above if introduces(one.text)]
        if not said and not is_request(blank):
            said = [one for one in above[-1:] if asserts(one.text) and not reason_to_skip(one.text, "paragraph")]
        heading = [self.heading] if self.heading and not above else []
        return self._behind(index, [*heading, *above], said or (heading if is_headless(blank) else []))

    def _behind(self, index: int, above: Sequence[_Above], said: Sequence[_Above]) -> SplitUnit:
        """A fragment behind what is `said` above it."""
        sentence, blank = self.found[index], blanked(self._text(index))
        context = "\n".join([*(one.verbatim for one in above), self._verbatim(index)])
        before = opening([one.text for one in said])
        blank = lowered(blank) if said and not before.endswith(COLONS) else blank
        complete = f"{before} {tidy(blank)}" if said else ""
        return SplitUnit(blank, sentence.start, sentence.end, context, complete)

    def _indent(self, sentence: Sentence) -> int | None:
        """How far an item is moved in; None for a sentence inside an item."""
        begin = max(0, sentence.start - _MARGIN)
        line = self.readable[begin : sentence.start].rpartition("\n")[2]
        if len(line) == _MARGIN or _MARKER.fullmatch(line) is None:
            return None
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        return len(blanks.expandtabs(_TAB))

    def _is_parent(self, index: int, indent: int | None) -> bool:
        """Whether items stand under this one."""
        following = self._following(index)
        if indent is None or following is None or following.kind != "item":
            return False
        deeper = self._indent(following)
        return deeper is not None and deeper > indent

    def _row(self, index: int) -> Iterator[SplitUnit | Skipped]:
        """A table row: each cell behind the first one and its column's name; as it stands where there is no header."""
        sentence, text, verbatim = self.found[index], self._text(index), self._verbatim(index)
        following = self._following(index)
        if following is not None and _RULING.search(self.readable, sentence.end, following.start):
            self.header = (text, verbatim) if len(text) <= LONGEST_LEAD else ("", "")
            telling = [cell for cell in _cells(text, framed=text.startswith("|")) if asserts(cell)]
            for cell in telling:
                yield SplitUnit(text, sentence.start, sentence.end, verbatim, cell)
            if not telling:
                yield self._skipped(index, "table_header")
            return
        if not any(character.isalnum() for character in text):
            yield self._skipped(index, "no_words")
            return
        framed = self.header[0].startswith("|")
        names, cells = _cells(self.header[0], framed=framed), _cells(text, framed=framed)
        if not self.header[0] or len(cells) < 2:
            yield SplitUnit(text, sentence.start, sentence.end, verbatim, tidy(text))
            return
        pairs = zip_longest(names, cells[: len(names)], fillvalue="")
        said = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell] + [
            *filter(None, cells[len(names) :])
        ]
        is_item = bool(cells[0]) and len(said) > 1 and len(cells) <= len(names)
        context = f"{self.header[1]}\n{verbatim}"
        for row in [f"{said[0]}; {one}" for one in said[1:]] if is_item else ["; ".join(said) or tidy(text)]:
            yield SplitUnit(text, sentence.start, sentence.end, context, f"{row.rstrip('.')}." if said else row)


def units(response: str, found: Sequence[Sentence], question: str = "") -> Iterator[SplitUnit | Skipped]:
    """Read the sentences of a response to a question: candidates for claims, and what is skipped."""
    for one in found:
        if one.kind == "citation":
            yield Skipped(response[one.start : one.end], Span(one.start, one.end), "citation")
    yield from _Reader(response, [one for one in found if one.kind != "citation"], question).units()


def _behind_talk(text: str) -> tuple[int, int] | None:
    """Where in a sentence stands what it says behind mere talk: "Here is what I found: The pier is 90 m long."."""
    colon = re.search(r":[*_]*\s+(?=\S)", text)
    is_talk = colon is not None and reason_to_skip(text[: colon.start() + 1], "paragraph") == "meta"
    return (colon.end(), len(text)) if colon is not None and is_talk and asserts(text[colon.end() :]) else None


def _cells(row: str, *, framed: bool) -> list[str]:
    """The cells of a row; one that holds nothing but a dash is empty. `framed` tables have pipes around their rows."""
    inner = row.strip()
    if framed:
        inner = inner.removeprefix("|")
        inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    found = [tidy(blanked(cell).replace("\\|", "|")) for cell in _PIPE.split(inner)] if row else []
    return ["" if cell.strip("-‐‑–—―−_.… ") == "" else cell for cell in found]


def _is_answer(text: str, total: int) -> bool:
    """Whether what looks like a heading is what the response has to say: its only line, or a bold sentence."""
    bold = text.lstrip().startswith(("**", "__"))
    return total == 1 or (bold and not text.rstrip(" *_").endswith((":", "?")) and is_sentence(blanked(text)))


def _is_title(sentence: Sentence, text: str, index: int, following: Sentence | None) -> bool:
    """Whether a short line without verb or full stop stands over other text, as a title does."""
    if sentence.kind != "paragraph" or index == 0 or following is None or len(text) > 60 or "\n" in text:
        return False
    if text[-1] in _ENDS or any(character.isdigit() for character in text) or len(text.split()) > 7:
        return False
    return following.kind in ("item", "paragraph") and not text.endswith(":") and not is_sentence(text)
