"""The deferral zone: how much may be settled, and that the stated error holds."""

import numpy as np

from everyclaim.analysis.deferral import LabelledJudgement, fit_deferral
from everyclaim.core.types import Probabilities, Verdict
from everyclaim.verify.cascade import Deferral


def judged(says: float, is_supported: bool, cluster: object = None) -> LabelledJudgement:
    return LabelledJudgement(Probabilities(says, 1 - says, 0.0), is_supported, cluster)


def calibrated(random: np.random.Generator, n: int) -> list[LabelledJudgement]:
    """Claims of a judge whose probabilities are true."""
    return [judged(p, bool(random.random() < p)) for p in random.beta(0.4, 0.4, n)]


def settled_by(band: Deferral, judgement: LabelledJudgement) -> bool:
    probabilities = judgement.probabilities
    return band.settles(Verdict("c1", probabilities.label, probabilities))


def test_the_stated_error_holds_for_claims_that_were_not_seen() -> None:
    """In 95 of 100 fits or more, and more than a third is settled all the same."""
    random = np.random.default_rng(11)
    fits = [fit_deferral(calibrated(random, 200), error=0.1) for _ in range(60)]
    # How often the judge is wrong where it says p is min(p, 1 − p), because its probabilities are true.
    truth = random.beta(0.4, 0.4, 100_000)
    error = np.minimum(truth, 1 - truth)
    zones = [((truth <= fit.low) & (fit.low > 0)) | ((truth >= fit.high) & (fit.high < 1)) for fit in fits]
    assert sum(zone.any() and error[zone].mean() > 0.1 for zone in zones) <= 3
    assert np.mean([fit.share for fit in fits]) > 1 / 3


def test_each_side_can_be_held_to_the_error() -> None:
    """A judge that is often wrong when it says supported settles, on its own, only the other side."""
    random = np.random.default_rng(3)
    rows = [judged(0.95, bool(random.random() < 0.8)) for _ in range(300)]
    rows += [judged(0.05, is_supported=False) for _ in range(900)]
    pooled, alone = fit_deferral(rows, error=0.1), fit_deferral(rows, error=0.1, each_side=True)
    assert pooled.as_supported.claims == 300
    assert (alone.low, alone.high) == (0.05, 1.0)
    assert (alone.as_supported.claims, alone.as_not_supported.claims) == (0, 900)


def test_what_the_fit_counts_is_what_a_cascade_settles() -> None:
    """Claim by claim, on either side, edges included."""
    random = np.random.default_rng(5)
    rows = [judged(round(one.probabilities.supported, 3), one.is_supported) for one in calibrated(random, 800)]
    for each_side in (False, True):
        fit = fit_deferral(rows, error=0.15, each_side=each_side)
        band = Deferral(fit.low, fit.high)
        assert fit.settled.claims == sum(settled_by(band, one) for one in rows) > 0
        assert fit.settled.claims == fit.as_supported.claims + fit.as_not_supported.claims
        assert fit.settled.wrong == fit.as_supported.wrong + fit.as_not_supported.wrong
        assert fit.settled.at_most is not None
        assert fit.settled.wrong / fit.settled.claims < fit.settled.at_most < 0.15
