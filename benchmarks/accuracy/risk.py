"""Is the promise of a calibrated risk kept on real answers? Marked RAG answers, halved many times.

    python benchmarks/accuracy/risk.py DATA/answers/dev.jsonl.xz [--judge embedded] [--splits 200] [--stream]

Answers are split by the shipped decomposer and labelled by their marked spans, as in `answers.py`. For every kind of
answers, documents are put into two halves at random: the threshold of a risk is fitted on one, as
`everyclaim calibrate --risk` does, and the share of wrong claims among those shown is taken on the other, each answer
weighing the same. Prints how often a promise could be made, what it withholds, the share of wrong claims shown, and how
often that share is above the risk. A half is a sample, too: where exactly the promised share is wrong, half of the
halves are above it. `--stream` judges every sentence alone, as `Guard.astream` does, with the threshold of whole
answers.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from answers.claims import labelled
from answers.read import MarkedAnswer, from_json_lines
from everyclaim.api.session import Session
from everyclaim.core.types import JudgedClaim, Passage, Sample, Span
from everyclaim.guard.loop import pieces
from everyclaim.stats.thresholds import losses_above, risk_threshold

RISKS = (0.02, 0.05, 0.1, 0.2)
_IN_FLIGHT = 8


class Claims(NamedTuple):
    """Claims of answers: whether each is wrong, its P(supported) in the whole answer, and its answer's document."""

    score: np.ndarray
    wrong: np.ndarray
    answer: np.ndarray

    def of(self, answers: np.ndarray) -> Claims:
        """Return the claims of some answers."""
        here = np.isin(self.answer, answers)
        return Claims(*(column[here] for column in self))


async def judged(metric: Any, answers: Sequence[MarkedAnswer], *, stream: bool) -> Claims:
    """Judge all answers, each whole or sentence by sentence."""
    gate = asyncio.Semaphore(_IN_FLIGHT)

    async def one(answer: MarkedAnswer) -> list[JudgedClaim]:
        passages = tuple(Passage(f"p{number}", text) for number, text in enumerate(answer.contexts, 1))
        found: list[JudgedClaim] = []
        at = 0
        async for piece in pieces(_whole(answer.response)) if stream else _whole(answer.response):
            async with gate:
                result = await metric.score(Sample(answer.id, piece, passages, answer.question))
            found += [replace(one, span=Span(one.span.start + at, one.span.end + at)) for one in result.claims]
            at += len(piece)
        return found

    by_answer = await asyncio.gather(*map(one, answers))
    rows = [
        (claim.verdict.probabilities.supported if claim.verdict.probabilities else 0.0, label != "SUPPORTED", place)
        for place, (answer, claims) in enumerate(zip(answers, by_answer, strict=True))
        for claim, label in zip(claims, labelled(answer, claims).labels, strict=True)
        if label is not None
    ]
    return Claims(*map(np.array, zip(*rows, strict=True)))


async def _whole(text: str) -> AsyncIterator[str]:
    yield text


def show(name: str, fitted: Claims, tested: Claims, groups: np.ndarray, splits: int) -> None:
    """Print the line of every risk: thresholds of `fitted` on one half of the documents, and `tested` on the other."""
    draw = np.random.default_rng(0)
    halves = [np.isin(groups, draw.permutation(names)[: len(names) // 2]) for names in [np.unique(groups)] * splits]
    for risk in RISKS:
        shares, withheld = list[float](), list[float]()
        for half in halves:
            labels, rest = fitted.of(np.flatnonzero(half)), tested.of(np.flatnonzero(~half))
            threshold = risk_threshold(labels.score, 1.0 - labels.wrong, labels.answer, risk)
            if threshold is not None:
                lost = losses_above(threshold, rest.score, rest.wrong.astype(float), rest.answer.astype(float))
                shares.append(float(lost.mean()) if len(lost) else 0.0)
                withheld.append(float(np.mean(rest.score < threshold)))
        told = f"{len(shares) / splits:10.0%}"
        if shares:
            above = np.mean(np.array(shares) > risk)
            told += f"{np.mean(withheld):10.0%}{np.mean(shares):14.1%}{above:12.1%}"
        print(f"{name:24}{len(groups):8}{np.mean(tested.wrong):9.1%}{risk:7.0%}{told}")


def main() -> None:
    """Judge, halve, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="answers as JSON lines, plain or .xz")
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--stream", action="store_true", help="also sentence by sentence")
    given = parser.parse_args()
    answers = [answer for path in given.files for answer in from_json_lines(path)]
    metric = Session({"judge": given.judge}).metric
    whole = asyncio.run(judged(metric, answers, stream=False))
    print(
        f"{'answers':24}{'n':>8}{'wrong':>9}{'risk':>7}{'promised':>10}{'withheld':>10}{'shown wrong':>14}{'above':>12}"
    )
    tasks = np.array([f"{one.dataset}: {one.task}" if one.dataset == "ragtruth" else one.dataset for one in answers])
    documents = np.array([answer.group for answer in answers])

    def show_all(tested: Claims, name: str) -> None:
        for task in [*sorted(set(tasks)), "all"]:
            here = np.flatnonzero((tasks == task) | (task == "all"))
            halved = [_renumbered(claims, here) for claims in (whole, tested)]
            show(f"{task}{name}", *halved, documents[here], given.splits)

    show_all(whole, "")
    if given.stream:
        show_all(asyncio.run(judged(metric, answers, stream=True)), ", streamed")


def _renumbered(claims: Claims, answers: np.ndarray) -> Claims:
    """Return the claims of some answers, which are then numbered from 0."""
    found = claims.of(answers)
    return found._replace(answer=np.searchsorted(answers, found.answer))


if __name__ == "__main__":
    main()
