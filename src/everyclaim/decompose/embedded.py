"""The decomposer that ships with the library: sentences, then clauses; offline and deterministic.

The response is segmented (`text.segment`), what is not a claim is set aside with its reason
(`selection`), and the rest is split where that is surely sound (`clauses`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Matching
from everyclaim.core.limits import limits_here
from everyclaim.core.options import Opt, read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Decomposition, Skipped, Span
from everyclaim.decompose.clauses import asides, clauses, without_asides
from everyclaim.decompose.units import Unit, tidy, units
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.segment import sentences

Degree = Literal["high", "low"]

MINOR = "minor"
LONG = 1_000_000  # a response longer than this is no answer but a document: its sentences are its claims


@dataclass(frozen=True, slots=True)
class EmbeddedDecomposer:
    """Split a response into sentences or, by default, into clauses; see `DESIGN` rule 9 for what stays whole.

    With `atomicity` low, sentences stay whole. `language` is an ISO 639-1 code; without one, every part of a
    response is read in the language it is in. Clauses are split in English only. With `coverage` low, asides are left
    out, in English too: brackets, appositions, clauses with *who* and *which*.
    """

    atomicity: Annotated[Degree, Opt("high: clauses; low: whole sentences")] = "high"
    language: Annotated[
        str, Matching("([a-z]{2,3})?"), "an ISO 639-1 code such as 'en'", Opt("of the answers; else it is found out")
    ] = ""
    coverage: Annotated[Degree, Opt("low: asides are left out")] = "high"

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

    async def decompose(self, response: str, *, question: str = "") -> Decomposition:  # noqa: ARG002 -- the protocol's
        """Split a response into claims `c1`, `c2`, ... in order of their spans; any text is accepted."""
        candidates: list[Unit] = []
        skipped: list[Skipped] = []
        pieces = sentences(response, self.language)
        limits_here().check_claims(len(pieces))
        for found in units(response, pieces):
            (candidates if isinstance(found, Unit) else skipped).append(found)  # type: ignore[arg-type]
        claims: list[Claim] = []
        usual = self.language or language_of(response)
        splits = len(response) <= LONG
        for unit in candidates:
            parts = self._parts(unit) if splits else []
            if parts and self._is_english(unit, usual):
                if self.coverage == "low":
                    skipped += [Skipped(response[span.start : span.end], span, MINOR) for span in _left_out(unit)]
            else:
                parts = [(unit.complete or tidy(unit.text), unit.start, unit.end)]
            for text, start, end in parts:
                claims.append(Claim(f"c{len(claims) + 1}", text, Span(start, end), unit.sentence))
        skipped.sort(key=lambda piece: piece.span)
        abstained = not claims and any(piece.reason == "abstention" for piece in skipped)
        return Decomposition(tuple(claims), tuple(skipped), abstained)

    def _parts(self, unit: Unit) -> list[tuple[str, int, int]]:
        """The claims of one unit, text and span, read as English; none where it is one claim as it stands."""
        keeps_asides = self.coverage == "high"
        if unit.complete:
            return []
        if self.atomicity == "high":
            parts = clauses(unit.text, keep_asides=keeps_asides)
        else:
            parts = [] if keeps_asides else [without_asides(unit.text)]
        if len(parts) < 2 and keeps_asides:
            return []
        return [(tidy(part.text), unit.start + part.start, unit.start + part.end) for part in parts]

    def _is_english(self, unit: Unit, usual: str) -> bool:
        """Whether a unit may be split by what is known of English; what does not tell is like the rest."""
        spoken = self.language or language_of(unit.text) or usual
        return spoken in {"", ENGLISH}


def from_spec(spec: Spec) -> EmbeddedDecomposer:
    """Build the decomposer of ``embedded[?atomicity=low][&coverage=low][&language=de]``."""
    if spec.argument:
        raise ConfigError(f"'embedded' takes no argument, got {spec.argument!r}; write 'embedded' alone")
    return read(spec, EmbeddedDecomposer)


def _left_out(unit: Unit) -> list[Span]:
    """Where in the response a unit's asides stand."""
    found = [] if unit.complete else asides(unit.text)
    return [Span(unit.start + start, unit.start + end) for start, end in found]
