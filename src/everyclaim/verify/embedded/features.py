"""What the fitted model sees of one claim: every measurement of `lexical`, and what the network says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from everyclaim.models.reader import Scores, TokenScore
from everyclaim.verify.embedded.premise import Premise
from everyclaim.verify.lexical.comparison import Comparison
from everyclaim.verify.lexical.features import measure

_BEST = 5  # tokens whose mean says how strong the evidence is


def describe(compared: Comparison, premise: Premise, scores: Scores) -> dict[str, float]:
    """Measure a claim that was laid beside its passages and read by the network."""
    row = measure(compared)
    supported, unsupported, contradicted = scores.labels
    errors = sorted((score.logit for score in _words(scores.claim)), reverse=True) or [0.0]
    evidence = sorted((score.logit for score in scores.premise), reverse=True)[:_BEST] or [0.0]
    row["read_supported"] = supported - _together(unsupported, contradicted)
    row["read_contradicted"] = contradicted - unsupported
    row["read_error"] = errors[0]
    row["read_error_second"] = errors[min(1, len(errors) - 1)]
    row["read_error_mean"] = sum(errors) / len(errors)
    row["read_evidence"] = sum(evidence) / len(evidence)
    row["read_tokens"] = math.log1p(len(scores.premise))
    row["read_claim_tokens"] = math.log1p(len(scores.claim))
    row["read_parts"] = math.log1p(len(premise.parts))
    return row


def _words(scores: Sequence[TokenScore]) -> list[TokenScore]:
    """Leave out single signs such as commas and full stops: the network rests its doubts there."""
    return [score for score in scores if score.end - score.start > 1] or list(scores)


def _together(one: float, other: float) -> float:
    """Log of the sum of two exponentials."""
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))
