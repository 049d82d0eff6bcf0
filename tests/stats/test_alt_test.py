"""The alternative annotator test: the definition written out, and judges good and bad."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from everyclaim.stats.agreement import alt_test


def panel(items=80, annotators=4, right=0.85, judge=0.9, missing=0.0, seed=0):
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, items)

    def rater(skill):
        return np.where(random.random(items) < skill, truth, random.integers(0, 3, items)).tolist()

    columns = [[None if random.random() < missing else said for said in rater(right)] for _ in range(annotators)]
    return [list(row) for row in zip(*columns, strict=True)], rater(judge)


def test_it_is_what_the_paper_defines():
    """Leave one out, compare, one-sided t-test, Benjamini–Yekutieli: by plain loops, with ratings missing."""
    ratings, judged = panel(missing=0.2)
    found = alt_test(ratings, judged, epsilon=0.1)
    p_values, wins = [], []
    for j in range(4):
        loses, won = [], []
        for row, machine in zip(ratings, judged, strict=True):
            rest = [said for k, said in enumerate(row) if k != j and said is not None]
            if row[j] is None or not rest:
                continue
            judge, person = (np.mean([said == one for said in rest]) for one in (machine, row[j]))
            loses.append(float(person >= judge) - float(judge >= person))
            won.append(judge >= person)
        p_values.append(stats.ttest_1samp(loses, 0.1, alternative="less").pvalue)
        wins.append(np.mean(won))
    assert found.p_values == pytest.approx(multipletests(p_values, method="fdr_by")[1], abs=1e-9)
    assert found.advantage == pytest.approx(np.mean(wins))
    assert found.winning_rate == np.mean(np.array(found.p_values) <= 0.05)


def test_few_items_are_warned_of():
    """Below thirty the t-test is not to be trusted."""
    assert "20 items" in alt_test(*panel(items=20)).warnings[0]
    assert not alt_test(*panel()).warnings
