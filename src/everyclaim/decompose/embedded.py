"""The decomposer that ships with the library: sentences, then clauses; offline and deterministic.

The response is segmented (`text.segment`), what is not a claim is set aside with its reason
(`selection`), and the rest is split where that is surely sound (`clauses`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.clauses import asides, clauses, without_asides
from everyclaim.decompose.grammar import FINITE
from everyclaim.decompose.selection import is_lead_in, reason_to_skip
from everyclaim.text.segment import Sentence, sentences
from everyclaim.text.tagger import tag

Granularity = Literal["sentence", "clause"]
Coverage = Literal["high", "low"]

_GRANULARITY: dict[Coverage, Granularity] = {"high": "clause", "low": "sentence"}  # by atomicity

_RULING = re.compile(r"\|?\s*:?-{2,}")
_MARKUP = re.compile(
    r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=[\w.!?])_{1,2}(?!\w)|(?<!`)`(?!`)"
    r"|\[(?=[^\]\[\n]{1,200}\]\(\S{1,500}\))|\]\(\S{1,500}?\)"
    r"|\s{0,3}\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|\n[ \t]*>[ \t>]*"
)
MINOR = "minor"
LONG = 1_000_000  # a response longer than this is no answer but a document: its sentences are its claims
_INCOMPLETE = re.compile(
    r"\b(?:include|includes|including|included|are|is|was|were|contains?|offers?|provides?)\s*:$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A candidate: what to read, where it stands, and the text that gives it its meaning."""

    text: str  # readable, markup blanked; same offsets as the response from `start`
    start: int
    end: int
    sentence: str
    complete: str = ""  # a readable claim already made (list item with its lead-in, table row)


@dataclass(frozen=True, slots=True)
class EmbeddedDecomposer:
    """Split a response into sentences or, by default, into clauses; see `DESIGN` rule 9 for what stays whole.

    `granularity` is `clause` or `sentence`. `language` is an ISO 639-1 code for sentence boundaries;
    clauses are split in English only. With `coverage` low, asides are left out, in English too: brackets,
    appositions, clauses with *who* and *which*.
    """

    granularity: Granularity = "clause"
    language: str = "en"
    coverage: Coverage = "high"

    @property
    def spec(self) -> str:
        """`embedded`, with the options that are not the default."""
        options = {}
        if self.granularity != "clause":
            options["granularity"] = str(self.granularity)
        if self.language != "en":
            options["language"] = self.language
        if self.coverage != "high":
            options["coverage"] = str(self.coverage)
        return str(Spec("embedded", "", options))

    def adjusted(self, *, atomicity: Coverage | None = None, coverage: Coverage | None = None) -> EmbeddedDecomposer:
        """Return this decomposer with other settings; high atomicity are clauses, low atomicity sentences."""
        granularity: Granularity = self.granularity if atomicity is None else _GRANULARITY[atomicity]
        return replace(self, granularity=granularity, coverage=coverage or self.coverage)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:  # noqa: ARG002 -- the protocol's
        """Split a response into claims `c1`, `c2`, ... in order of their spans; any text is accepted."""
        units: list[_Unit] = []
        skipped: list[Skipped] = []
        for found in _units(response, sentences(response, self.language)):
            (units if isinstance(found, _Unit) else skipped).append(found)  # type: ignore[arg-type]
        claims: list[Claim] = []
        english = self.language == "en" and len(response) <= LONG
        split, keeps_asides = english and self.granularity == "clause", not english or self.coverage == "high"
        for unit in units:
            for text, start, end in _parts(unit, split=split, keeps_asides=keeps_asides):
                claims.append(Claim(f"c{len(claims) + 1}", text, Span(start, end), unit.sentence))
            if not keeps_asides:
                skipped += [Skipped(response[span.start : span.end], span, MINOR) for span in _left_out(unit)]
        skipped.sort(key=lambda piece: piece.span)
        abstained = not claims and any(piece.reason == "abstention" for piece in skipped)
        return Decomposition(tuple(claims), tuple(skipped), abstained)


def from_spec(spec: Spec) -> EmbeddedDecomposer:
    """Build the decomposer of ``embedded[?granularity=sentence|clause][&coverage=low][&language=de]``."""
    unknown = sorted(set(spec.options) - {"granularity", "language", "coverage"})
    if unknown:
        raise ConfigError(f"unknown option {unknown[0]!r} of 'embedded'; it takes granularity, coverage and language")
    if spec.argument:
        raise ConfigError(f"'embedded' takes no argument, got {spec.argument!r}; write 'embedded' alone")
    granularity = spec.options.get("granularity", "clause")
    if granularity not in ("sentence", "clause"):
        raise ConfigError(f"bad granularity {granularity!r} of 'embedded': use sentence or clause")
    language = spec.options.get("language", "en")
    if not re.fullmatch(r"[a-z]{2,3}", language):
        raise ConfigError(f"bad language {language!r} of 'embedded': use an ISO 639-1 code such as 'en'")
    coverage = spec.options.get("coverage", "high")
    if coverage not in ("high", "low"):
        raise ConfigError(f"bad coverage {coverage!r} of 'embedded': use high or low")
    return EmbeddedDecomposer(
        "sentence" if granularity == "sentence" else "clause", language, "low" if coverage == "low" else "high"
    )


