"""Take claims out of an answer and leave sentences behind; point citations to the passages that support them.

A sentence whose claims all go goes as a whole, with its bullet or table row, and with the heading or lead-in that
nothing is left under. Of a sentence that keeps some claims the end is cut off, where that leaves a sentence, else
the claims that stay are written out. What follows a gap is looked after: "However, it …" does not stay alone. Where
citations are mended, claims and their words stay as they are.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from everyclaim.core.cited import CitationFinding, CitationStatus, citation_findings
from everyclaim.core.types import Claim, Passage, Result, Span
from everyclaim.decompose.antecedents import PRONOUN, named, unconnected
from everyclaim.text.citations import citations
from everyclaim.text.segment import Block, Sentence, blocks, sentences
from everyclaim.text.sources import passages_of

_JOINER = re.compile(r"\s*[,;:–—-]?\s*(?:(?:and|but|which|who|then|also|it|they|he|she)\b\s*)*", re.IGNORECASE)
_ENDING = re.compile(r"(?:\s*\[[\d\s,;–-]{1,30}\])*[\s\"'”’)*_]*[.!?…]?[\s\"'”’)*_]*(?:\s*\[[\d\s,;–-]{1,30}\])*\s*")


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of an answer. `clean` is False where a sentence may now speak of something that is gone."""

    text: str
    clean: bool = True


@dataclass
class _Sheet:
    text: str
    units: Sequence[Sentence]
    edits: dict[int, str] = field(default_factory=dict)  # unit → its new text
    gone: set[int] = field(default_factory=set)
    clean: bool = True

    def old(self, unit: int) -> str:
        return self.text[self.units[unit].start : self.units[unit].end]


def cut(answer: str, claims: Sequence[Claim], failed: Collection[str], language: str = "") -> Cut | None:
    """Take the claims with these ids out of an answer; None when nothing that says anything would be left.

    `claims` are all claims of the answer, with true spans. Pieces that hold no claim at all (greetings, questions)
    stay.
    """
    sheet = _Sheet(answer, sentences(answer, language))
    holders: dict[int, list[Claim]] = {}
    for claim in claims:
        for number, unit in enumerate(sheet.units):
            if unit.start < claim.span.end and claim.span.start < unit.end:
                holders.setdefault(number, []).append(claim)
    for number, held in holders.items():
        kept = [claim for claim in held if claim.id not in failed]
        if len(kept) < len(held):
            _reduce(sheet, number, kept, [claim for claim in held if claim.id in failed])
    if all(number in sheet.gone for number in holders):
        return None
    _drop_introductions(sheet)
    _mend(sheet)
    return Cut(_assembled(sheet), sheet.clean)


def _reduce(sheet: _Sheet, number: int, kept: Sequence[Claim], failed: Sequence[Claim]) -> None:
    """Leave of a sentence what its kept claims say."""
    if not kept:
        sheet.gone.add(number)
        return
    unit, old = sheet.units[number], sheet.old(number)
    last = max(claim.span.end for claim in kept) - unit.start
    first = min(claim.span.start for claim in failed) - unit.start
    end = max(claim.span.end for claim in failed) - unit.start
    rest = old[end:]
    if 0 < last <= first and _JOINER.fullmatch(old, last, first) and _ENDING.fullmatch(rest):
        sheet.edits[number] = old[:last].rstrip(" ,;:–—-") + rest
    else:
        sheet.edits[number] = _written_out(sheet, kept, failed)


