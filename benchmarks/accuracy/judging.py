"""Put claims to a verifier as a product does: all claims about the same passages in one call."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from labelled import Labelled
from measures import best_cut, word_overlap

from everyclaim.core.protocols import Verifier
from everyclaim.core.types import Claim, Label, Passage, Span, Verdict

_AT_ONCE = 64  # claims per call
_IN_FLIGHT = 8  # calls


@dataclass(frozen=True, slots=True)
class Answers:
    """What a verifier said, one entry per claim, in order.

    `supported` holds its probability of SUPPORTED; a verifier that gives none gets 1 or 0 by its label, and
    `graded` is false.
    """

    judge: str
    predicted: np.ndarray
    supported: np.ndarray
    graded: bool
    seconds: float


def answers(verifier: Verifier, claims: Sequence[Labelled]) -> Answers:
    """Judge all claims and time it; one claim is judged beforehand, so that loading is not in the time.

    Raises `JudgeError` when a verifier gives no verdict: a failure is no label.
    """
    verdicts, seconds = asyncio.run(_judged(verifier, claims))
    return Answers(
        verifier.spec,
        np.array([verdict.label.value for verdict in verdicts]),
        np.array([_probability(verdict) for verdict in verdicts]),
        all(verdict.probabilities for verdict in verdicts),
        seconds,
    )


def _probability(verdict: Verdict) -> float:
    return verdict.probabilities.supported if verdict.probabilities else float(verdict.label is Label.SUPPORTED)


async def _judged(verifier: Verifier, claims: Sequence[Labelled]) -> tuple[list[Verdict], float]:
    verdicts: dict[int, Verdict] = {}
    places = list(calls(claims))
    await _asked(verifier, claims, places[0][:1])
    gate = asyncio.Semaphore(_IN_FLIGHT)

    async def one(together: list[int]) -> None:
        async with gate:
            verdicts.update(await _asked(verifier, claims, together))

    began = time.perf_counter()
    await asyncio.gather(*map(one, places))
    return [verdicts[place] for place in range(len(claims))], time.perf_counter() - began


async def _asked(verifier: Verifier, claims: Sequence[Labelled], places: Sequence[int]) -> dict[int, Verdict]:
    """Put claims with the same passages in one call; verdicts by place."""
    first = claims[places[0]]
    passages = [Passage(f"p{number}", text) for number, text in enumerate(first.contexts, 1)]
    asked = [_claim(f"c{place}", claims[place]) for place in places]
    given = {verdict.claim_id: verdict for verdict in await verifier.verify(asked, passages, question=first.question)}
    return {place: given[f"c{place}"] for place in places}


def calls(claims: Sequence[Labelled]) -> Iterator[list[int]]:
    """Indices of the claims that go to the verifier together: same passages, same question."""
    together: dict[tuple[tuple[str, ...], str], list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        together[claim.contexts, claim.question].append(place)
    for places in together.values():
        for start in range(0, len(places), _AT_ONCE):
            yield places[start : start + _AT_ONCE]


def _claim(name: str, asked: Labelled) -> Claim:
    return Claim(name, asked.text, Span(0, len(asked.text)), asked.sentence or asked.text)


def overlap(claims: Sequence[Labelled]) -> Answers:
    """Word overlap as if it were a judge, at the threshold that is best on these very claims."""
    score = np.array([word_overlap(claim.text, claim.contexts) for claim in claims])
    cut = best_cut(np.array([claim.label == "SUPPORTED" for claim in claims]), score)
    return Answers("overlap", np.where(score > cut, "SUPPORTED", "UNSUPPORTED"), score, graded=False, seconds=0.0)
