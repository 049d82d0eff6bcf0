"""Statistics of what is none: an error that says which argument is wrong, and never a number."""

import math

import numpy as np
import pytest

from everyclaim.stats.agreement import alt_test, cohen_kappa
from everyclaim.stats.calibration import fit_platt
from everyclaim.stats.intervals import bootstrap, clustered_ratio
from everyclaim.stats.paired import benjamini_hochberg, paired_difference, paired_mean_difference
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_mean
from everyclaim.stats.prevalence import JudgeCounts, rogan_gladen
from everyclaim.stats.proportions import clustered_normal, labels_for_half_width
from everyclaim.stats.sequential import Watch, trend
from everyclaim.stats.thresholds import conformal_threshold, roc_auc, threshold_for


def ratio(totals):
    return totals[:, 0] / totals[:, 1]


WRONG = [
    (lambda: cohen_kappa([0], [0, 1], (0, 1)), "1 and 2 ratings"),
    (lambda: cohen_kappa([0, 2], [0, 1], (0, 1)), "not one of the categories: 2"),
    (lambda: fit_platt([1, 1], [0.2, 0.4]), "labels of both kinds"),
    (lambda: paired_mean_difference([0.1, 0.2], [0.1]), "rows of one length are needed: before 2, after 1"),
    (lambda: paired_difference(([2], [1]), ([0], [1])), "between 0 and its denominator"),
    (lambda: ppi_mean(Labelled([1], [1]), Unlabelled([1])), "two labels and a unit without one are needed"),
    (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 2, 5)), r"no better than chance \(TPR 0.50, TNR 0.40\)"),
    (lambda: clustered_normal([0.1, math.nan]), "number 1 is nan"),
    (lambda: roc_auc([1, 1], [0.1, 0.2]), "both positives and negatives"),
    (lambda: threshold_for([1, 0], [0.1, 0.2], 90), "rate must be above 0 and at most at 1, not 90"),
    (lambda: Watch(5), "limit must be between 0 and 1, not 5"),
    (lambda: trend([0.9, 0.8], [0.1, 0.1]), "at least 3 values, not 2"),
    (lambda: alt_test([[1, 1]] * 40, [1] * 40), "at least 3 annotators"),
    (lambda: bootstrap(np.array([[1.0, 2.0]]), ratio), "at least two clusters"),
    (lambda: clustered_ratio([2.0], [1.0]), "between 0 and its denominator"),
    (lambda: conformal_threshold([math.nan], 0.1), "scores must be one row of numbers"),
    (lambda: benjamini_hochberg([1.2]), "p_values"),
    (lambda: labels_for_half_width(0.5, 0.0), "half_width"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_bad_input_is_named(call, message):
    """NaN, counts that cannot be, rows of two lengths, a judge no better than chance, a class without labels."""
    with pytest.raises(ValueError, match=message):
        call()
