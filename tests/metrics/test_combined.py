"""The combined metric: a weighted mean in which a missing part never counts as 0."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everyclaim as ec
from everyclaim.core.types import Provenance
from everyclaim.engine import score_sample
from everyclaim.metrics.assembled import Assembled
from everyclaim.metrics.context import Parts
from everyclaim.metrics.faithfulness import Combined, CombinedPart, Missing

MADE_BY = Provenance("m", "d", "v", "joint", "0")
NOTHING = Parts(None, SimpleNamespace(spec="none"), MADE_BY)
ANSWER = "The Eiffel Tower was built in 1889. It is the tallest tower in the world."
SCORES = st.floats(0, 1)
WEIGHTS = st.floats(0.01, 100)


@dataclass(frozen=True)
class Said:
    """A metric that says this: a score, an outcome, or an error."""

    found: float | ec.Outcome | Exception
    provenance: Provenance = MADE_BY

    async def score(self, sample: ec.Sample) -> ec.Result:
        if isinstance(self.found, Exception):
            raise self.found
        if isinstance(self.found, ec.Outcome):
            return ec.Result.of(sample, MADE_BY, self.found, reason=f"it is {self.found}")
        return ec.Result.of(sample, MADE_BY, ec.Outcome.SCORED, self.found)


def score(missing: Missing = "reweight", **parts: tuple[object, float]) -> ec.Result:
    metric = Combined({name: CombinedPart(Said(found), weight) for name, (found, weight) in parts.items()}, missing)
    return asyncio.run(score_sample(Assembled(metric, NOTHING), ec.Sample("1", ANSWER)))


@given(st.lists(st.tuples(SCORES, WEIGHTS), min_size=1, max_size=4))
def test_the_score_is_the_weighted_mean_and_lies_between_its_parts(parts: list[tuple[float, float]]) -> None:
    """Whatever the weights add up to."""
    result = score(**{f"m{i}": part for i, part in enumerate(parts)})
    mean = sum(s * w for s, w in parts) / sum(w for _, w in parts)
    assert result.score == pytest.approx(mean)
    assert min(s for s, _ in parts) - 1e-9 <= result.score <= max(s for s, _ in parts) + 1e-9
    assert list(result.components.values()) == [s for s, _ in parts]


@pytest.mark.parametrize("gone", [ec.JudgeError("timeout", "no answer"), ec.Outcome.NO_CLAIMS, ec.Outcome.ABSTAINED])
def test_a_missing_part_gives_its_weight_to_the_others_and_a_warning_says_so(gone: object) -> None:
    """0.4 and 0.3 become 4/7 and 3/7: not the mean with a 0 in it."""
    result = score(claim=(1.0, 0.4), nli=(0.5, 0.3), qa=(gone, 0.3))
    assert result.score == pytest.approx((0.4 + 0.15) / 0.7)
    assert result.components == {"claim": 1.0, "nli": 0.5, "qa": None}
    assert "qa (" in result.warnings[0]
    assert "claim 0.571, nli 0.429" in result.warnings[0]
    shown = result.details["parts"]
    assert shown["qa"]["outcome"] in {"failed", "no_claims", "abstained"}
    assert [shown[name]["share"] for name in ("claim", "nli", "qa")] == pytest.approx([4 / 7, 3 / 7, 0])


def test_with_fail_a_missing_part_makes_the_sample_failed() -> None:
    """With the part's own reason."""
    for gone in (ec.JudgeError("timeout", "no answer"), ec.Outcome.NO_CLAIMS):
        result = score("fail", claim=(1.0, 0.4), qa=(gone, 0.3))
        assert (result.outcome, result.score) == ("failed", None)
        assert result.reason.startswith("missing_component: ")
        assert "qa: " in result.reason


@pytest.mark.parametrize("missing", ["reweight", "fail"])
def test_when_no_part_has_a_score_the_outcome_is_theirs(missing: Missing) -> None:
    """A failure among them is a failure; else the answer abstained, or had no claims."""
    none, abstained, failed = ec.Outcome.NO_CLAIMS, ec.Outcome.ABSTAINED, ec.JudgeError("timeout", "no answer")
    assert score(missing, a=(none, 1), b=(none, 1)).outcome == "no_claims"
    result = score(missing, a=(none, 1), b=(abstained, 1))
    assert (result.outcome, result.reason, result.score) == ("abstained", "it is abstained", None)
    result = score(missing, a=(none, 1), b=(failed, 1))
    assert (result.outcome, result.reason) == (
        "failed",
        "missing_component: combined needs all of its parts, but b: timeout: no answer",
    )


def test_a_part_of_weight_0_is_not_run() -> None:
    """It cannot fail, and it is no component."""
    result = score(claim=(0.5, 1), qa=(RuntimeError("never asked"), 0))
    assert (result.score, dict(result.components), result.warnings) == (0.5, {"claim": 0.5}, ())
