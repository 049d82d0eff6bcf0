"""The gate: what decides, and in which order; and the worst answers."""

from dataclasses import replace

from everyclaim.analysis.gate import GateStatus, gate, worst
from everyclaim.analysis.summary import summarise
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result, Sample
from scored_runs import PROVENANCE, claim, lettered


def run(scores=(), failed=0, empty=0):
    results = [Result(f"s{i}", Outcome.SCORED, score, PROVENANCE) for i, score in enumerate(scores)]
    results += [Result(f"f{i}", Outcome.FAILED, None, PROVENANCE, reason="timeout: x") for i in range(failed)]
    results += [Result(f"e{i}", Outcome.NO_CLAIMS, None, PROVENANCE) for i in range(empty)]
    return summarise(results)


def test_a_mean_on_the_bar_passes_and_one_below_fails():
    """The bar itself is good enough, also when the mean is a rounding below it."""
    assert gate(run([0.9] * 40), 0.9).status is GateStatus.PASSED
    assert gate(run([0.8, 1.0] * 40), 0.9).status is GateStatus.PASSED
    assert gate(run([0.89] * 40), 0.9).status is GateStatus.FAILED


def test_nothing_scored_is_inconclusive_against_a_bar_and_fine_without_one():
    """No number is neither above nor below the bar."""
    assert gate(run(empty=3), 0.9).status is GateStatus.INCONCLUSIVE
    assert gate(run(empty=3)).status is GateStatus.PASSED


def test_of_several_gates_each_is_reported():
    """The gravest decides and comes first; what the others say follows with its own word."""
    summary = run([1.0, 0.4] * 20)
    found = gate(summary, 0.9, max_contradicted=0.5)
    assert found.status is GateStatus.FAILED
    first, second = found.message.splitlines()
    assert first.startswith("failed: mean score")
    assert second.startswith("inconclusive: no claim was judged")
    assert [part.status for part in found.parts] == [GateStatus.FAILED, GateStatus.INCONCLUSIVE]


def kept(*results):
    return [Kept(place, "", Sample(result.id, "text"), result) for place, result in enumerate(results)]


def ids(records):
    return [record.result.id for record in records]


def test_lowest_score_first_then_most_contradicted_then_input_order():
    """Equal scores are told apart by contradictions, then by place in the input."""
    results = kept(lettered("su", "half"), lettered("sc", "half-c"), lettered("uu", "none"), lettered("su", "half-2"))
    assert ids(worst(results, 10)) == ["none", "half-c", "half", "half-2"]
    assert ids(worst(results, 2)) == ["none", "half-c"]
    assert ids(worst(reversed(results), 10)) == ["none", "half-c", "half", "half-2"]


def test_the_score_of_an_answer_counts_before_its_probability():
    """The column that a reader sees is in order; equal scores go by probability."""
    results = kept(
        lettered("u", "unsure", probability=0.4), lettered("ssssc", "sure", probability=0.02),
        lettered("suuu", "bare"), lettered("ss", "fine", probability=0.01), lettered("u", "surer", probability=0.1),
    )  # fmt: skip
    assert ids(worst(results, 10)) == ["surer", "unsure", "bare", "sure"]


def test_faultless_and_unscored_answers_are_never_among_the_worst():
    """Only answers with a finding are shown; a conflict is one."""
    torn = replace(lettered("ss", "torn"), claims=(claim(1, "x", Label.SUPPORTED, conflict=True),))
    results = kept(lettered("ss", "fine"), torn, replace(lettered("uu"), outcome=Outcome.FAILED, score=None))
    assert ids(worst(results, 10)) == ["torn"]
