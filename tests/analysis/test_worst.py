"""The worst answers, in order."""

from everyclaim.analysis.gate import worst
from everyclaim.core.protocols import Kept
from everyclaim.core.types import JudgedClaim, Label, Outcome, Provenance, Result, Sample, Span, Verdict

LETTERS = {"s": Label.SUPPORTED, "u": Label.UNSUPPORTED, "c": Label.CONTRADICTED}


def answer(name, labels, *, conflict=False, outcome=Outcome.SCORED, probability=None):
    claims = tuple(
        JudgedClaim(f"c{i}", "claim", Span(0, 1), "s", Verdict(f"c{i}", LETTERS[letter], conflict=conflict))
        for i, letter in enumerate(labels)
    )
    score = labels.count("s") / len(labels) if outcome is Outcome.SCORED else None
    return Result(name, outcome, score, Provenance("m", "d", "v", "each", "0"), claims=claims, probability=probability)


def kept(*results):
    return [Kept(place, "", Sample(result.id, "text"), result) for place, result in enumerate(results)]


def ids(records):
    return [record.result.id for record in records]


def test_lowest_score_first_then_most_contradicted_then_input_order():
    """Equal scores are told apart by contradictions, then by place in the input."""
    results = kept(answer("half", "su"), answer("half-c", "sc"), answer("none", "uu"), answer("half-2", "su"))
    assert ids(worst(results, 10)) == ["none", "half-c", "half", "half-2"]
    assert ids(worst(results, 2)) == ["none", "half-c"]
    assert ids(worst(reversed(results), 10)) == ["none", "half-c", "half", "half-2"]


def test_the_probability_of_the_answer_counts_before_its_score():
    """A claim that the judge is unsure of is no reason to look first; an answer without a probability goes by score."""
    results = kept(
        answer("unsure", "u", probability=0.4), answer("sure", "ssssc", probability=0.02), answer("bare", "suuu"),
        answer("fine", "ss", probability=0.01),
    )  # fmt: skip
    assert ids(worst(results, 10)) == ["sure", "bare", "unsure"]


def test_faultless_and_unscored_answers_are_never_among_the_worst():
    """Only answers with a finding are shown; a conflict is one."""
    results = kept(
        answer("fine", "ss"),
        answer("torn", "ss", conflict=True),
        answer("failed", "uu", outcome=Outcome.FAILED),
    )
    assert ids(worst(results, 10)) == ["torn"]
