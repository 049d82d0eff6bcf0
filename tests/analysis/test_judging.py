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


def test_a_panel_says_how_often_its_judges_disagree():
    """A share of all claims, with its interval."""
    panel = "panel:openai:a|anthropic:b"
    summary = summarise([result(str(i), [(panel, ("disagreement",) if i < 3 else ())] * 2, panel) for i in range(10)])
    assert (summary.judging.disagreement.value, summary.judging.disagreement.n) == (pytest.approx(0.3), 20)
    assert summary.judging.cascade is None


def test_a_lexical_run_has_nothing_to_say_of_its_judges():
    """Everything about models is null, in JSON too; who decided is counted."""
    summary = summarise([result("a", [FIRST], "lexical")])
    assert summary_to_json(summary)["judging"] == {
        "judges": {"lexical": 1},
        "cascade": None,
        "disagreement": None,
        "flips": None,
    }
