"""What the fitted model sees of one claim: every measurement of `lexical`, and what the network says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from everyclaim.models.local.cross_encoder import Scores
from everyclaim.verify.embedded.premise import Premise
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.shortlist import Piece

_BEST = 5  # tokens whose mean says how strong the evidence is


def describe(
    compared: LexicalComparison, premise: Premise, scores: Scores, pieces: Sequence[Piece]
) -> dict[str, float]:
    """Measure a claim that was laid beside its passages, pieces of which were read by the network."""
    row = measure(compared)
    supported, unsupported, contradicted = scores.labels
    evidence = sorted((score.logit for score in scores.premise), reverse=True)[:_BEST] or [0.0]
    row["read_supported"] = supported - _together(unsupported, contradicted)
    row["read_contradicted"] = contradicted - unsupported
    row["read_evidence"] = sum(evidence) / len(evidence)
    row["read_tokens"] = math.log1p(len(scores.premise))
    row["read_claim_tokens"] = math.log1p(len(scores.claim))
    row["read_parts"] = math.log1p(len(premise.parts))
    return row | _kind(compared, pieces)


def _kind(compared: LexicalComparison, pieces: Sequence[Piece]) -> dict[str, float]:
    """Say what kind of sources a claim is judged by: what counts against it in prose is usual beside a record."""
    source = compared.source
    number = source.places[compared.alignment.main[0]][0]
    return {
        "source_record": float(bool(pieces[number].fields)),
        "source_records": sum(bool(piece.fields) for piece in pieces) / len(pieces),
        "source_denies": float(any(field.field.endswith(": no") for field in compared.named)),
        "source_blank": float(any(field.agrees is None for field in compared.named)),
        "source_words": math.log1p(sum(len(reading.keys) for reading in source.readings)),
        "source_passages": math.log1p(len({piece.passage for piece in pieces})),
        "source_question": float(compared.question is not None),
    }


def _together(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))
