"""How sure a language model is: the scale it is asked for, the chances of its tokens, and what becomes of both."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everyclaim as ec
from everyclaim.core.types import Label, Passage, Probabilities, Verdict
from everyclaim.stats.calibration import fit_platt
from everyclaim.testing import JudgeServer, Request, ScriptedChat, request_data
from everyclaim.testing.script import Step, body
from everyclaim.verify import judged
from everyclaim.verify.composed import Calibrated
from everyclaim.verify.grading import from_scale
from everyclaim.verify.llm import LlmVerifier
from scripted_judge import claim

SHELF = (Passage("p", "The kettle is red. It holds 2 litres."),)


def row(key: str, label: str, support: object, quote: str = "The kettle is red.") -> dict[str, Any]:
    quotes = [] if label == "UNSUPPORTED" else [f"p1: {quote}"]
    why = "" if label == "SUPPORTED" else "so"
    return {"id": key, "quotes": quotes, "why": why, "label": label, "mode": "none", "conflict": False} | {
        "support": support
    }


def verdict_of(*rows: dict[str, Any], **options: Any) -> Verdict:
    """Judge one claim by a model that gives these rows, one each time it is asked."""
    chat = ScriptedChat([json.dumps({"verdicts": [one]}) for one in rows])
    return asyncio.run(judged(LlmVerifier(chat, **options), [claim(1)], SHELF))[0].verdict


def test_a_count_that_speaks_against_its_label_is_hardly_sure_and_said() -> None:
    """The label stands, near one half, with the flag `unsure`."""
    odd = verdict_of(row("c1", "SUPPORTED", 2))
    assert (odd.label, odd.probabilities.supported, "unsure" in odd.flags) == (Label.SUPPORTED, 0.55, True)
    plain = verdict_of(row("c1", "SUPPORTED", 9))
    assert (plain.flags, plain.probabilities.supported) == ((), pytest.approx(9.5 / 11))


@pytest.mark.parametrize("support", [11, -1, 95, 10**12, "95", True])
def test_a_number_out_of_range_is_no_verdict(support: object) -> None:
    """It is asked for once more; `true` is no number, so the verdict is there without probabilities."""
    found = verdict_of(row("c1", "SUPPORTED", support), row("c1", "SUPPORTED", 7))
    if support is True:
        assert (found.probabilities, found.flags) == (None, ("incomplete_verdict",))
    else:
        assert found.probabilities.supported == pytest.approx(7.5 / 11)
    with pytest.raises(ec.JudgeError, match="no usable result"):
        verdict_of(*[row("c1", "SUPPORTED", 95)] * 4)


def test_a_support_whose_quote_is_nowhere_has_a_quarter_of_its_odds() -> None:
    """The label stays flagged as it was; the probability is lower by a stated amount."""
    found = verdict_of(row("c1", "SUPPORTED", 10, quote="The makers say so in their brochure."))
    odds = 10.5 / 0.5 / 4
    assert found.probabilities.supported == pytest.approx(odds / (1 + odds))
    assert sum(found.probabilities) == pytest.approx(1)
    assert found.flags == ("quote_not_found",)


# ---- chances of tokens


def with_tokens(content: str, label: str, other: str) -> Step:
    """Answer in OpenAI's format, with token chances as OpenAI and vLLM give them: 7 to 3 at the label."""
    at = content.index(f'"{label}"') + 1
    parts = [content[:at], label[:3], content[at + 3 :]]
    tokens: list[dict[str, Any]] = [
        {"token": part, "logprob": 0.0, "bytes": list(part.encode()), "top_logprobs": []} for part in parts
    ]
    tokens[1]["logprob"] = math.log(0.7)
    tokens[1]["top_logprobs"] = [
        {"token": label[:3], "logprob": math.log(0.7), "bytes": list(label[:3].encode())},
        {"token": other[:3], "logprob": math.log(0.3), "bytes": None},
    ]
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 10}
    return body({"model": "m", "choices": [choice | {"logprobs": {"content": tokens}}], "usage": usage})