def _parts(unit: _Unit, *, split: bool, keeps_asides: bool) -> list[tuple[str, int, int]]:
    """The claims of one unit: text and span."""
    if unit.complete:
        return [(unit.complete, unit.start, unit.end)]
    if split:
        parts = clauses(unit.text, keep_asides=keeps_asides)
    else:
        parts = [] if keeps_asides else [without_asides(unit.text)]
    if len(parts) < 2 and keeps_asides:
        return [(_tidy(unit.text), unit.start, unit.end)]
    return [(_tidy(part.text), unit.start + part.start, unit.start + part.end) for part in parts]


def _left_out(unit: _Unit) -> list[Span]:
    """Where in the response a unit's asides stand."""
    found = [] if unit.complete else asides(unit.text)
    return [Span(unit.start + start, unit.start + end) for start, end in found]


def _units(response: str, found: list[Sentence]) -> Iterator[_Unit | Skipped]:
    """Candidates and what is skipped, in order."""
    lead = ""  # the sentence that introduces the list we are in
    header = ""  # the header row of the table we are in
    for index, sentence in enumerate(found):
        following = found[index + 1] if index + 1 < len(found) else None
        text = response[sentence.start : sentence.end]
        span = Span(sentence.start, sentence.end)
        if sentence.kind != "item":
            lead = ""
        if sentence.kind == "table_row":
            if following is not None and _RULING.search(response, sentence.end, following.start):
                header = text
                yield Skipped(text, span, "table_header")
                continue
            if not any(character.isalnum() for character in text):
                yield Skipped(text, span, "no_words")
                continue
            yield _row(text, sentence, header)
            continue
        header = ""
        reason = reason_to_skip(text, sentence.kind)
        if reason is None and not any(character.isalnum() for character in _blanked(text)):
            reason = "citation"  # nothing is left without its marks
        if reason is None and len(found) > 1 and re.fullmatch(r"\d{1,2}[.)]", text):
            reason = "no_words"  # the number of a list item that stands on the next line
        if reason == "heading" and _is_answer(text, len(found)):
            reason = None
        if reason == "heading" or (reason is None and _is_title(sentence, text, index, following)):
            yield Skipped(text, span, "heading")
            continue
        introduces = following is not None and following.kind == "item" and text.rstrip(" *_").endswith(":")
        if introduces and sentence.kind != "item":
            lead = text
            if reason is None and is_lead_in(text):
                reason = "lead_in"
        if reason is not None:
            yield Skipped(text, span, reason)
            continue
        yield _item(text, sentence, lead) if sentence.kind == "item" and lead else _plain(text, sentence)


def _plain(text: str, sentence: Sentence) -> _Unit:
    return _Unit(_blanked(text), sentence.start, sentence.end, text)


def _item(text: str, sentence: Sentence, lead: str) -> _Unit:
    """A list item with its lead-in: completed by it where the item alone is a mere fragment."""
    parent = f"{lead} {text}"
    blank = _blanked(text)
    if _has_finite_verb(blank) or reason_to_skip(lead, "paragraph") is not None:
        return _Unit(blank, sentence.start, sentence.end, parent)
    opening = _tidy(_blanked(lead))
    if _INCOMPLETE.search(opening):
        opening = opening[:-1].rstrip()
    return _Unit(blank, sentence.start, sentence.end, parent, f"{opening} {_tidy(blank)}")


def _row(text: str, sentence: Sentence, header: str) -> _Unit:
    """A table row: each cell behind its column's name, or the row as it stands when they do not match."""
    names, cells = _cells(header), _cells(text)
    if not header or len(names) != len(cells) or len(cells) < 2:
        return _Unit(text, sentence.start, sentence.end, text, _tidy(text))
    said = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=True) if cell]
    return _Unit(text, sentence.start, sentence.end, f"{header}\n{text}", f"{'; '.join(said)}.")


def _cells(row: str) -> list[str]:
    return [_tidy(_blanked(cell)) for cell in row.strip().strip("|").split("|")]


def _has_finite_verb(text: str) -> bool:
    return len(text) > 400 or any(word.tag in FINITE for word in tag(text))


def _is_answer(text: str, total: int) -> bool:
    """Whether what looks like a heading is what the response has to say: its only line, or a bold sentence."""
    bold = text.lstrip().startswith(("**", "__"))
    return total == 1 or (bold and not text.rstrip(" *_").endswith((":", "?")) and _has_finite_verb(_blanked(text)))


def _is_title(sentence: Sentence, text: str, index: int, following: Sentence | None) -> bool:
    """Whether a short line without verb or full stop stands over other text, as a title does."""
    if sentence.kind != "paragraph" or index == 0 or following is None or len(text) > 60 or "\n" in text:
        return False
    if text[-1] in ".!?…\"')]" or any(character.isdigit() for character in text) or len(text.split()) > 7:
        return False
    return following.kind in ("item", "paragraph") and not text.endswith(":") and not _has_finite_verb(text)


def _blanked(text: str) -> str:
    """The text with markup and citation marks blanked out, every other character in its place."""
    return _MARKUP.sub(lambda match: " " * len(match.group()), text)


def _tidy(text: str) -> str:
    """Readable on one line; the blank left by a citation before a full stop goes."""
    return re.sub(r"\s+", " ", re.sub(r"(?<![ \t])[ \t]{2,}(?=[.,;:!?](?:\s|$))", "", text)).strip()
