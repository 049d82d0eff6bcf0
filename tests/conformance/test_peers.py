"""Cases in which other tools report a wrong number: never here. One test per case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import everyclaim as ec

FACTS = "The pump runs at 9 bar. The tank holds 2 litres. The case is steel. The cord is 1 metre long."
SHEET = "Data sheet: pump pressure 9 bar, tank 2 litres, steel case, cord 1 metre."


@dataclass
class Replies:
    """A judge with one fixed reply, whatever it is asked."""

    verdicts: list[object]
    calls: int = 0
    spec: str = "scripted"

    async def verify(self, claims: Sequence[ec.Claim], passages: Sequence[ec.Passage], *, question: str = "") -> object:
        self.calls += 1
        return self.verdicts


def test_every_claim_merely_borderline_is_not_a_perfect_score() -> None:
    """Not backed by the context means UNSUPPORTED and counts against the score."""
    judge = Replies([ec.Verdict(f"c{i}", ec.Label.UNSUPPORTED) for i in range(1, 5)])
    assert ec.score(response=FACTS, passages=[SHEET], judge=judge).score == 0.0


@pytest.mark.parametrize("verdicts", [[], [ec.Verdict("c1", ec.Label.SUPPORTED)]], ids=["none", "one for four"])
def test_too_few_verdicts_are_a_failure_not_full_marks(verdicts: list[object]) -> None:
    """One verdict for four claims says nothing about the other three."""
    result = ec.score(response=FACTS, passages=[SHEET], judge=Replies(verdicts))
    assert (result.outcome, result.score) == (ec.Outcome.FAILED, None)


@pytest.mark.parametrize("label", [-1, 7, "borderline", "1 if True else 0", None])
def test_a_label_out_of_range_is_neither_supported_nor_evaluated(label: object) -> None:
    """A verdict of −1 is no verdict, and a reply that looks like code is text."""
    judge = Replies([ec.Verdict(f"c{i}", label) for i in range(1, 5)])
    assert ec.score(response=FACTS, passages=[SHEET], judge=judge).outcome is ec.Outcome.FAILED


def test_a_refusal_is_not_a_perfect_answer() -> None:
    """No claims to check gives no number."""
    result = ec.score(response="I cannot answer this from the documents I was given.", passages=[SHEET])
    assert (result.outcome, result.score) == (ec.Outcome.ABSTAINED, None)


@pytest.mark.parametrize(("response", "passages"), [(FACTS, []), ("", [SHEET])], ids=["no contexts", "no response"])
def test_an_empty_side_calls_no_judge(response: str, passages: list[str]) -> None:
    """Nothing to compare with is known without asking."""
    judge = Replies([])
    result = ec.score(response=response, passages=passages, judge=judge)
    assert judge.calls == 0
    assert result.score in (0.0, None)
    assert {c.verdict.label for c in result.claims} <= {ec.Label.UNSUPPORTED}


def test_no_evidence_is_not_full_accuracy() -> None:
    """An answer without retrieved passages is unsupported, claim by claim."""
    result = ec.score(response=FACTS, passages=[])
    assert (result.outcome, result.score) == (ec.Outcome.SCORED, 0.0)
    assert all("no_passages" in c.verdict.flags for c in result.claims)


def test_failed_rows_do_not_vanish_from_the_headline(tmp_path: object) -> None:
    """`n scored / n total` shows what the mean leaves out, and NaN is nowhere."""
    rows = [{"response": FACTS, "contexts": [SHEET]} for _ in range(2)]
    run = ec.score_file(rows, judge=Replies([]), store=f"{tmp_path}/runs.db")
    assert (run.summary.overall.total, run.summary.overall.outcomes["failed"], run.summary.overall.score.value) == (
        2,
        2,
        None,
    )


@pytest.mark.parametrize("strategy", ["joint", "each", "ranked"])
def test_evidence_in_one_of_several_passages_is_enough(strategy: str) -> None:
    """Passages that do not speak of a claim do not make it a hallucination."""
    noise = ["The garden centre opens at nine on weekdays.", "Bicycles may be returned at any station."]
    claim = "The tank of the machine holds 2 litres."
    result = ec.score(response=claim, passages=[*noise, "The tank of the machine holds 2 litres."], strategy=strategy)
    assert result.score == 1.0


@pytest.mark.parametrize("judge", ["embedded", "lexical"])
@pytest.mark.parametrize("strategy", ["joint", "each"])
@pytest.mark.parametrize(
    ("claim", "other", "conflict"),
    [
        ("The tank of the machine holds 2 litres.", "The tank of the machine holds 3 litres.", True),
        ("The warranty lasts 24 months.", "The warranty lasts 12 months.", True),
        ("The library opens at 9 am.", "The library opens at 10 am.", True),
        ("The library opens at 9 am.", "The swimming pool opens at 7 am.", False),
        ("The ladder weighs 12 kg.", "The tool box weighs 8 kg and has three drawers.", False),
        ("Paris is the capital of France.", "Rome is the capital of Italy.", False),
        ("The Eiffel Tower is 330 metres tall.", "Berlin's television tower is 368 metres tall.", False),
        ("Breakfast is served from 7 to 10.", "Dinner is served from 6 to 9 in the evening.", False),
    ],
)
def test_passages_conflict_where_they_differ_on_the_same_thing(judge, strategy, claim, other, conflict) -> None:
    """One passage supports, another states another value: the verdict says both; a passage on another thing does not."""
    verdict = ec.score(response=claim, passages=[other, claim], judge=judge, strategy=strategy).claims[0].verdict
    assert (verdict.label, verdict.conflict) == (ec.Label.SUPPORTED, conflict)
    assert (other in verdict.rationale) == (conflict and strategy == "joint")


def test_braces_in_the_answer_change_no_prompt_and_raise_nothing() -> None:
    """Text that looks like a template is text."""
    response = "Set the field {tank_size} to 2. The tank holds {0} litres, or %(size)s."
    assert ec.score(response=response, passages=[SHEET]).outcome is ec.Outcome.SCORED


def test_another_judge_on_the_same_data_is_another_run(tmp_path: object) -> None:
    """The first judge's verdicts are never given out as the second one's."""
    rows = [{"id": "a", "response": FACTS, "contexts": [SHEET]}]
    store = f"{tmp_path}/runs.db"
    first = ec.score_file(rows, store=store)
    second = ec.score_file(
        rows, store=store, judge=Replies([ec.Verdict(f"c{i}", ec.Label.CONTRADICTED) for i in range(1, 5)])
    )
    assert first.id != second.id
    assert second.summary.overall.score.value == 0.0
    assert {c.verdict.judge for r in second.results() for c in r.claims} == {"scripted"}
