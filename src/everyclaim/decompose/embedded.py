"""The decomposer that ships with the library: sentences, then facts; offline and deterministic.

The response is segmented (`text.segment`), what is not a claim is set aside with its reason
(`selection`), and the rest is split by its grammar where that is sound (`facts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Matching
from everyclaim.core.limits import limits_here
from everyclaim.core.options import Opt, read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.antecedents import completed, described, renamed
from everyclaim.decompose.facts import Fact, facts, prepare, statements
from everyclaim.decompose.selection import courtesy_reason
from everyclaim.decompose.units import SplitUnit, tidy, units
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import capital

Degree = Literal["high", "low"]

MINOR = "minor"
LONG = 1_000_000  # a response longer than this is no answer but a document: its sentences are its claims


@dataclass(frozen=True, slots=True)
class EmbeddedDecomposer:
    """Split a response into sentences or, by default, into facts; see `DESIGN` rule 9 for what stays together.

    With `atomicity` low, sentences stay whole. `language` is an ISO 639-1 code; without one, every part of a
    response is read in the language it is in. Facts are split in English only. With `coverage` low, what only adds to a
    noun is left out, in English too: brackets, appositions, clauses between commas with *who* and *which*.
    """

    atomicity: Annotated[Degree, Opt("high: single facts; low: whole sentences")] = "high"
    language: Annotated[
        str,
        Matching("([a-z]{2,3})?"),
        "an ISO 639-1 code such as 'en'",
        Opt("language of the answers (default: detected)"),
    ] = ""
    coverage: Annotated[Degree, Opt("low: asides are skipped")] = "high"

    @property
    def spec(self) -> str:
        """`embedded`, with the options that are not the default."""
        options = {}
        if self.atomicity != "high":
            options["atomicity"] = str(self.atomicity)
        if self.language:
            options["language"] = self.language
        if self.coverage != "high":
            options["coverage"] = str(self.coverage)
        return str(Spec("embedded", "", options))

    def adjusted(self, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> EmbeddedDecomposer:
        """Return this decomposer with other settings; high atomicity are clauses, low atomicity sentences."""
        return replace(self, atomicity=atomicity or self.atomicity, coverage=coverage or self.coverage)

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:
        """Split a response into claims `c1`, `c2`, ... in order of their spans; any text is accepted.

        A lone yes or no is read with the question.
        """
        candidates: list[SplitUnit] = []
        skipped: list[Skipped] = []
        pieces = sentences(response, self.language)
        limits_here().check_claims(len(pieces))
        for found in units(response, pieces, question):
            if isinstance(found, Skipped):
                skipped.append(found)
            else:
                candidates += self._statements(found)
        claims: list[Claim] = []
        usual = self.language or language_of(response)
        splits = len(response) <= LONG
        english = [unit for unit in candidates if self._is_english(unit, usual)] if splits else []
        prepare([unit.text for unit in english])
        before, names = "", dict[str, str]()
        for unit in candidates:
            parts = self._parts(unit) if splits and unit in english else []
            for part in parts or [Fact(unit.complete or unit.text, 0, unit.end - unit.start)]:
                span = Span(unit.start + part.start, unit.start + part.end)
                if len(parts) > 1 and (reason := courtesy_reason(part.text)):
                    skipped.append(Skipped(response[span.start : span.end], span, reason))
                elif part.minor and self.coverage == "low":
                    skipped.append(Skipped(response[span.start : span.end], span, MINOR))
                else:
                    text = _completed(part.text, unit.text, before, names) if parts else tidy(part.text)
                    claims.append(Claim(f"c{len(claims) + 1}", text, span, unit.sentence))
            before = _completed(unit.text, unit.text, before, names) if parts else tidy(unit.text)
            for noun, name in described(before).items() if parts else ():
                names[noun] = name if names.get(noun, name) == name else ""  # of two nothing is certain
        skipped.sort(key=lambda piece: piece.span)
        abstained = not claims and any(piece.reason == "abstention" for piece in skipped)
        return Decomposition(tuple(claims), tuple(skipped), abstained)

    def _parts(self, unit: SplitUnit) -> list[Fact]:
        """The facts of one unit, read as English, each behind what introduces the unit; none where it stays whole."""
        item = tidy(unit.text)
        if unit.complete and not unit.complete.endswith(f" {item}"):
            return []
        lead = unit.complete.removesuffix(item)
        found = facts(unit.text, apart=self.atomicity == "high", keep_asides=self.coverage == "high")
        return [part._replace(text=f"{lead}{_as_inside(part.text, item) if lead else part.text}") for part in found]

    def _statements(self, unit: SplitUnit) -> list[SplitUnit]:
        """A sentence parted at its semicolons."""
        english = not unit.complete and self.atomicity == "high" and self._is_english(unit, "")
        return [_statement(unit, a, b) for a, b in statements(unit.text)] if english else [unit]

    def _is_english(self, unit: SplitUnit, usual: str) -> bool:
        """Whether a unit may be split by what is known of English; what does not tell is like the rest."""
        spoken = self.language or language_of(unit.text) or usual
        return spoken in {"", ENGLISH}


def _statement(unit: SplitUnit, first: int, last: int) -> SplitUnit:
    """What stands between two semicolons of a sentence, written as a sentence."""
    if last - first == len(unit.text):
        return unit
    said = capital(unit.text[first:last].rstrip(" ;"))
    end = unit.start + len(unit.text[:last].rstrip())
    return unit._replace(text=said if last == len(unit.text) else f"{said}.", start=unit.start + first, end=end)


def _completed(text: str, sentence: str, before: str, names: Mapping[str, str]) -> str:
    """Put what it stands for in the place of a pronoun that begins a fact and its sentence."""
    fact = tidy(text)
    same = fact.partition(" ")[0] == tidy(sentence).partition(" ")[0]
    return renamed(completed(fact, before) if same else fact, names)


def _as_inside(text: str, sentence: str) -> str:
    """A fact as it stands behind a lead-in: its first letter is large only where it is in the sentence."""
    first, low = text.partition(" ")[0], f"{text[:1].lower()}{text[1:]}"
    return low if first not in sentence and low.partition(" ")[0].rstrip(".,") in sentence else text


def from_spec(spec: Spec) -> EmbeddedDecomposer:
    """Build the decomposer of ``embedded[?atomicity=low][&coverage=low][&language=de]``."""
    if spec.argument:
        raise ConfigError(f"'embedded' takes no argument, got {spec.argument!r}; write 'embedded'")
    return read(spec, EmbeddedDecomposer)