def answer(request: Request, *, tells: bool) -> Step:
    (claim_id,) = request_data(request.messages)["claims"][0]["claims"]
    content = json.dumps(
        {"verdicts": [row(claim_id, "SUPPORTED", 10, quote="It holds 2 litres – naïve.")]}, ensure_ascii=False
    )
    return with_tokens(content, "SUPPORTED", "UNSUPPORTED") if tells and request.body.get("logprobs") else content


def verify(server: JudgeServer, **options: Any) -> Probabilities:
    passages = ["It holds 2 litres – naïve."]
    found = ec.verify_claims("It holds 2 litres.", passages, base_url=server.base_url, **options)
    assert found[0].verdict.probabilities is not None
    return found[0].verdict.probabilities


def test_token_chances_are_asked_for_read_and_kept_in_the_cache(tmp_path: Path) -> None:
    """Over the wire: `logprobs` with the request, 7 to 3 in the verdict, and the same from the cache."""
    cache = str(tmp_path / "replies.db")
    with JudgeServer(lambda request: answer(request, tells=True)) as server:
        options = {"judge": "openai:m", "probabilities": "tokens", "cache": cache}
        found = [verify(server, **options) for _ in range(2)]
        assert (server.requests[0].body["logprobs"], server.requests[0].body["top_logprobs"]) == (True, 5)
        assert server.calls == 1
    assert found[0] == found[1]
    assert found[0].supported == pytest.approx(0.7, abs=0.01)


def test_a_wish_that_no_endpoint_of_the_provider_grants_is_an_error() -> None:
    """Anthropic's format has no token chances; the prompt `nli` has no scale."""
    with pytest.raises(ec.ConfigError, match="returns no token probabilities"):
        ec.verify_claims(
            "It is red.", ["It is red."], judge="anthropic:m?probabilities=tokens&base_url=http://localhost:9"
        )
    with pytest.raises(ec.ConfigError, match="must be one of none, tokens"):
        ec.verify_claims(
            "It is red.", ["x"], judge="openai:m?prompt=nli&probabilities=scale&base_url=http://localhost:9"
        )


def test_a_mapping_fitted_to_labels_makes_rates_of_what_a_model_says() -> None:
    """A model that crowds near 1 is brought down to how often it is right; labels and the order stay."""
    said = [from_scale(Label.SUPPORTED, n).supported for n in (10, 10, 9, 9, 8, 8, 7, 6)] * 20
    truth = [1, 1, 1, 0, 1, 0, 0, 0] * 20
    platt = fit_platt(truth, said)
    rows = [row("c1", "SUPPORTED", 10), row("c2", "SUPPORTED", 7), row("c3", "CONTRADICTED", None)]
    model = LlmVerifier(ScriptedChat(json.dumps({"verdicts": rows})))
    claims = [claim(1), claim(2), claim(3)]
    plain = [one.verdict for one in asyncio.run(judged(model, claims, SHELF))]
    found = [one.verdict for one in asyncio.run(judged(Calibrated(model, platt), claims, SHELF))]
    assert [one.label for one in found] == [one.label for one in plain]
    assert found[2].probabilities is None
    assert found[1].probabilities.supported < 0.5 < found[0].probabilities.supported
    assert all(sum(one.probabilities) == pytest.approx(1) for one in found[:2])
    mean = sum(platt(said)) / len(said)
    assert mean == pytest.approx(0.5, abs=0.02)  # half of the labels say so
    assert "Platt(slope=" in Calibrated(model, platt).parameters["calibration"]
    with pytest.raises(ec.ConfigError, match=r"must map into \[0, 1\]"):
        asyncio.run(judged(Calibrated(model, lambda p: np.asarray(p) * 2), claims, SHELF))
