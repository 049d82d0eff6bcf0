"""Components of third parties: objects, functions and entry points get what ours have, and results say what they did."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.protocols import Label, MetricContext, Sample, Score
from everyclaim.testing import JudgeServer, ScriptedChat, play

TOWER = "The Eiffel Tower was built in 1889 in Paris."
ANSWER = "The Eiffel Tower was built in 1889. It is the tallest tower in the world."
GERMAN = "Der Eiffelturm wurde 1889 in Paris gebaut, und er ist der höchste Turm der Welt."


class Share:
    """A metric that knows nothing of policies, outcomes or warnings."""

    def __init__(self) -> None:
        self.parameters = {"colour": "blue"}

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        parts = await ctx.claims(sample.response)
        claims = await ctx.judge(parts.claims, sample.passages)
        right = sum(claim.verdict.label is Label.SUPPORTED for claim in claims)
        return Score(right / len(claims), {"right": right / len(claims)}, {"claims": len(claims)})


def score(metric: Any, response: str = ANSWER, passages: Any = (TOWER,), **options: Any) -> ec.Result:
    return ec.score(response=response, passages=list(passages), metric=metric, **options)


def test_a_metric_object_has_the_claims_components_and_provenance_of_ours() -> None:
    """Without saying anything of them."""
    result = score(Share())
    assert (result.outcome, result.score, dict(result.components)) == ("scored", 0.5, {"right": 0.5})
    assert [claim.verdict.label for claim in result.claims] == ["SUPPORTED", "UNSUPPORTED"]
    assert result.provenance.metric == f"python:{__name__}:Share"
    assert result.provenance.parameters["colour"] == "blue"


def test_warnings_are_the_frameworks() -> None:
    """Of the judge's family, of a language that it does not read, and of missing passages."""
    chat = ScriptedChat(play, spec="openai:gpt-5-mini")
    from everyclaim.verify.llm import LlmVerifier

    related = score(Share(), judge=LlmVerifier(chat), model="gpt-4o")
    assert "same family" in related.warnings[0]
    assert "cannot read" in score(Share(), GERMAN).reason
    assert "no passages, so no claim can be supported" in score(Share(), passages=[]).warnings[0]


@pytest.mark.parametrize("kind", ["async and ctx", "async", "plain and ctx", "plain", "object without ctx", "method"])
def test_plain_functions_are_metrics(kind: str) -> None:
    """With the sample alone or with the context, asynchronous or not."""

    async def both(sample: Sample, ctx: MetricContext) -> float:
        assert ctx.sample is sample
        return 0.25

    async def alone(sample: Sample) -> float:
        return 0.25

    def plain_both(sample: Sample, *, ctx: MetricContext, weight: float = 1.0) -> float:
        assert ctx.sample is sample
        return 0.25 * weight

    def plain(sample: Sample, share: float = 0.25) -> float:
        return share

    class Alone:
        def score(self, sample: Sample) -> float:
            return 0.25

    metrics = {
        "async and ctx": both, "async": alone, "plain and ctx": plain_both, "plain": plain,
        "object without ctx": Alone(), "method": Alone().score,
    }  # fmt: skip
    result = score(metrics[kind])
    assert (result.outcome, result.score) == ("scored", 0.25)
    assert result.provenance.parameters["judge"] == "not asked"


def test_a_metric_whose_numbers_need_the_run_gets_it_at_its_end(tmp_path: Path) -> None:
    """What is stored is what is shown."""

    class Best(Share):
        def over_run(self, results: Any) -> Iterator[ec.Result]:
            from dataclasses import replace

            best = max(result.score for result in results())
            return (replace(result, score=result.score / best, details={"best": best}) for result in results())

    rows = [{"id": str(i), "response": ANSWER, "contexts": [TOWER]} for i in range(3)]
    run = ec.score_file(rows, metric=Best(), store=tmp_path / "runs.db")
    found = ec.find_run(run.id, store=tmp_path / "runs.db")
    assert [(result.score, result.details["best"]) for result in found.results()] == [(1.0, 0.5)] * 3


PLUGIN = """
from everyclaim.protocols import Label, Message, Verdict

class Asking:
    def __init__(self, chat):
        self.chat, self.spec = chat, "asking"

    async def verify(self, claims, passages, *, question=""):
        for claim in claims:
            await self.chat.complete([Message("user", '{"sentences": {"s1": "%s"}}' % claim.id)])
        return [Verdict(claim.id, Label.SUPPORTED) for claim in claims]

class Own:
    spec = "own:model"

    async def complete(self, messages, *, schema=None, tag=""):
        from everyclaim.protocols import ChatReply, Usage
        return ChatReply("yes", "stop", "model", Usage(1, 10, 1))

def asking(spec, chats):
    return Asking(chats.model(f"openai:m?base_url={spec.options['at']}"))

def wrapped(spec, chats):
    return Asking(chats.wrap(Own()))

def alone(spec):
    return Asking(Own())

async def half(sample, ctx):
    await ctx.claims(sample.response)
    return 0.5

def metric(spec):
    return half
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as pip installs it."""
    folder = tmp_path / "site"
    (folder / "asking-1.0.dist-info").mkdir(parents=True)
    (folder / "asking_plugin.py").write_text(PLUGIN)
    (folder / "asking-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: asking\nVersion: 1.0\n")
    names = "asking = asking_plugin:asking\nwrapped = asking_plugin:wrapped\nalone = asking_plugin:alone\n"
    points = f"[everyclaim.verifiers]\n{names}\n[everyclaim.metrics]\nhalf = asking_plugin:metric\n"
    (folder / "asking-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("asking_plugin", None)


def test_a_foreign_language_model_gets_budget_cache_and_usage(plugin: Path, tmp_path: Path) -> None:
    """Through the chat models that its factory is handed."""
    with JudgeServer(play) as server:
        at = server.base_url.replace("/", "%2F").replace(":", "%3A")
        options = {"judge": f"asking?at={at}", "cache": tmp_path / "replies.db"}
        first = ec.score(response=ANSWER, passages=[TOWER], **options)
        assert (first.score, first.usage.calls, server.calls) == (1.0, 2, 2)
        again = ec.score(response=ANSWER, passages=[TOWER], **options)
        assert (again.usage.calls, again.usage.cache_hits, server.calls) == (0, 2, 2)
        with pytest.raises(ec.BudgetExceeded, match="max_calls"):
            ec.score(response=ANSWER, passages=[TOWER], judge=f"asking?at={at}", max_calls=1)
        cascade = ec.score(
            response=ANSWER, passages=[TOWER], judge=f"cascade:lexical>asking?2.at={at}&low=0&high=1", max_calls=9
        )
        assert cascade.usage.calls


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"judge": "alone", "max_calls": 5}, "max_calls needs a language model"),
        ({"judge": "wrapped", "claims_per_call": 4}, "claims_per_call needs a language model"),
        ({"judge": "wrapped", "base_url": "http://localhost:1/v1"}, "base_url needs a language model"),
    ],
)
def test_options_that_would_do_nothing_for_a_foreign_judge_are_refused(
    plugin: Path, options: dict[str, Any], told: str
) -> None:
    """A factory that takes the spec alone reaches models by itself; what only our judges read is theirs."""
    with pytest.raises(ec.ConfigError, match=told):
        ec.score(response=ANSWER, passages=[TOWER], **options)
