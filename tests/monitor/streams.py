"""Answers of a stream with a known rate of contradicted claims, which come in clusters: some answers go wrong as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from everyclaim.core.types import FailureMode, JudgedClaim, Label, Outcome, Provenance, Result, Span, Verdict

PROVENANCE = Provenance("faithfulness", "embedded", "embedded", "joint", "0")


def answer(number: int, contradicted: int, claims: int, *, release: str = "v1", **more: object) -> Result:
    """A scored answer with so many contradicted claims."""
    labels = [Label.CONTRADICTED] * contradicted + [Label.SUPPORTED] * (claims - contradicted)
    judged = tuple(
        JudgedClaim(
            f"c{i}", f"claim {i}", Span(0, 1), "claim", Verdict(f"c{i}", label, failure_mode=FailureMode.NEGATION if label is Label.CONTRADICTED else None)
        )
        for i, label in enumerate(labels, 1)
    )  # fmt: skip
    return Result(
        f"a{number}",
        Outcome.SCORED,
        (claims - contradicted) / claims,
        PROVENANCE,
        claims=judged,
        release=release,
        **more,
    )


def failed(number: int, reason: str = "rate_limited: 429") -> Result:
    """An answer that the judge could not check."""
    return Result(f"a{number}", Outcome.FAILED, None, PROVENANCE, reason=reason, release="v1")


def stream(
    random: np.random.Generator, rate: float, answers: int, *, release: str = "v1", claims: int = 6
) -> Iterator[Result]:
    """Answers whose rates differ as a beta distribution has it (correlation 0.3 of claims of one answer)."""
    spread = 1 / 0.3 - 1
    rates = random.beta(rate * spread, (1 - rate) * spread, answers)
    sizes = random.integers(1, 2 * claims, answers)
    for number, (own, size) in enumerate(zip(rates, sizes, strict=True)):
        yield answer(number, int(random.binomial(size, own)), int(size), release=release)
