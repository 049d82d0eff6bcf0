"""A metric of somebody else's where 0 is the best: everything that calls a score good or bad follows it."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import everyclaim as ec
from everyclaim.analysis.gate import GateStatus, against_baseline, answers_against_bar, gate, worst
from everyclaim.cli.app import run as everyclaim
from everyclaim.protocols import MetricContext, Score
from everyclaim.report.terminal import junit
from everyclaim.store import browsing
from everyclaim.store.store import Store


class UnsupportedShare:
    """Share of the claims that nothing supports; 0 is the best."""

    lower_is_better = True

    async def score(self, sample: ec.Sample, ctx: MetricContext) -> Score:
        claims = await ctx.judge((await ctx.claims(sample.response)).claims)
        return Score(sum(claim.verdict.label is not ec.Label.SUPPORTED for claim in claims) / len(claims))


def judge(claim: ec.Claim, passages: list[str]) -> bool:
    return "true" in claim.text


def rows(bad: int) -> list[dict[str, object]]:
    """Forty answers of four claims, of which the first ones hold this many that nothing supports."""
    return [
        {
            "id": f"a{n:02}",
            "response": "|".join(f"Claim {k} is {'open' if k < min(bad, 4) * (n < 20) else 'true'}" for k in range(4)),
            "contexts": ["Claims."],
        }
        for n in range(40)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lower") / "runs.db"
    for name, bad in (("good", 0), ("bad", 3)):
        ec.score_file(
            rows(bad), metric=UnsupportedShare(), judge=judge, decomposer=lambda text: text.split("|"), store=place,
            name=name,
        )  # fmt: skip
    return place


def test_the_worst_answers_have_the_highest_score(store: Path) -> None:
    """In Python, in the store's lists, and the perfect answer is none of them."""
    run = ec.find_run("bad", store=store)
    assert [one.result.score for one in worst(run.records(), 3)] == [0.75, 0.75, 0.75]
    assert len(worst(run.records(), 40)) == 20
    with Store.open_to_read(str(store)) as kept:
        first = browsing.answers_at(
            kept, run.id, browsing.positions(kept, run.id, browsing.AnswerFilter(order="worst"), 1)
        )
    assert first[0].score == 0.75


def test_comparisons_call_a_rise_a_regression(store: Path) -> None:
    """Of the mean score; the other way round it is an improvement."""
    worse, better = ec.compare("good", "bad", store=store), ec.compare("bad", "good", store=store)
    assert worse.numbers.whole[0].finding.value == "regressed"
    assert better.numbers.whole[0].finding.value == "improved"
    assert "the mean score rose by 37.5 points, from " in worse.sentence
    assert against_baseline(worse).status is GateStatus.FAILED
    assert against_baseline(better).status is GateStatus.PASSED
    assert [delta["word"] for delta in json.loads(json.dumps(worse.to_json()))["whole"][:2]] == ["regressed"] * 2


def test_bars_are_ceilings(store: Path) -> None:
    """A mean above the bar fails, one within it passes; so do single answers, and their test cases."""
    run = ec.find_run("bad", store=store)
    failed = gate(run.summary, 0.2)
    assert (failed.status, "is above the threshold 0.2" in failed.message) == (GateStatus.FAILED, True)
    assert gate(run.summary, 0.5).status is GateStatus.PASSED
    assert gate(run.summary, 0.4, confident=True).status is GateStatus.INCONCLUSIVE
    each = answers_against_bar(run.results(), 0.5)
    assert (each.status, each.message) == (
        GateStatus.FAILED, "20 of 40 scored answers are above the threshold 0.5 per answer",
    )  # fmt: skip
    suite = ET.fromstring(junit(run.results(), each, "bad", bar=0.5))
    assert suite.get("failures") == "21"


def test_reports_name_scores_by_the_direction(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the terminal and as HTML: 0 is the best, and the worst answers start with the highest score."""
    for more in ([], ["--html", str(tmp_path / "run.html")]):
        assert everyclaim(["report", "bad", "--store", str(store), *more]) == 0
    printed, page = capsys.readouterr().out, (tmp_path / "run.html").read_text()
    assert "20 best (≤ 0.1) · 0 good (≤ 0.3) · 0 moderate (≤ 0.5) · 20 worst" in printed
    assert "Worst answers · highest score first" in printed
    assert "0 is best." in page
    assert "Highest score first;" in page
    assert 'title="quality: low">0.750<' in page


def test_runs_with_another_metric_are_compared_only_on_request(store: Path) -> None:
    """The message names the metric, and no judge as a cause."""
    other = ec.score_file(rows(0), judge=judge, decomposer=lambda text: text.split("|"), store=store)
    with pytest.raises(ec.ConfigError, match="different settings, which may cause differences: metric") as refused:
        ec.compare("good", other, store=store)
    assert " judge " not in str(refused.value)
