"""Logistic regression that starts from known log-odds and is held to them by a ridge penalty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]

_STEPS = 30
_FARTHEST = 2.0  # how far a coefficient moves in one step: from far-off log-odds Newton's method overshoots
_CLOSE = 1e-3  # a step that changes no coefficient by more ends the search


def balanced_weights(truth: Truth) -> Floats:
    """Weigh both sides the same, in all by the number of equally weighed rows that these are worth.

    `truth` must have both sides.
    """
    share = truth.mean()
    weight = np.where(truth, 0.5 / share, 0.5 / (1 - share))
    worth: Floats = weight * weight.sum() / (weight * weight).sum()
    return worth


def log_losses(truth: Truth, odds: Floats) -> Floats:
    """Return −log P of what is true, for every row."""
    losses: Floats = np.logaddexp(0.0, np.where(truth, -odds, odds))
    return losses


def ridge_path(
    design: Floats, truth: Truth, weight: Floats, offset: Floats, penalties: Sequence[Floats]
) -> Iterator[Floats]:
    """Yield the coefficients for each of several penalties (one number per column), each begun at the last.

    They minimise Σ weight · log-loss(offset + design · coefficients) + ½ Σ penalty · coefficient².
    """
    found = np.zeros(design.shape[1])
    for penalty in penalties:
        for _ in range(_STEPS):
            says = 1.0 / (1.0 + np.exp(-np.clip(offset + design @ found, -30.0, 30.0)))
            slope = design.T @ (weight * (says - truth)) + penalty * found
            bend = (design * (weight * says * (1.0 - says))[:, None]).T @ design
            bend[np.diag_indices_from(bend)] += penalty + 1e-9
            step = np.linalg.solve(bend, slope)
            longest = float(np.abs(step).max(initial=0.0))
            found = found - step * min(1.0, _FARTHEST / max(longest, 1e-12))
            if longest < _CLOSE:
                break
        yield found
