"""The door: why a failing claim fails, and where it parts from its passages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from everyclaim.core.types import Difference, FailureMode, Label, Passage, Span
from everyclaim.models.local.cross_encoder import TokenScore
from everyclaim.verify.lexical.analysis import NUMBER
from everyclaim.verify.lexical.checks import reports
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.modes.differences import DifferencePlace, find
from everyclaim.verify.lexical.modes.model import shipped_model
from everyclaim.verify.lexical.modes.parting import Doubt, Parting
from everyclaim.verify.lexical.modes.signals import signals
from everyclaim.verify.lexical.shortlist import Piece

_FAINT = -6.0  # log-odds below the most doubted token from which on all are alike
_SOME = 0.05  # doubt below which a word is not doubted


class Failure(NamedTuple):
    """A failing claim beside its passages, as a verifier has it.

    `row` holds the measurements of `lexical.features`; `against`, within [0, 1], how likely it is contradicted rather
    than just not said; `read` the log-odds of its tokens to fail, where a network has read it.
    """

    text: str
    label: Label
    compared: LexicalComparison
    row: Mapping[str, float]
    pieces: Sequence[Piece]
    against: float
    read: Sequence[TokenScore] = ()


class Classified(NamedTuple):
    """Why a claim fails, and where it parts from its passages."""

    mode: FailureMode
    difference: Difference


def classify(failure: Failure, passages: Sequence[Passage], given: FailureMode | None = None) -> Classified:
    """Name the mode, unless it is `given` and can be, and the two places that differ."""
    whole = tuple(piece.text for piece in failure.pieces)
    parting = Parting(failure.compared, whole, failure.label is Label.CONTRADICTED)
    doubts = doubts_of(failure)
    mode = given
    if mode is None or not plausible(mode, failure):
        ranked = shipped_model().ranked(measured(failure, parting, doubts))
        mode = next(mode for mode in ranked if plausible(mode, failure))
    found = find(mode, parting, doubts)
    where = _located(found.theirs, failure.pieces, passages) if found.theirs else None
    mine = _as_given(found.mine, failure.compared.spelling.written, failure.text) if found.mine else None
    passage_id, theirs = where or (None, None)
    return Classified(mode, Difference(found.reason, mine, passage_id, theirs))


def plausible(mode: FailureMode, failure: Failure) -> bool:
    """Say whether a claim can fail so: what is contradicted is not left unsaid; a clash of numbers has a number."""
    if failure.label is Label.CONTRADICTED and mode in (FailureMode.IMPLICIT_KNOWLEDGE, FailureMode.INVENTION):
        return False
    it = failure.compared
    has_number = bool(it.checks) or NUMBER in it.claim.kinds
    return mode is not FailureMode.NUMERIC_MISMATCH or has_number


def measured(failure: Failure, parting: Parting, doubts: Sequence[Doubt]) -> dict[str, float]:
    """Measure everything that the model weighs."""
    likely = min(max(failure.against, 0.02), 0.98)
    return signals(parting, failure.row, doubts) | {
        "against": math.log(likely / (1 - likely)),
        "read": float(bool(failure.read)),
    }


def doubts_of(failure: Failure) -> list[Doubt]:
    """Weigh the words of a claim by how much they are doubted: by the network, else by what the window lacks.

    A speaker whom the passages have say the same is not doubted, in whatever form either names them.
    """
    it, doubts = failure.compared, _weighed(failure)
    if it.attribution.status != "found":
        return doubts
    said = [report.content_span for report in reports(it.claim.text)]
    return [one for one in doubts if any(low < one.end and one.start < high for low, high in said)] or doubts


def _weighed(failure: Failure) -> list[Doubt]:
    it = failure.compared
    if failure.read:
        top = max(token.logit for token in failure.read)
        return [
            Doubt(token.start, token.end, it.spelling.origin(token.start, token.end),
                  math.exp(max(_FAINT, token.logit - top)))
            for token in failure.read
        ]  # fmt: skip
    first, last = it.alignment.main
    alike = it.alignment.soft[:, first : last + 1].max(axis=1)
    spans = [it.claim.spans[at] for at in it.claim.content]
    weighed = zip(spans, (1.0 - max(0.0, float(one)) for one in alike), strict=True)
    return [Doubt(*span, it.spelling.origin(*span), weight) for span, weight in weighed if weight > _SOME]


def _located(place: DifferencePlace, pieces: Sequence[Piece], passages: Sequence[Passage]) -> tuple[str, Span] | None:
    """Find the place in its passage; None for a title, which is context."""
    piece = pieces[place.reading]
    at = piece.place(place.start, place.end)
    return (passages[piece.passage].id, Span(*at)) if at else None


def _as_given(at: tuple[int, int], written: str, text: str) -> Span | None:
    """Find a stretch of a claim, as it is read, in the claim as it was given, which may point at its sources, too."""
    if written == text:
        return Span(*at)
    shift = text.casefold().find(written.casefold())
    if shift >= 0 and len(text.casefold()) == len(text):
        return Span(at[0] + shift, at[1] + shift)
    found = text.find(written[slice(*at)])
    return Span(found, found + at[1] - at[0]) if found >= 0 else None
