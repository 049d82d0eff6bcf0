"""Statistics of what is none: an error that says which argument is wrong, and never a number."""

import math

import numpy as np
import pytest

from everyclaim.stats.agreement import alt_test, cohen_kappa
from everyclaim.stats.calibration import fit_isotonic, fit_platt
from everyclaim.stats.intervals import bootstrap, clustered_ratio
from everyclaim.stats.paired import benjamini_hochberg, paired_difference, paired_mean_difference
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_mean, ppi_rate
from everyclaim.stats.prevalence import JudgeCounts, rogan_gladen
from everyclaim.stats.proportions import clustered_normal, labels_for_half_width, newcombe_difference, wilson
from everyclaim.stats.sequential import Watch, change_points, trend
from everyclaim.stats.thresholds import conformal_threshold, roc_auc, threshold_for


def ratio(totals):
    return totals[:, 0] / totals[:, 1]


WRONG = [
    (lambda: cohen_kappa([0], [0, 1], (0, 1)), "1 and 2 ratings"),
    (lambda: cohen_kappa([0, 2], [0, 1], (0, 1)), "not one of the categories: 2"),
    (lambda: fit_platt([1, 1], [0.2, 0.4]), "labels of both kinds"),
    (lambda: fit_isotonic([1, 0], [0.2, 1.4]), "between 0 and 1; number 1 is 1.4"),
    (lambda: paired_mean_difference([0.1, 0.2], [0.1]), "rows of one length are needed: before 2, after 1"),
    (lambda: paired_difference(([2], [1]), ([0], [1])), "between 0 and its denominator"),
    (lambda: ppi_rate(Labelled([1, 0], [1]), Unlabelled([1])), "truth 2, judged 1"),
    (lambda: ppi_rate(Labelled([1, 0], [1, 0]), Unlabelled([])), "verdicts of the others is empty"),
    (lambda: ppi_mean(Labelled([1], [1]), Unlabelled([1])), "two labels and a unit without one are needed"),
    (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 2, 5)), r"no better than chance \(TPR 0.50, TNR 0.40\)"),
    (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 0, 0)), "no true negative is labelled"),
    (lambda: wilson(1, 2, level=95), "level must be between 0 and 1, not 95"),
    (lambda: newcombe_difference((1, 1), (2, 0)), "n must be at least 1, not 0"),
    (lambda: clustered_normal([0.1, math.nan]), "number 1 is nan"),
    (lambda: roc_auc([1, 1], [0.1, 0.2]), "both positives and negatives"),
    (lambda: threshold_for([1, 0], [0.1, 0.2], 90), "rate must be above 0 and at most at 1, not 90"),
    (lambda: Watch(5), "limit must be between 0 and 1, not 5"),
    (lambda: Watch(0.05).has_risen(0), "at least 1, not 0"),
    (lambda: change_points([0.9, 0.8], [0.1]), "values 2, errors 1"),
    (lambda: trend([0.9, 0.8], [0.1, 0.1]), "at least 3 values, not 2"),
    (lambda: alt_test([[1, 1]] * 40, [1] * 40), "at least 3 annotators"),
    (lambda: alt_test([[1, 1, 1]] * 40, [None] * 40), "judge must have rated every item"),
    (lambda: bootstrap(np.array([[1.0, 2.0]]), ratio), "at least two clusters"),
    (lambda: bootstrap(np.array([[1.0, np.nan], [1.0, 1.0]]), ratio), "NaN or infinity"),
    (lambda: bootstrap(np.array([[0.0, 0.0], [0.0, 0.0]]), ratio), "undefined on the whole table"),
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
