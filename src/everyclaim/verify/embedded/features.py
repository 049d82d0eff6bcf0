"""What the fitted model sees of one claim: every measurement of `lexical`, and what the network says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from everyclaim.models.local.cross_encoder import Scores
from everyclaim.verify.embedded.premise import Premise
from everyclaim.verify.lexical.comparison import Comparison
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.shortlist import Piece

_BEST = 5  # tokens whose mean says how strong the evidence is


def describe(
    compared: Comparison, premise: Premise, scores: Sequence[Scores], pieces: Sequence[Piece]
) -> dict[str, float]:
    """Measure a claim beside what settles it: the settling sentences read together (the first of `scores`), and alone."""
    row = measure(compared)
    evidence = sorted((score.logit for score in scores[0].premise), reverse=True)[:_BEST] or [0.0]
    borne = [one.labels[0] - _together(*one.labels[1:]) for one in scores]
    against = [one.labels[2] - _together(*one.labels[:2]) for one in scores]
    row["read_supported"] = borne[0]
    row["read_contradicted"] = scores[0].labels[2] - scores[0].labels[1]
    row["read_best_support"] = max(borne)
    row["read_best_contradiction"] = max(against)
    row["read_alone"] = borne[1]
    row["read_failing"] = max(score.logit for score in scores[0].claim)
    row["read_evidence"] = sum(evidence) / len(evidence)
    row["read_tokens"] = math.log1p(len(scores[0].premise))
    row["read_claim_tokens"] = math.log1p(len(scores[0].claim))
    return row | _kind(compared, pieces)


def _kind(compared: Comparison, pieces: Sequence[Piece]) -> dict[str, float]:
    """Say what kind of sources a claim is judged by: what counts against it in prose is usual beside a record."""
    source = compared.source
    number = source.places[compared.alignment.main[0]][0]
    return {
        "source_record": float(bool(pieces[number].fields)),
        "source_denies": float(any(field.field.endswith(": no") for field in compared.named)),
        "source_blank": float(any(field.agrees is None for field in compared.named)),
        "source_question": float(compared.question is not None),
    }


def _together(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))
