"""Metrics for Prometheus: what they count, in real text of the real client, within bounds, and from several processes."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from streams import answer, failed

import everyclaim as ec
from everyclaim.core.events import AnswerGuarded, QueueChanged, ScoringEnded
from everyclaim.core.types import Sample
from everyclaim.monitor import Metrics
from everyclaim.testing import JudgeServer, no_sleep, play, refused_url
from loopback_server import free_port

ROWS = [
    {"id": "a", "response": "The unit weighs 9 kg.", "contexts": ["The unit weighs 9 kg."], "release": "v1", "source": "web"},
    {"id": "b", "response": "The unit weighs 7 kg.", "contexts": ["The unit weighs 9 kg."], "release": "v2", "source": "pdf"},
    {"id": "c", "response": "I do not know.", "contexts": ["The unit weighs 9 kg."], "release": "v2", "source": "pdf"},
]  # fmt: skip
SAMPLE = Sample("s", "x")


def counted(text: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample of an exposition, by name and label values in order of the labels' names."""
    families = text_string_to_metric_families(text.decode("utf-8"))
    return {
        (one.name, tuple(value for _, value in sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
        if not one.name.endswith("_created")
    }


def scored(metrics: Metrics, *results: ec.core.types.Result) -> None:
    for result in results:
        metrics(ScoringEnded(SAMPLE, result, 0.2))


def test_an_evaluator_counts_answers_claims_and_scores(tmp_path: Path) -> None:
    """One option, and the text that Prometheus reads; of a file as of single answers, in a registry of its own."""
    metrics, other = Metrics(slices=["source"]), Metrics()
    with ec.Evaluator(observe=metrics) as evaluator:
        evaluator.score_file(ROWS, store=tmp_path / "runs.db", slices=["source"])
        evaluator.score(ROWS[0])
    found = counted(metrics.render())
    assert found["everyclaim_answers_total", ("scored", "v1")] == 2
    assert found["everyclaim_answers_total", ("abstained", "v2")] == 1
    assert found["everyclaim_claims_total", ("SUPPORTED", "v1")] == 2
    assert found["everyclaim_claims_total", ("CONTRADICTED", "v2")] == 1
    assert found["everyclaim_failing_claims_total", ("numeric_mismatch", "v2")] == 1
    assert found["everyclaim_slice_claims_total", ("CONTRADICTED", "source", "pdf")] == 1
    assert found["everyclaim_answer_score_count", ("v1",)] == 2
    assert found["everyclaim_answer_score_sum", ("v2",)] == 0
    assert found["everyclaim_score_seconds_count", ("scored",)] == 3
    assert found["everyclaim_in_progress", ()] == 0
    assert b"python_info" not in metrics.render()
    assert ("everyclaim_answers_total", ("scored", "v1")) not in counted(other.render())


def test_what_goes_wrong_first_is_a_rise_and_no_beginning() -> None:
    """Prometheus' increase() begins where a series does: each that a release can have is there with its first answer."""
    metrics = Metrics()
    with ec.Evaluator(observe=metrics) as evaluator:
        evaluator.score(ROWS[0])
        before = counted(metrics.render())
        evaluator.score(ROWS[1] | {"release": "v1"})
        evaluator.score(ROWS[0] | {"response": "The unit may glow in the dark."})
    after = counted(metrics.render())
    of_releases = {series for series in after if "v1" in series[1]}
    assert of_releases - set(before) == set()
    assert before["everyclaim_claims_total", ("CONTRADICTED", "v1")] == 0
    assert before["everyclaim_failing_claims_total", ("numeric_mismatch", "v1")] == 0
    assert before["everyclaim_answers_total", ("failed", "v1")] == 0
    assert after["everyclaim_claims_total", ("CONTRADICTED", "v1")] == 1


def test_a_language_model_s_calls_tokens_cost_cache_and_errors_are_counted(tmp_path: Path) -> None:
    """A price per token, replies from the cache, and an endpoint that is not there."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[openai.models]\nm = { input = 1.0, output = 2.0 }\n", "utf-8")
    metrics = Metrics()
    with JudgeServer(play) as server:
        options = {"judge": "openai:m", "base_url": server.base_url, "cache": tmp_path / "r.db", "prices": prices}
        with ec.Evaluator(observe=metrics, **options) as evaluator:
            evaluator.score(ROWS[0])
            evaluator.score(ROWS[0])
            usage = evaluator.usage
    with (
        no_sleep(),
        ec.Evaluator(observe=[metrics], judge="openai:m", base_url=refused_url(), decomposer="embedded") as broken,
    ):
        assert broken.score(ROWS[0]).score is None
    found = counted(metrics.render())
    calls = {labels[2]: value for (name, labels), value in found.items() if name == "everyclaim_judge_calls_total"}
    assert calls["answered"] == usage.calls
    assert calls["cached"] == usage.cache_hits > 0
    assert found["everyclaim_judge_tokens_total", ("prompt", "openai:m")] == usage.prompt_tokens
    assert found["everyclaim_judge_cost_dollars_total", ("openai:m",)] == pytest.approx(usage.cost)
    errors = {labels for name, labels in found if name == "everyclaim_judge_errors_total"}
    failures = {labels for name, labels in found if name == "everyclaim_failures_total"}
    assert {code for code, _ in errors} == {code for (code,) in failures} != set()
    assert found["everyclaim_answers_total", ("failed", "v1")] == 1


def test_a_failure_is_in_no_rate_and_what_a_guard_refused_is_no_answer() -> None:
    """Failures count by code; drafts and given claims as checks; of guards the answer that was shown."""
    metrics = Metrics()
    scored(metrics, failed(1, "rate_limited: wait"), answer(2, 1, 4))
    metrics(ScoringEnded(SAMPLE, answer(3, 4, 4), 0.1, "draft"))
    metrics(AnswerGuarded(answer(4, 0, 3), validated=True, refused=False, checks=2))
    metrics(AnswerGuarded(answer(5, 5, 5), validated=False, refused=True, checks=2))
    metrics(QueueChanged("jobs", 7))
    found = counted(metrics.render())
    assert found["everyclaim_failures_total", ("rate_limited",)] == 1
    assert found["everyclaim_claims_total", ("CONTRADICTED", "v1")] == 1
    assert found["everyclaim_claims_total", ("SUPPORTED", "v1")] == 6
    assert found["everyclaim_other_checks_total", ("scored", "draft")] == 1
    assert found["everyclaim_guarded_answers_total", ("refused",)] == 1
    assert found["everyclaim_queue", ("jobs",)] == 7
    given = Metrics()
    with ec.Evaluator(observe=given) as evaluator:
        evaluator.verify_file([{"id": "1", "claim": "It is 7 kg.", "contexts": ["It is 9 kg."]}], lambda _: None)
    found = counted(given.render())
    assert found["everyclaim_other_checks_total", ("scored", "claims")] == 1
    assert not [name for name, _ in found if name == "everyclaim_answers_total"]


def test_labels_without_end_are_folded_and_it_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """A thousand releases are twenty and the rest; no count is lost; one warning, and a counter."""
    metrics = Metrics(slices=["user"])
    with caplog.at_level(logging.WARNING):
        scored(metrics, *(answer(i, 0, 1, release=f"build-{i}", tags={"user": f"u{i}"}) for i in range(1000)))
    found = counted(metrics.render())
    answers = {labels: value for (name, labels), value in found.items() if name == "everyclaim_answers_total"}
    assert len([1 for labels in answers if "scored" in labels]) == 21
    assert answers["scored", "other"] == 980
    assert len([1 for name, _ in found if name == "everyclaim_slice_claims_total"]) <= 3 * 51
    assert found["everyclaim_folded_labels_total", ("release",)] > 0
    assert len(metrics.render()) < 200_000
    assert sorted(record.message.split("'")[1] for record in caplog.records) == ["release", "value"]


CHILD = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
from streams import answer
from everyclaim.core.events import ScoringEnded
from everyclaim.core.types import Sample
from everyclaim.monitor import Metrics
metrics = Metrics()
metrics(ScoringEnded(Sample("s", "x"), answer(1, 1, 4), 0.1))
if len(sys.argv) > 2:
    sys.stdout.buffer.write(metrics.render())
"""


@pytest.mark.slow
def test_several_processes_are_rendered_together(tmp_path: Path) -> None:
    """As workers of a service are, through the folder that prometheus_client wants."""
    env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    run = [sys.executable, "-c", CHILD, str(Path(__file__).parent)]
    for _ in range(2):
        subprocess.run(run, env=env, check=True)
    done = subprocess.run([*run, "render"], env=env, check=True, stdout=subprocess.PIPE)
    found = counted(done.stdout)
    assert found["everyclaim_answers_total", ("scored", "v1")] == 3
    assert found["everyclaim_answer_score_count", ("v1",)] == 3


def test_a_spec_serves_a_port_or_keeps_a_file(tmp_path: Path) -> None:
    """`prometheus:PORT` on loopback for as long as the evaluator is open; `prometheus:FILE.prom` for the textfile collector."""
    port = free_port()
    with ec.Evaluator(observe=[f"prometheus:{port}", f"prometheus:{tmp_path / 'm.prom'}?slices=source"]) as evaluator:
        evaluator.score(ROWS[1])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
            found = counted(reply.read())
        with pytest.raises(ec.OperatorError, match=f"127.0.0.1:{port}"):  # it is taken
            ec.Evaluator(observe=f"prometheus:{port}")
    assert found["everyclaim_answers_total", ("scored", "v2")] == 1
    assert counted((tmp_path / "m.prom").read_bytes())["everyclaim_answers_total", ("scored", "v2")] == 1
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("prometheus", "needs a port"),
        ("prometheus:70000", "needs a port"),
        ("prometheus:9464?max_releases=0", "at least 1"),
        ("prometheus:9464?slice=a", "slices"),
        ("prometheus:/nowhere/m.prom", "cannot write the metrics"),
        ("promethues:9464", "prometheus"),
        ("otel:localhost:4318", "http://localhost:4318"),
        (["otel:ftp://x"], "http://localhost:4318"),
        *((wrong, ".") for wrong in (Metrics, 5, [5], {"prometheus": 9464}, "", ["prometheus:9464", ""])),
    ],
)
def test_a_wrong_spec_is_refused_when_the_evaluator_is_made(spec: object, told: str) -> None:
    """Before anything is scored and paid for."""
    with pytest.raises(ec.EveryclaimError, match=told):
        ec.Evaluator(observe=spec)