def _written_out(sheet: _Sheet, kept: Sequence[Claim], failed: Sequence[Claim]) -> str:
    """Write kept claims as sentences of their own; the first may not lean on one that failed."""
    texts = [_sentence(claim.text) for claim in sorted(kept, key=lambda claim: claim.span)]
    before = [claim.text for claim in failed if claim.span < min(other.span for other in kept)]
    if before and (pronoun := PRONOUN.match(texts[0])):
        name = named(texts[0], pronoun, reversed(before))
        sheet.clean = sheet.clean and bool(name)
        texts[0] = name or texts[0]
    return " ".join(texts)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def _drop_introductions(sheet: _Sheet) -> None:
    """Drop headings, table headers and lead-ins all of whose followers are gone."""
    for number in reversed(range(len(sheet.units))):
        if number in sheet.gone:
            continue
        unit, following = sheet.units[number], number + 1
        if unit.kind == "heading":
            end = next((i for i in range(following, len(sheet.units)) if sheet.units[i].kind == "heading"), None)
        elif unit.kind == "table_row" or sheet.old(number).rstrip(" *_").endswith(":"):
            kind = "table_row" if unit.kind == "table_row" else "item"
            is_header = unit.kind != "table_row" or number == 0 or sheet.units[number - 1].kind != "table_row"
            end = following
            while is_header and end < len(sheet.units) and sheet.units[end].kind == kind:
                end += 1
        else:
            continue
        below = range(following, len(sheet.units) if end is None else end)
        if below and all(i in sheet.gone for i in below):
            sheet.gone.add(number)


def _mend(sheet: _Sheet) -> None:
    """Look after every sentence that lost the one before it."""
    for number in range(1, len(sheet.units)):
        if (
            number in sheet.gone
            or number - 1 not in sheet.gone
            or sheet.units[number].kind not in ("paragraph", "quote")
        ):
            continue
        text = sheet.edits.get(number, sheet.old(number))
        mended = unconnected(text)
        if pronoun := PRONOUN.match(mended):
            first = next(i for i in reversed(range(number)) if i == 0 or i - 1 not in sheet.gone)
            name = named(mended, pronoun, [sheet.old(i) for i in reversed(range(first, number))])
            sheet.clean = sheet.clean and bool(name or _goes_on(sheet, number))
            mended = name or mended
        if mended != text:
            sheet.edits[number] = mended


def _goes_on(sheet: _Sheet, number: int) -> bool:
    """Whether a kept sentence before the gap may have what a pronoun stands for."""
    before = [i for i in range(number) if i not in sheet.gone]
    return bool(before) and sheet.units[before[-1]].kind == sheet.units[number].kind


def _assembled(sheet: _Sheet) -> str:
    """Write what is left; white space outside of what was touched stays as it is."""
    frames = _frames(sheet)
    out: list[str] = []
    at = 0
    for number, unit in enumerate(sheet.units):
        start, end = frames.get(number, (unit.start, unit.end))
        if number in sheet.gone:
            out.append(sheet.text[at:start])
            at = max(at, end)
        elif number in sheet.edits:
            out.append(sheet.text[at : unit.start] + sheet.edits[number])
            at = unit.end
    out.append(sheet.text[at:])
    return re.sub(r"\n{3,}", "\n\n", "".join(out)).strip()


def _frames(sheet: _Sheet) -> Mapping[int, tuple[int, int]]:
    """Return what goes with each sentence that goes: its line where nothing else of its block is left, else the
    white space to the next sentence.
    """
    found: dict[int, tuple[int, int]] = {}
    for block in blocks(sheet.text):
        inside = [i for i, unit in enumerate(sheet.units) if block.start <= unit.start and unit.end <= block.end]
        gone = [i for i in inside if i in sheet.gone]
        if gone and len(gone) == len(inside):
            start, end = _lines(sheet.text, block)
            found[gone[0]] = (start, end)
            found |= dict.fromkeys(gone[1:], (end, end))
            continue
        for i in gone:
            if i < inside[-1]:
                found[i] = (sheet.units[i].start, sheet.units[i + 1].start)
            else:
                last = max(j for j in inside if j not in sheet.gone)
                found[i] = (max(sheet.units[last].end, sheet.units[i - 1].end), sheet.units[i].end)
    return found


def _lines(text: str, block: Block) -> tuple[int, int]:
    """Return the whole lines of a block, marker and line break included; a ruling below a table row, too."""
    start = text.rfind("\n", 0, block.start) + 1
    end = text.find("\n", block.end)
    end = len(text) if end < 0 else end + 1
    if block.kind == "table_row":
        following = text[end:].partition("\n")[0]
        if re.fullmatch(r"\s*\|?[\s:|-]*-{2,}[\s:|-]*\|?\s*", following):
            end = min(len(text), end + len(following) + 1)
    return start, end


