"""Summaries: hand-counted values, outcomes kept apart, order without effect, and what is said of the judges."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.analysis.deferral import fit_deferral
from everyclaim.analysis.labels import LabelledItem
from everyclaim.analysis.summary import summarise, summary_to_json
from everyclaim.core.printing import Band
from everyclaim.core.types import (
    FailureMode,
    JudgedClaim,
    Label,
    Outcome,
    Probabilities,
    Provenance,
    Result,
    Span,
    Usage,
    Verdict,
)
from everyclaim.stats.proportions import wilson
from everyclaim.stats.types import Interval
from everyclaim.verify.composed import Deferral
from scored_runs import PROVENANCE, claim, lettered, unscored


def test_a_small_run_adds_up_by_hand():
    """Four answers, nine claims: every number of the summary, counted on paper."""
    summary = summarise([lettered("ss"), lettered("su"), lettered("suc"), lettered("cc")])
    group = summary.overall
    assert group.score.value == pytest.approx((1 + 1 / 2 + 1 / 3 + 0) / 4)
    assert group.labels == {Label.SUPPORTED: 4, Label.UNSUPPORTED: 2, Label.CONTRADICTED: 3}
    assert group.rates[Label.SUPPORTED].value == pytest.approx(4 / 9)
    assert group.rates[Label.UNSUPPORTED].value == pytest.approx(2 / 9)
    assert group.rates[Label.CONTRADICTED].value == pytest.approx(3 / 9)
    assert (group.rates[Label.SUPPORTED].n, group.rates[Label.SUPPORTED].clusters) == (9, 4)
    assert (group.any_unsupported.value, group.any_contradicted.value) == (0.5, 0.5)
    assert Interval(group.any_unsupported.low, group.any_unsupported.high) == wilson(2, 4)
    assert group.failing == 3
    assert group.unsupported_per_failing == pytest.approx(2 / 3)
    assert group.contradicted_per_failing == 1
    assert group.claims_per_answer == 2.25
    assert group.bands == {Band.HIGH: 1, Band.GOOD: 0, Band.MODERATE: 1, Band.LOW: 2}
    assert group.band is Band.LOW


@pytest.mark.parametrize(
    "results", [[], [unscored(Outcome.FAILED)], [unscored(Outcome.NO_CLAIMS), unscored(Outcome.ABSTAINED)]]
)
def test_nothing_scored_gives_no_mean(results):
    """No answers scored: no mean, no rate, no band; neither 0 nor NaN."""
    group = summarise(results).overall
    assert group.score.value is None
    assert group.band is None
    assert all(rate.value is None for rate in group.rates.values())
    assert group.unsupported_per_failing is None
    assert group.claims_per_answer is None


def test_numbers_from_a_policy_are_in_the_mean_and_said():
    """`empty=one` moves the mean; the summary says how many such numbers are in it."""
    group = summarise([lettered("su"), unscored(Outcome.NO_CLAIMS, score=1.0)]).overall
    assert group.score.value == 0.75
    assert group.counted_unscored == 1
    assert group.scored == 1


def test_conflicts_modes_flags_and_warnings_are_counted():
    """Everything a verdict says beside its label is counted per claim."""
    claims = (
        claim(1, "x", Label.SUPPORTED, conflict=True, flags=("spread_evidence",)),
        claim(2, "x", Label.CONTRADICTED, failure_mode=FailureMode.NUMERIC_MISMATCH, flags=("quote_not_found",)),
        claim(3, "x", Label.UNSUPPORTED, failure_mode=FailureMode.NUMERIC_MISMATCH, flags=("quote_not_found",)),
    )
    summary = summarise([Result("a", Outcome.SCORED, 1 / 3, PROVENANCE, claims=claims, warnings=("one", "two"))])
    assert summary.conflicts == 1
    assert summary.failure_modes == {"numeric_mismatch": 2}
    assert summary.flags == {"quote_not_found": 2, "spread_evidence": 1}
    assert (summary.warnings, summary.warned) == (2, 1)


def test_slices_are_groups_of_their_own():
    """A slice has its own mean and counts; results without the tag are kept under the empty value."""
    results = [
        lettered("ss", tags={"source": "web"}),
        lettered("uu", tags={"source": "web"}),
        lettered("ss", tags={"source": "faq"}),
        lettered("su"),
        unscored(Outcome.FAILED, tags={"source": "faq"}),
    ]
    sources = summarise(results, slices=["source", "source"]).slices["source"]
    assert list(sources) == ["", "faq", "web"]
    assert sources["web"].score.value == 0.5
    assert sources["faq"].total == 2
    assert sources["faq"].outcomes[Outcome.FAILED] == 1
    assert sources[""].score.value == 0.5


results = st.lists(
    st.builds(
        lambda labels, outcome, source, question, cost: (
            lettered(labels, tags={"source": source}, question=question, usage=Usage(1, 2, 3, 4, cost))
            if outcome is Outcome.SCORED
            else unscored(outcome, reason="code: why", tags={"source": source}, question=question)
        ),
        st.text("suc", min_size=1, max_size=7),
        st.sampled_from(Outcome),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["", "q1", "q2", "q3"]),
        st.floats(0, 1),
    ),
    max_size=70,
)


@given(results)
def test_counts_are_consistent_and_the_json_is_strict(results):
    """Outcomes add up to the total, labels to the claims, slices to the run; JSON holds no NaN."""
    summary = summarise(results, slices=["source"])
    group = summary.overall
    assert sum(group.outcomes.values()) == group.total == len(results)
    assert sum(group.labels.values()) == group.claims
    assert sum(group.bands.values()) == group.score.n
    assert sum(part.total for part in summary.slices["source"].values()) == group.total
    assert sum(summary.failures.values()) == group.outcomes[Outcome.FAILED]
    json.dumps(summary_to_json(summary), allow_nan=False)


def in_parts(precision, recall, **fields):
    return dataclasses.replace(lettered("s", **fields), components={"precision": precision, "recall": recall})


def test_every_part_of_a_score_has_its_mean_and_interval():
    """Over the scored answers where it is defined; what is undefined is neither 0 nor 1."""
    results = [unscored(Outcome.FAILED), in_parts(1.0, 0.5), in_parts(0.0, None), in_parts(0.5, 1.0)]
    parts = summarise(results).overall.components
    assert list(parts) == ["precision", "recall"]
    assert (parts["precision"].value, parts["precision"].n) == (0.5, 3)
    assert (parts["recall"].value, parts["recall"].n) == (0.75, 2)
    assert parts["recall"].low < 0.75 < parts["recall"].high


NOTHING = Usage()
CASCADE = "cascade:lexical>openai:m?2.claims_per_call=4"


def judged_by(name, claims, verifier, *, usage=NOTHING, outcome=Outcome.SCORED, **parameters):
    """A result whose claims are pairs of the deciding judge and its flags."""
    made = tuple(
        JudgedClaim(f"c{i}", "x", Span(0, 1), "x", Verdict(f"c{i}", Label.SUPPORTED, judge=judge, flags=flags))
        for i, (judge, flags) in enumerate(claims, start=1)
    )
    provenance = Provenance("faithfulness", "embedded", verifier, "joint", "1", parameters)
    score = 1.0 if outcome is Outcome.SCORED else None
    return Result(name, outcome, score, provenance, claims=made, usage=usage)


FIRST = ("lexical", ())
SECOND = ("openai:m?claims_per_call=4", ())
AGREED = ("openai:m?claims_per_call=4", ("audited",))
DIFFERED = ("openai:m?claims_per_call=4", ("audited", "audit_disagreed"))


def test_a_cascade_says_what_its_first_judge_settled_and_how_often_it_was_right():
    """What was audited had been settled; claims without passages were put to nobody."""
    summary = summarise(
        [
            judged_by("a", [FIRST, FIRST, SECOND], CASCADE),
            judged_by("b", [AGREED, DIFFERED, AGREED, (CASCADE, ("no_passages",))], CASCADE),
            judged_by("c", [FIRST, SECOND], CASCADE, outcome=Outcome.FAILED),
        ]
    )
    cascade = summary.judging.cascade
    assert cascade.first == "lexical"
    assert (cascade.settled.value, cascade.settled.n) == (pytest.approx(5 / 6), 6)
    assert (cascade.agreement.value, cascade.agreement.n) == (pytest.approx(2 / 3), 3)
    assert cascade.agreement.low < 2 / 3 < cascade.agreement.high
    assert summary.judging.judges == {CASCADE: 1, "lexical": 2, "openai:m?claims_per_call=4": 4}


def test_a_panel_says_how_often_its_judges_disagree():
    """A share of all claims, with its interval."""
    panel = "panel:openai:a|anthropic:b"
    summary = summarise(
        [judged_by(str(i), [(panel, ("disagreement",) if i < 3 else ())] * 2, panel) for i in range(10)]
    )
    assert (summary.judging.disagreement.value, summary.judging.disagreement.n) == (pytest.approx(0.3), 20)
    assert summary.judging.cascade is None


def doubted(says: float, is_supported: bool, cluster: object = None) -> LabelledItem[Probabilities]:
    label = "SUPPORTED" if is_supported else "NOT_SUPPORTED"
    return LabelledItem(Probabilities(says, 1 - says, 0.0), label, cluster)


def calibrated(random: np.random.Generator, n: int) -> list[LabelledItem[Probabilities]]:
    """Claims of a judge whose probabilities are true."""
    return [doubted(p, bool(random.random() < p)) for p in random.beta(0.4, 0.4, n)]


def settled_by(band: Deferral, judgement: LabelledItem[Probabilities]) -> bool:
    probabilities = judgement.said
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
    rows = [doubted(0.95, bool(random.random() < 0.8)) for _ in range(300)]
    rows += [doubted(0.05, is_supported=False) for _ in range(900)]
    pooled, alone = fit_deferral(rows, error=0.1), fit_deferral(rows, error=0.1, each_side=True)
    assert pooled.as_supported.claims == 300
    assert (alone.low, alone.high) == (0.05, 1.0)
    assert (alone.as_supported.claims, alone.as_not_supported.claims) == (0, 900)


def test_what_the_fit_counts_is_what_a_cascade_settles() -> None:
    """Claim by claim, on either side, edges included."""
    random = np.random.default_rng(5)
    rows = [doubted(round(one.said.supported, 3), one.is_supported) for one in calibrated(random, 800)]
    for each_side in (False, True):
        fit = fit_deferral(rows, error=0.15, each_side=each_side)
        band = Deferral(fit.low, fit.high)
        assert fit.settled.claims == sum(settled_by(band, one) for one in rows) > 0
        assert fit.settled.claims == fit.as_supported.claims + fit.as_not_supported.claims
        assert fit.settled.wrong == fit.as_supported.wrong + fit.as_not_supported.wrong
        assert fit.settled.at_most is not None
        assert fit.settled.wrong / fit.settled.claims < fit.settled.at_most < 0.15
