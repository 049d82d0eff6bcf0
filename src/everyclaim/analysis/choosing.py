"""Which claims people should label: at random, by the judge's label, where it is unsure, or for the corrected rate."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Label
from everyclaim.stats.ppi import allocate_to_strata
from everyclaim.stats.prevalence import allocate_labels

By = Literal["stratified", "random", "uncertainty", "allocation"]
WAYS: tuple[By, ...] = get_args(By)
LABELS = tuple(Label)
# A judge as it is thought to be before there are labels: how often it is right, and how many labels that is worth.
_GUESS, _PILOT = 0.8, 10


class Verdicts(NamedTuple):
    """The claims of the scored answers of a run, in flat arrays."""

    position: NDArray[np.int64]
    ordinal: NDArray[np.int32]
    label: NDArray[np.int8]  # index into `LABELS`
    supported: NDArray[np.float64]  # probability; NaN: none

    @property
    def called(self) -> NDArray[np.bool_]:
        """Which claims the judge calls supported."""
        return np.equal(self.label, LABELS.index(Label.SUPPORTED))


def choose(verdicts: Verdicts, n: int, by: By, seed: int, judge: tuple[float, float] | None) -> NDArray[np.intp]:
    """Return which claims to label, at most `n`, in random order. `judge` is its specificity and sensitivity, if known.

    Raises `ConfigError` for `uncertainty` without probabilities.
    """
    draw = np.random.default_rng(seed)
    size = len(verdicts.position)
    if by == "uncertainty":
        return draw.permutation(_unsure(verdicts, n, draw))
    if by == "random" or n >= size:
        return draw.permutation(size)[:n]
    classes = [np.flatnonzero(verdicts.called), np.flatnonzero(~verdicts.called)]
    if by == "allocation" and all(map(len, classes)):
        specificity, sensitivity = judge or (_GUESS, _GUESS)
        rate = len(classes[0]) / size
        wanted = list(reversed(allocate_labels(n, rate, (specificity, sensitivity), _PILOT)))
    else:
        classes = [np.flatnonzero(verdicts.label == code) for code in range(len(LABELS))]
        there = [group for group in classes if len(group)]
        classes = there
        wanted = _shared_out([len(group) for group in there], n)
    taken = [draw.permutation(group)[:number] for group, number in zip(classes, wanted, strict=True)]
    return draw.permutation(np.concatenate(taken))


def _shared_out(sizes: list[int], n: int) -> list[int]:
    """Share labels out, half of them to the largest kind at most: failing claims are rare, and the doubt is there."""
    if n < 2 * len(sizes):
        return [min(size, -(-n // len(sizes))) for size in sizes]
    shares = np.sqrt(np.array(sizes, dtype=float))
    wanted = allocate_to_strata(np.array(sizes, dtype=float), shares / np.array(sizes), n)
    given = [min(size, number) for size, number in zip(sizes, wanted, strict=True)]
    for place in np.argsort(sizes)[::-1]:  # what a small kind cannot give, larger ones do
        given[place] = min(sizes[place], given[place] + n - sum(given))
    return given


def _unsure(verdicts: Verdicts, n: int, draw: np.random.Generator) -> NDArray[np.intp]:
    if not np.isfinite(verdicts.supported).any():
        raise ConfigError(
            "the judge of this run gives no probabilities, so nobody knows where it is unsure: "
            "take --by stratified, or a judge that votes, as in openai:gpt-5-mini?repeats=5"
        )
    called = verdicts.called & np.isfinite(verdicts.supported)
    failing = ~verdicts.called & np.isfinite(verdicts.supported)
    edge = 0.5  # of what is called supported, as far as the run shows
    if called.any() and failing.any():
        edge = float((verdicts.supported[called].min() + verdicts.supported[failing].max()) / 2)
    order = draw.permutation(len(verdicts.supported))
    distance = np.abs(verdicts.supported[order] - edge)  # NaN sorts last
    return np.asarray(order[np.argsort(distance, kind="stable")[:n]], dtype=np.intp)
