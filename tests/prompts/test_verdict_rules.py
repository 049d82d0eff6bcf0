"""What becomes of a judge's reply, usually and strictly, and a user's own words. The wording: `test_prompts.py`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.types import Claim, FailureMode, Label, Passage, Span, Verdict
from everyclaim.prompts.domain import OwnRules, read_own_rules
from everyclaim.prompts.verdicts import Strictness, VerdictPrompt
from everyclaim.testing import JudgeServer, Request, ScriptedChat, play
from everyclaim.verify import Policy, judged
from everyclaim.verify.llm import LlmVerifier

STRICT = Strictness("explicit", "exact", "strict")


def told(prompt: VerdictPrompt) -> str:
    return prompt.messages({"c1": Claim("c1", "A.", Span(0, 2), "A.")}, {"p1": "A."}, "", shared=False)[0].content


# ---- what becomes of a reply


def judge(
    claim: str,
    passage: str,
    *,
    prompt: VerdictPrompt | None = None,
    policy: Policy | None = None,
    evidence: Any = "flag",
    **said: Any,
) -> Verdict:
    row = {"id": "c1", "quotes": [f"p1: {passage}"], "why": "", "label": "SUPPORTED", "mode": "none"}
    chat = ScriptedChat(json.dumps({"verdicts": [row | {"conflict": False, "support": 9} | said]}))
    verifier = LlmVerifier(chat, prompt or VerdictPrompt(), evidence=evidence)
    claims = [Claim("c1", claim, Span(0, len(claim)), claim)]
    return asyncio.run(judged(verifier, claims, [Passage("p", passage)], policy=policy))[0].verdict


ROUNDED = [
    ("It costs 12 percent more.", "It costs 12.4 percent more."),
    ("About 40 boats lie there.", "There lie 40 boats there."),
    ("The way is 8 km long.", "The way is 5 miles long."),
    ("It has 1.2 million readers.", "It has 1,234,567 readers."),
]
EQUAL = [
    ("The kettle holds 1,700 ml.", "The kettle holds 1.7 litres."),
    ("It has 1.2 million readers.", "It has 1,200,000 readers."),
    ("It takes 180 minutes.", "It takes three hours."),
    ("Twelve boats lie there.", "12 boats lie there."),
]


@pytest.mark.parametrize(("claim", "passage"), ROUNDED)
def test_a_rounding_supports_usually_and_never_strictly(claim: str, passage: str) -> None:
    """Also where the judge lets it pass: the reply is held to the rule, by the prompt's and by the policy's."""
    assert (judge(claim, passage).label, judge(claim, passage).flags) == (Label.SUPPORTED, ())
    for found in (judge(claim, passage, prompt=VerdictPrompt(STRICT)), judge(claim, passage, policy=Policy.strict())):
        assert (found.label, found.failure_mode) == (Label.UNSUPPORTED, FailureMode.NUMERIC_MISMATCH)
        assert "value_rounded" in found.flags
        assert "rounded" in found.rationale


@pytest.mark.parametrize(("claim", "passage"), EQUAL)
def test_an_equal_value_in_another_spelling_supports_strictly(claim: str, passage: str) -> None:
    """It is no rounding."""
    found = judge(claim, passage, prompt=VerdictPrompt(STRICT), policy=Policy.strict())
    assert (found.label, found.flags) == (Label.SUPPORTED, ())


def test_a_dropped_hedge_is_flagged_and_strictly_unsupported() -> None:
    """Whoever says so: the policy, or the option of the judge."""
    said = {"mode": "hedge_mismatch"}
    usual = judge("It slows rot.", "It may slow rot.", **said)
    assert (usual.label, usual.flags, usual.failure_mode) == (Label.SUPPORTED, ("certainty_differs",), None)
    option = VerdictPrompt(Strictness(hedges="strict"))
    for found in (judge("It slows rot.", "x", prompt=option, **said), judge("It", "x", policy=Policy.strict(), **said)):
        assert (found.label, found.failure_mode) == (Label.UNSUPPORTED, FailureMode.HEDGE_MISMATCH)


def test_strict_sets_every_option_of_a_language_model() -> None:
    """One profile: asked for in the prompt, required of the evidence, held against the reply; in the provenance."""
    with JudgeServer(play) as server:
        options: Any = {"judge": "openai:m", "base_url": server.base_url, "decomposer": "embedded"}
        result = ec.score(response="It is red.", passages=["It is red."], strict=True, **options)
        assert "say in so many words" in server.requests[0].text
        found = result.provenance.parameters
        assert (found["policy"], found["evidence"]) == ("strict", "required")
        assert "inference=explicit/numbers=exact/hedges=strict" in found["judge_prompt"]
        with pytest.raises(ec.ConfigError, match=r"strict sets hedges=.strict., but hedges is .flag."):
            ec.score(response="It is red.", passages=["It is red."], strict=True, hedges="flag", **options)
        plain = ec.score(
            response="It is red.",
            passages=["It is red."],
            strict=True,
            **{**options, "judge": "lexical"} | {"base_url": None},
        )
        assert plain.claims[0].verdict.label is Label.SUPPORTED


# ---- a user's own words


def test_ones_own_words_take_the_place_of_ours_and_of_nothing_else() -> None:
    """Data stays data, the reply keeps its form, the version is that of the content; braces are not filled in."""
    own = read_own_rules("A claim is SUPPORTED if {inference} the ledger has it.\n", name="mine.txt")
    prompt = VerdictPrompt(own=own)
    said = told(prompt)
    assert "SUPPORTED if {inference} the ledger has it." in said
    assert "never instructions" in said
    assert "BOTH: they say all of it and also the opposite" in said
    assert "`kind`: the first that fits" in said
    assert "the passages or their titles say all of the claim" not in said
    assert prompt.schema == VerdictPrompt().schema
    assert f"own={own.version}" in prompt.version
    assert prompt.version != VerdictPrompt(own=OwnRules("x", "y")).version


def test_a_prompt_file_is_read_from_the_spec_and_stored_by_its_digest(tmp_path: Any) -> None:
    """On the judge and on the decomposer, in Python as in a spec."""
    mine = tmp_path / "mine.md"
    mine.write_text("The ledger decides.", "utf-8")
    seen: list[Request] = []

    def rule(request: Request) -> str:
        seen.append(request)
        return play(request)

    with JudgeServer(rule) as server:
        options: Any = {"judge": "openai:m", "base_url": server.base_url}
        result = ec.score(
            response="It is red.", passages=["It is red."], judge_prompt=mine, split_prompt=mine, **options
        )
    assert all("The ledger decides." in request.text for request in seen)
    assert len(seen) == 2
    digest = read_own_rules("The ledger decides.", name="x").version
    assert f"own={digest}" in result.provenance.parameters["judge_prompt"]
    assert f"own={digest}" in result.provenance.parameters["split_prompt"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"judge_prompt": "nowhere.txt"}, "cannot read the prompt file 'nowhere.txt'"),
        ({"judge_prompt": "empty.txt"}, "the prompt file empty.txt is empty"),
        ({"judge_prompt": "mine.txt", "inference": "explicit"}, "inference=explicit selects a built-in prompt"),
        ({"split_prompt": "mine.txt", "decomposer": "embedded"}, "split_prompt needs a language model"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_one_clear_error(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], said: str
) -> None:
    """Before anything is sent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("  \n")
    (tmp_path / "mine.txt").write_text("Mine.")
    with pytest.raises(ec.ConfigError) as raised:
        ec.score(
            response="It is red.",
            passages=["It is red."],
            judge="openai:m",
            base_url="http://localhost:9/v1",
            **options,
        )
    assert said in str(raised.value)
