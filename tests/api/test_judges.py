"""Specs → judges, and whole scores through a real provider on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.api.session import Session
from everyclaim.api.specs import create_verifier
from everyclaim.core.spec import Spec
from everyclaim.testing import JudgeServer, play

ANSWER = "The kettle is red. It holds 9 litres. Do you want it?"
SHELF = ["The kettle is red. It holds 2 litres."]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


@pytest.fixture
def server() -> object:
    with JudgeServer(lambda request: play(request.messages)) as running:
        yield running


def openai(server: JudgeServer, options: str = "") -> str:
    return f"openai:some-model?base_url={server.base_url}{options}"


def test_two_calls_per_sample_by_default(server: JudgeServer) -> None:
    """One to split and one to judge, by the same model; the result says what they took."""
    result = ec.score(response=ANSWER, passages=SHELF, judge=openai(server))
    assert (result.outcome, result.score, server.calls) == (ec.Outcome.SCORED, 0.5, 2)
    assert result.usage.calls == 2
    assert result.usage.cost is None  # no price is known for this model
    assert result.provenance.decomposer == result.provenance.verifier == str(Spec.parse(openai(server)))
    assert result.provenance.parameters["judge_prompt"].startswith("verdict-10")


def test_a_file_scored_again_is_not_paid_for_again(server: JudgeServer, tmp_path: Path) -> None:
    """With a cache the second run makes no call at all and gives the same scores."""
    rows = [{"id": str(i), "response": f"The kettle number {i} is red.", "contexts": SHELF} for i in range(20)]
    with ec.Evaluator(judge=openai(server), cache=tmp_path / "cache.db") as evaluator:
        first = evaluator.score_file(rows, store=tmp_path / "a.db")
        assert (first.summary.overall.outcomes["scored"], server.calls) == (20, 40)
        again = evaluator.score_file(rows, store=tmp_path / "b.db")
        assert server.calls == 40
        assert [r.score for r in again.results()] == [r.score for r in first.results()]
        assert {r.usage.cache_hits for r in again.results()} == {2}
        assert (evaluator.usage.calls, evaluator.usage.cache_hits) == (40, 40)


def test_a_cascade_asks_the_model_only_where_the_lexical_judge_is_in_doubt(server: JudgeServer) -> None:
    """Split by the embedded decomposer, so nothing else is sent."""
    spec = f"cascade:lexical>openai:m?2.base_url={server.base_url}&audit=0&low=0&high=0"
    result = ec.score(response=ANSWER, passages=SHELF, judge=spec)
    assert (result.outcome, server.calls) == (ec.Outcome.SCORED, 0)
    doubtful = ec.score(response=ANSWER, passages=SHELF, judge=spec.replace("high=0", "high=1"))
    assert server.calls == 1
    assert {c.verdict.judge.partition(":")[0] for c in doubtful.claims} <= {"lexical", "openai"}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai:m?claims_per_call=0", "claims_per_call of 'openai' must be a whole number from 1 to 1,000, got 0"),
        ("openai:m?inference=some", "inference of 'openai' must be one of allowed, explicit, got 'some'"),
        ("openai:m?prompt=nli&hedges=strict", "unknown option 'hedges' of a judge with the prompt 'nli'"),
        ("openai:m?btach=3", "unknown option 'btach'"),
        ("openai:m?batch=3", "unknown option 'batch' of 'openai': it is now called 'claims_per_call'"),
        ("openai:m?max_tokens=3", "unknown option 'max_tokens' of 'openai:m': it is now called 'reply_tokens'"),
        ("openai:", "needs a model name"),
        ("cascade:lexical", "a cascade needs two judges"),
        ("cascade:lexical>openai:m?low=x", "low of 'cascade' must be a number from 0 to 1, got 'x'"),
        ("cascade:lexical>openai:m?claims_per_call=3", "as in '2.claims_per_call'"),
        ("panel:openai:a", "a panel needs two judges"),
    ],
)
def test_a_wrong_spec_is_one_clear_error(spec: str, says: str) -> None:
    """It names the option and the value, and says what may be."""
    with pytest.raises(ec.ConfigError) as raised:
        create_verifier(spec)
    assert says in str(raised.value)


def test_a_domain_file_changes_the_prompts_version(tmp_path: Path) -> None:
    """By its content; judge and decomposer share it."""
    file = tmp_path / "medical.toml"
    file.write_text('[verify]\nrules = "A dose needs its route."\n', "utf-8")
    metric = Session({"judge": f"openai:m?domain={file}"}).metric
    parameters = metric.provenance.parameters
    assert parameters["judge_prompt"].partition("+")[2] == parameters["split_prompt"].partition("+")[2] != ""
