"""Agreement: against scikit-learn, published values, and invariance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from everyclaim.stats.agreement import cohen_kappa, krippendorff_alpha
from everyclaim.stats.types import Sampling, few_clusters

FEW = Sampling(resamples=50)
LABELS = ("SUPPORTED", "UNSUPPORTED", "CONTRADICTED")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=12, max_size=60))
def test_cohens_kappa_agrees_with_scikit_learn(pairs):
    """Any ratings, where it is defined."""
    first, second = ([LABELS[pair[side]] for pair in pairs] for side in (0, 1))
    if len(set(first) | set(second)) == 1:
        with pytest.raises(ValueError, match="cohen_kappa is undefined"):
            cohen_kappa(first, second, LABELS, sampling=FEW)
        return
    peer = cohen_kappa_score(first, second, labels=list(LABELS))
    assert cohen_kappa(first, second, LABELS, sampling=FEW).value == pytest.approx(peer, abs=1e-12)


def test_krippendorffs_published_value():
    """Four observers, twelve units, missing ratings: alpha nominal .743 (Krippendorff 2011, computing alpha, example C)."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    found = krippendorff_alpha(list(zip(*observers, strict=True)), (1, 2, 3, 4, 5))
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.value in found.interval
    assert not found.reliable  # twelve units


@pytest.mark.parametrize(
    ("answers", "said"), [(1, "only 1 answer;"), (12, "only 12 answers;"), (60, "rough"), (200, None)]
)
def test_few_answers_are_said(answers, said):
    """One, fewer than thirty, fewer than a hundred, enough."""
    told = few_clusters(answers)
    assert (said in told[0]) if said else told == ()
