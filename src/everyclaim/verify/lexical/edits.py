"""What differs, in place, between a claim and the window that covers it best.

The two token sequences are aligned on their longest common subsequence. What lies in the gaps tells substitutions
("1995" for "1997" between the same neighbours) from additions and from omissions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from everyclaim.text.tokens import STOPWORDS


@dataclass(frozen=True, slots=True)
class Gap:
    """Claim tokens [a0, a1) stand where the passage has tokens [b0, b1); `closed` when both sides match."""

    a0: int
    a1: int
    b0: int
    b1: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Edits:
    """The alignment of two token sequences: matched pairs in order, and the gaps between them."""

    pairs: list[tuple[int, int]]
    gaps: list[Gap]
    common: int  # length of the longest common subsequence, before stray matches are dropped
    longest_run: int
    in_runs: int  # claim tokens inside matched runs of four tokens or more


def compare(claim: Sequence[str], window: Sequence[str]) -> Edits:
    """Align the tokens of a claim with those of a window."""
    deleted: set[int] = set()
    inserted: set[int] = set()
    for kind, source, destination in LCSseq.editops(claim, window):
        if kind == "delete":
            deleted.add(int(source))
        else:
            inserted.add(int(destination))
    left = [i for i in range(len(claim)) if i not in deleted]
    right = [j for j in range(len(window)) if j not in inserted]
    pairs = _without_strays(list(zip(left, right, strict=True)), claim)
    longest, in_runs = _runs(pairs)
    return Edits(pairs, _gaps(pairs, len(claim), len(window)), len(left), longest, in_runs)


def _without_strays(pairs: list[tuple[int, int]], claim: Sequence[str]) -> list[tuple[int, int]]:
    """Drop matched function words that have no matched neighbour: they match by accident."""
    known = set(pairs)
    return [(i, j) for i, j in pairs if claim[i] not in STOPWORDS or (i - 1, j - 1) in known or (i + 1, j + 1) in known]


def _runs(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    """Give the length of the longest run of adjacent pairs, and how many pairs stand in runs of four or more."""
    longest = in_runs = run = 0
    previous = (-2, -2)
    for pair in pairs:
        if pair != (previous[0] + 1, previous[1] + 1):
            in_runs += run if run >= 4 else 0
            run = 0
        run += 1
        longest = max(longest, run)
        previous = pair
    return longest, in_runs + (run if run >= 4 else 0)


def _gaps(pairs: list[tuple[int, int]], claim_length: int, window_length: int) -> list[Gap]:
    """List what lies before, between and after the matched pairs."""
    gaps: list[Gap] = []
    a, b = 0, 0
    for number, (i, j) in enumerate(pairs):
        if i > a or j > b:
            gaps.append(Gap(a, i, b, j, closed=number > 0))
        a, b = i + 1, j + 1
    if a < claim_length or b < window_length:
        gaps.append(Gap(a, claim_length, b, window_length, closed=False))
    return gaps
