"""Statistics of what is none: an error that says which argument is wrong, and never a number."""

import math

import numpy as np
import pytest

from everyclaim.stats.agreement import cohen_kappa
from everyclaim.stats.calibration import fit_platt
from everyclaim.stats.intervals import bootstrap, clustered_ratio
from everyclaim.stats.paired import holm, paired_difference, paired_mean_difference
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.prevalence import JudgeCounts, rogan_gladen
from everyclaim.stats.proportions import labels_for_half_width
from everyclaim.stats.sequential import Watch


def ratio(totals):
    return totals[:, 0] / totals[:, 1]


WRONG = [
    (lambda: cohen_kappa([0], [0, 1], (0, 1)), "1 and 2 ratings"),
    (lambda: cohen_kappa([0, 2], [0, 1], (0, 1)), "not one of the categories: 2"),
    (lambda: fit_platt([1, 1], [0.2, 0.4]), "labels of both kinds"),
    (lambda: paired_mean_difference([0.1, 0.2], [0.1]), "rows of one length are needed: before 2, after 1"),
    (lambda: paired_difference(([2], [1]), ([0], [1])), "between 0 and its denominator"),
    (lambda: ppi_rate(Labelled([1], [1]), Unlabelled([1])), "at least two labels"),
    (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 2, 5)), r"no better than chance \(TPR 0.50, TNR 0.40\)"),
    (lambda: paired_mean_difference([0.1, math.nan], [0.1, 0.2]), "number 1 is nan"),
    (lambda: Watch(5), "limit must be between 0 and 1, not 5"),
    (lambda: bootstrap(np.array([[1.0, 2.0]]), ratio), "at least two clusters"),
    (lambda: clustered_ratio([2.0], [1.0]), "between 0 and its denominator"),
    (lambda: holm([1.2]), "p_values"),
    (lambda: labels_for_half_width(0.5, 0.0), "half_width"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_bad_input_is_named(call, message):
    """NaN, counts that cannot be, rows of two lengths, a judge no better than chance, a class without labels."""
    with pytest.raises(ValueError, match=message):
        call()
