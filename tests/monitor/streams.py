"""Answers of a stream with a known rate of contradicted claims, which come in clusters: some answers go wrong as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from everyclaim.core.types import Outcome, Result
from scored_runs import lettered, unscored


def answer(number: int, contradicted: int, claims: int, *, release: str = "v1", **more: object) -> Result:
    """A scored answer with so many contradicted claims."""
    letters = "c" * contradicted + "s" * (claims - contradicted)
    return lettered(letters, f"a{number}", release=release, **more)


def failed(number: int, reason: str = "rate_limited: 429") -> Result:
    """An answer that the judge could not check."""
    return unscored(Outcome.FAILED, f"a{number}", reason, release="v1")


def stream(
    random: np.random.Generator, rate: float, answers: int, *, release: str = "v1", claims: int = 6
) -> Iterator[Result]:
    """Answers whose rates differ as a beta distribution has it (correlation 0.3 of claims of one answer)."""
    spread = 1 / 0.3 - 1
    rates = random.beta(rate * spread, (1 - rate) * spread, answers)
    sizes = random.integers(1, 2 * claims, answers)
    for number, (own, size) in enumerate(zip(rates, sizes, strict=True)):
        yield answer(number, int(random.binomial(size, own)), int(size), release=release)