# ---- citations

_NUMERIC = re.compile(r"\[[\d\s,;–-]+\]")
_IN_WORDS = re.compile(r"([^\d]*[^\W\d_]{2}[^\d]*?)\d[\d\s,;&–-]*(?<=\d)(\]?,?\s[^\d]*)")  # "As document 2 says, "
_PART_OF_A_PAIR = ("](", "</")  # of a link's words, of a tag: what would be left makes no sense
_STOPS = f"{string.whitespace}\u00a0.!?…。"
_STANDS = (CitationStatus.RIGHT, CitationStatus.UNNEEDED)


def with_right_citations(
    answer: str, result: Result, passages: Sequence[Passage]
) -> tuple[str, tuple[CitationFinding, ...]]:
    """Return the answer with its citations mended, and the findings that were mended.

    A citation that names the wrong passage, or none, names those that support its claims instead, a claim without one
    gets one, and a dead one of a claim that nothing supports goes.
    """
    by_mark: dict[Span, list[CitationFinding]] = {}
    edits: dict[Span, list[str]] = {}
    mended: list[CitationFinding] = []
    # Where the words of claims end, before the full stop.
    ends = {claim.id: claim.span.start + len(answer[slice(*claim.span)].rstrip(_STOPS)) for claim in result.claims}
    for found in citation_findings(result):
        if found.cited:
            by_mark.setdefault(found.cited.span, []).append(found)
        elif found.instead and found.claim in ends:
            place = ends[found.claim]
            edits.setdefault(Span(place, place), []).append(found.instead[0])
            mended.append(found)
    for span, several in by_mark.items():
        wrong = [
            one for one in several if one.finding not in _STANDS and (one.instead or one.finding is CitationStatus.DEAD)
        ]
        if wrong and not answer[slice(*span)].startswith(_PART_OF_A_PAIR):
            kept = [one.cited.passage for one in several if one not in wrong and one.cited and one.cited.passage]
            edits[span] = list(dict.fromkeys([*kept, *(claim.instead[0] for claim in wrong if claim.instead)]))
            mended += wrong
    numbers = _numbers(answer, passages)
    for span, ids in sorted(edits.items(), reverse=True):
        mark = _mark(answer[slice(*span)], dict.fromkeys(ids), numbers, passages)
        blank = " " if mark and span.start == span.end else ""
        before = answer[: span.start] if mark else answer[: span.start].rstrip(" ")
        answer = before + blank + mark + answer[span.end :]
    return answer, tuple(mended)


def _numbers(answer: str, passages: Sequence[Passage]) -> dict[str, int]:
    """Return the numbers by which passages go in an answer: those of its list of sources, else their places or ids."""
    found = citations(answer)
    listed: dict[str, int] = {}
    for source in (source for one in found.lists for source in one.sources if source.number):
        for name in passages_of(source, passages):
            listed.setdefault(name, source.number)
    if listed:
        return listed
    return {one.id: int(one.id) if one.id.isdecimal() else place for place, one in enumerate(passages, 1)}


def _mark(old: str, ids: Mapping[str, None], numbers: Mapping[str, int], passages: Sequence[Passage]) -> str:
    """Write a citation of passages: by number where the old one had one or there was none, else by title."""
    if not ids:
        return ""
    titles = {passage.id: passage.title for passage in passages}
    in_words = _IN_WORDS.fullmatch(old)
    is_numeric = not old or in_words or _NUMERIC.fullmatch(old) or not all(titles[name] for name in ids)
    if is_numeric and all(name in numbers for name in ids):
        before, behind = in_words.groups() if in_words else ("[", "]")
        return f"{before}{', '.join(str(number) for number in sorted(numbers[name] for name in ids))}{behind}"
    return f"(Source: {'; '.join(titles[name] or name for name in ids)})"
