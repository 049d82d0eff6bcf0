"""Figures of merit of a verifier, as pure functions of arrays, with intervals from resampling whole groups.

Undefined figures (one class only, no such label) are NaN; nothing here is averaged over NaN silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.passages import comparable

FEWEST_GROUPS = 5  # resampling fewer says nothing
NAMES = ("SUPPORTED", "UNSUPPORTED", "CONTRADICTED")
SEED = 11


def auc(target: np.ndarray, score: np.ndarray) -> float:
    """Area under the ROC curve: the chance that a supported claim scores above one that is not; ties count half."""
    if target.all() or not target.any():
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = target.sum()
    return float((ranks[target].sum() - positive * (positive + 1) / 2) / (positive * (len(target) - positive)))


def balanced(target: np.ndarray, said: np.ndarray) -> float:
    """Mean of sensitivity and specificity."""
    if target.all() or not target.any():
        return float("nan")
    return float((said[target].mean() + (~said[~target]).mean()) / 2)


def best_cut(target: np.ndarray, score: np.ndarray) -> float:
    """Return the score above which calling claims supported gives the best balanced accuracy on this data."""
    order = np.argsort(score, kind="stable")[::-1]
    hits, falls = np.cumsum(target[order]), np.cumsum(~target[order])
    last = np.append(np.diff(score[order]) != 0, True)  # cuts lie between different scores
    gain = hits / max(1, target.sum()) - falls / max(1, (~target).sum())
    at = np.flatnonzero(last)[np.argmax(gain[last])]
    lower = score[order][at + 1] if at + 1 < len(order) else score[order][at] - 1.0
    return float((score[order][at] + lower) / 2)


def reliability(target: np.ndarray, score: np.ndarray, bins: int = 10) -> list[dict[str, float]]:
    """Per bin of stated probability: bounds, claims, mean probability stated, share found supported."""
    number = np.minimum((score * bins).astype(int), bins - 1)
    return [
        {
            "from": b / bins,
            "to": (b + 1) / bins,
            "claims": int((number == b).sum()),
            "stated": float(score[number == b].mean()),
            "found": float(target[number == b].mean()),
        }
        for b in range(bins)
        if (number == b).any()
    ]


def calibration_error(target: np.ndarray, score: np.ndarray) -> float:
    """Mean gap between the probability stated and the share found, over ten equal bins."""
    rows = reliability(target, score)
    return float(sum(abs(row["stated"] - row["found"]) * row["claims"] for row in rows) / len(target))


def macro_f1(label: np.ndarray, predicted: np.ndarray) -> float:
    """Mean F1 of the three labels over rows that have one of them; NaN unless all three occur."""
    label, predicted = _known(label, predicted)
    if set(label) != set(NAMES):
        return float("nan")
    scores = []
    for name in NAMES:
        hit = ((label == name) & (predicted == name)).sum()
        scores.append(2 * hit / ((label == name).sum() + (predicted == name).sum()))
    return float(np.mean(scores))


def contradicted(label: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Recall and precision of CONTRADICTED, over rows with one of the three labels; NaN unless all three occur."""
    label, predicted = _known(label, predicted)
    if set(label) != set(NAMES):
        return float("nan"), float("nan")
    hit = ((label == "CONTRADICTED") & (predicted == "CONTRADICTED")).sum()
    said = (predicted == "CONTRADICTED").sum()
    return float(hit / (label == "CONTRADICTED").sum()), float(hit / said) if said else float("nan")


def _known(label: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = np.isin(label, NAMES)
    return label[known], predicted[known]


def resampled(measure: Callable[[np.ndarray], float], groups: np.ndarray, draws: int) -> np.ndarray:
    """Return a measure (a function of row indices) on `draws` resamples of whole groups; seeded.

    The same groups give the same resamples, so that differences of two results are paired. All NaN where there are
    too few groups to resample.
    """
    rng = np.random.default_rng(SEED)
    names, number = np.unique(groups, return_inverse=True)
    if len(names) < FEWEST_GROUPS:
        return np.full(draws, np.nan)
    order = np.argsort(number, kind="stable")
    edges = np.searchsorted(number[order], np.arange(number.max() + 2))
    values = []
    for _ in range(draws):
        drawn = rng.integers(0, number.max() + 1, number.max() + 1)
        values.append(measure(np.concatenate([order[edges[g] : edges[g + 1]] for g in drawn])))
    return np.array(values)


def bounds(values: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of resampled values; resamples without a value are left out, NaN if none has one."""
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)


def word_overlap(claim: str, passages: Iterable[str]) -> float:
    """Give the share of the claim's content words (stemmed, with repeats) that occur anywhere in the passages.

    Within [0, 1]; 0 for a claim without content words. It knows nothing of order, weight or meaning.
    """
    words = [comparable(token.norm) for token in tokenize(claim) if token.norm not in STOPWORDS]
    held = {comparable(token.norm) for passage in passages for token in tokenize(passage)}
    return sum(word in held for word in words) / len(words) if words else 0.0
