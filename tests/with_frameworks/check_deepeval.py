"""The integration with DeepEval, held against an installed DeepEval. Run by ``make integrations``."""

from __future__ import annotations

import os

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
}

import pytest
from deepeval import assert_test, evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase
from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG, Away

import everyclaim as ec
from everyclaim.integrations.deepeval import FaithfulnessMetric


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """It writes files where it runs."""
    monkeypatch.chdir(tmp_path)


def case(answer: str) -> LLMTestCase:
    return LLMTestCase(input=QUESTION, actual_output=answer, retrieval_context=PASSAGES)


def run(answers: list[str], metric: FaithfulnessMetric, *, is_async: bool = True, ignore: bool = False):
    return evaluate(
        [case(answer) for answer in answers],
        [metric],
        async_config=AsyncConfig(run_async=is_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
        error_config=ErrorConfig(ignore_errors=ignore),
    ).test_results


@pytest.mark.parametrize("is_async", [True, False])
def test_it_is_a_metric_of_their_evaluate(is_async: bool) -> None:
    """A score, the failing claims as reason, success from the threshold on; what has no score is skipped."""
    found = sorted(run([GOOD, WRONG, SHY], FaithfulnessMetric(), is_async=is_async), key=lambda one: one.actual_output)
    shy, good, wrong = found
    assert [(one.metrics_data[0].score, one.metrics_data[0].success) for one in (good, wrong)] == [
        (1.0, True),
        (0.0, False),
    ]
    assert good.metrics_data[0].name == "Faithfulness (everyclaim)"
    assert WRONG in wrong.metrics_data[0].reason
    assert [(one.score, one.success) for one in shy.metrics_data or ()] in ([], [(None, None)])
    assert shy.success is not False


def test_it_is_a_metric_of_their_assertions() -> None:
    """A wrong answer fails a test."""
    assert_test(case(GOOD), [FaithfulnessMetric()])
    with pytest.raises(AssertionError, match="Faithfulness"):
        assert_test(case(WRONG), [FaithfulnessMetric(threshold=0.5)])


def test_a_judge_that_is_away_is_an_error_and_no_score() -> None:
    """Raised, or an error of the test case where errors are to be ignored."""
    metric = FaithfulnessMetric(judge=Away())
    with pytest.raises(ec.JudgeError, match="the judge is away"):
        metric.measure(case(GOOD))
    assert metric.score is None
    found = run([GOOD], FaithfulnessMetric(judge=Away()), ignore=True)[0].metrics_data[0]
    assert (found.score, found.success) == (None, False)
    assert "the judge is away" in found.error
