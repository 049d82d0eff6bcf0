"""The figures of the accuracy benchmarks agree with scikit-learn, and their intervals respect groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measures import NAMES, auc, balanced, best_cut, calibration_error, contradicted, macro_f1
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

SCORED = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=60).filter(
    lambda rows: len({target for target, _ in rows}) == 2
)


def columns(rows: list[tuple[bool, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([target for target, _ in rows]), np.array([score / 8 for _, score in rows])


@given(SCORED)
def test_area_and_balanced_accuracy_agree_with_scikit_learn(rows: list[tuple[bool, int]]) -> None:
    """Also where scores tie."""
    target, score = columns(rows)
    assert auc(target, score) == pytest.approx(roc_auc_score(target, score))
    assert balanced(target, score > 0.5) == pytest.approx(balanced_accuracy_score(target, score > 0.5))


@given(SCORED)
def test_no_cut_is_better_than_the_best_cut(rows: list[tuple[bool, int]]) -> None:
    """Every threshold between and around the scores is tried."""
    target, score = columns(rows)
    best = balanced(target, score > best_cut(target, score))
    assert all(best >= balanced(target, score > cut / 16) - 1e-12 for cut in range(-1, 17, 2))


def test_three_way_figures_agree_with_scikit_learn() -> None:
    """Rows whose label is not one of the three are left out."""
    rng = np.random.default_rng(3)
    label = rng.choice([*NAMES, "NOT_SUPPORTED"], 400)
    predicted = np.where(rng.random(400) < 0.5, label, rng.choice(NAMES, 400))
    predicted[predicted == "NOT_SUPPORTED"] = "UNSUPPORTED"
    known = label != "NOT_SUPPORTED"
    one = {"labels": ["CONTRADICTED"], "average": "macro"}
    assert macro_f1(label, predicted) == pytest.approx(f1_score(label[known], predicted[known], average="macro"))
    assert contradicted(label, predicted) == (
        pytest.approx(recall_score(label[known], predicted[known], **one)),
        pytest.approx(precision_score(label[known], predicted[known], **one)),
    )


def test_calibration_error_is_the_mean_gap_of_the_bins() -> None:
    """Eight of ten claims stated at .85 are supported: off by .05; a sure and right claim is off by nothing."""
    target = np.array([True] * 8 + [False] * 2 + [True] * 10)
    score = np.array([0.85] * 10 + [1.0] * 10)
    assert calibration_error(target, score) == pytest.approx(0.025)
