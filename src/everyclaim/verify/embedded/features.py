"""What the fitted model sees of one claim: every measurement of `lexical`, and what the network says."""

from __future__ import annotations

import math

from everyclaim.models.reader import Scores
from everyclaim.verify.embedded.premise import Premise
from everyclaim.verify.lexical.comparison import Comparison
from everyclaim.verify.lexical.features import measure

_BEST = 5  # tokens whose mean says how strong the evidence is


def describe(compared: Comparison, premise: Premise, scores: Scores) -> dict[str, float]:
    """Measure a claim that was laid beside its passages and read by the network."""
    row = measure(compared)
    supported, unsupported, contradicted = scores.labels
    evidence = sorted((score.logit for score in scores.premise), reverse=True)[:_BEST] or [0.0]
    row["read_supported"] = supported - _together(unsupported, contradicted)
    row["read_contradicted"] = contradicted - unsupported
    row["read_evidence"] = sum(evidence) / len(evidence)
    row["read_tokens"] = math.log1p(len(scores.premise))
    row["read_claim_tokens"] = math.log1p(len(scores.claim))
    row["read_parts"] = math.log1p(len(premise.parts))
    return row


def _together(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))
