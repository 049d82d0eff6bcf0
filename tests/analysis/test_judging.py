"""What a summary says of the judges: cascades, panels, repeats."""

import pytest

from everyclaim.analysis.summary import summarise, summary_to_json
from everyclaim.core.types import JudgedClaim, Label, Outcome, Provenance, Result, Span, Usage, Verdict

NOTHING = Usage()
CASCADE = "cascade:lexical>openai:m?2.claims_per_call=4"


def result(name, claims, verifier, *, usage=NOTHING, outcome=Outcome.SCORED, **parameters):
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
            result("a", [FIRST, FIRST, SECOND], CASCADE),
            result("b", [AGREED, DIFFERED, AGREED, (CASCADE, ("no_passages",))], CASCADE),
            result("c", [FIRST, SECOND], CASCADE, outcome=Outcome.FAILED),
        ]
    )
    cascade = summary.judging.cascade
    assert cascade.first == "lexical"
    assert (cascade.settled.value, cascade.settled.n) == (pytest.approx(5 / 6), 6)
    assert (cascade.agreement.value, cascade.agreement.n) == (pytest.approx(2 / 3), 3)
    assert cascade.agreement.low < 2 / 3 < cascade.agreement.high
    assert summary.judging.judges == {CASCADE: 1, "lexical": 2, "openai:m?claims_per_call=4": 4}


def test_what_a_cascade_saved_is_the_spared_answers_by_the_mean_of_the_others():
    """Less what both kinds cost; answers that a cache served tell nothing about cost."""
    asked = [
        result("a", [SECOND], CASCADE, usage=Usage(2, cost=0.05)),
        result("b", [AGREED], CASCADE, usage=Usage(2, cost=0.03)),
    ]
    served = result("c", [SECOND], CASCADE, usage=Usage(0, cache_hits=1, cost=0.0))
    spared = [result(name, [FIRST], CASCADE, usage=Usage(1, cost=0.01)) for name in "defg"]
    cascade = summarise([*asked, served, *spared]).judging.cascade
    assert cascade.spared == 4
    assert cascade.saved == pytest.approx(4 * (0.04 - 0.01))


def test_a_panel_says_how_often_its_judges_disagree():
    """A share of all claims, with its interval."""
    panel = "panel:openai:a|anthropic:b"
    summary = summarise([result(str(i), [(panel, ("disagreement",) if i < 3 else ())] * 2, panel) for i in range(10)])
    assert (summary.judging.disagreement.value, summary.judging.disagreement.n) == (pytest.approx(0.3), 20)
    assert summary.judging.cascade is None


def test_repeats_say_how_often_a_judge_contradicts_itself():
    """The flip rate; without repeats there is none."""
    votes = [("openai:m", ("unstable",)), ("openai:m", ()), ("openai:m", ()), ("openai:m", ())]
    assert summarise([result("a", votes, "openai:m?repeats=3", repeats="3")]).judging.flips.value == 0.25
    assert summarise([result("a", votes, "openai:m", repeats="1")]).judging.flips is None


def test_flips_in_a_cascade_are_of_the_judge_that_votes():
    """What the first judge settled was not asked several times."""
    claims = [FIRST, FIRST, ("openai:m", ("unstable",)), SECOND]
    flips = summarise([result("a", claims, CASCADE, **{"2.repeats": "3"})]).judging.flips
    assert (flips.value, flips.n) == (0.5, 2)


def test_a_lexical_run_has_nothing_to_say_of_its_judges():
    """Everything about models is null, in JSON too; who decided is counted."""
    summary = summarise([result("a", [FIRST], "lexical")])
    assert summary_to_json(summary)["judging"] == {
        "judges": {"lexical": 1},
        "cascade": None,
        "disagreement": None,
        "flips": None,
    }
