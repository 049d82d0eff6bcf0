"""When not to trust an interval: the conditions under which it failed in simulation (`benchmarks/statistics`).

An interval is trusted where 93 to 97 % of its kind held the truth at a nominal 95 %. Each reason is one plain sentence
part, to be shown beside the interval. Where an interval errs by being wider than it needs to be, that is said.
"""

from __future__ import annotations

import numpy as np

from everyclaim.stats.types import Floats

FEW_CLUSTERS = 30  # fewer: the spread itself is hardly known
ROUGH_CLUSTERS = 100  # fewer: an interval holds a point or two less, or more, often than it says
FEW_OF_A_KIND = 10  # labels, of either kind
FEW_DIFFERENCES = 10  # labels that the judge got wrong
FEW_CHANGED = 20
LOPSIDED = 0.3  # skewness of a mean, above which its normal interval misses on one side


def few_clusters(clusters: int) -> tuple[str, ...]:
    """Return what to say of an interval that rests on so many clusters."""
    if clusters < FEW_CLUSTERS:
        return (f"{clusters} clusters: below {FEW_CLUSTERS} their spread is known badly",)
    if clusters < ROUGH_CLUSTERS:
        return (f"{clusters} clusters: below {ROUGH_CLUSTERS} the interval is rough",)
    return ()


def lopsided(influence: Floats) -> tuple[str, ...]:
    """Return what to say of a normal interval of a mean, from what each cluster adds to it.

    The skewness of the mean, Σψ³/(Σψ²)^1.5, is the first term by which it differs from normal (Edgeworth).
    """
    spread = float(np.sum(influence**2))
    if spread == 0 or abs(float(np.sum(influence**3))) > LOPSIDED * spread**1.5:
        return ("a few values decide: the normal interval misses more often than it says",)
    return ()


def few_of_a_kind(truth: Floats) -> tuple[str, ...]:
    """Return what to say where one of the two kinds of label is rare."""
    rarer = min(int(np.count_nonzero(truth == 0)), int(np.count_nonzero(truth == 1)))
    if rarer < FEW_OF_A_KIND:
        return (f"{rarer} labels of the rarer kind: at least {FEW_OF_A_KIND} are needed",)
    return ()


def few_differences(truth: Floats, judged: Floats) -> tuple[str, ...]:
    """Return what to say where the judge was seen to be wrong too rarely to know how often it is."""
    wrong = int(np.count_nonzero(truth != judged))
    if wrong < FEW_DIFFERENCES:
        return (f"the judge was wrong on {wrong} labels: below {FEW_DIFFERENCES} how often it is wrong is known badly",)
    return ()


def few_changes(changed: int) -> tuple[str, ...]:
    """Return what to say of a difference that rests on so few clusters that changed."""
    if changed >= FEW_CHANGED:
        return ()
    return (f"{changed} samples or clusters changed: the interval is rough, mostly wider than it needs to be",)
