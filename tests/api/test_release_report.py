"""A release against the one before: named on samples, over runs or inside one, and the rule for taking it back."""

import json
import random
import re
from pathlib import Path

import pytest

import everyclaim as ec

BAD, INVENTED = "It holds 9 litres", "It was the first of its kind"
LABELS = {BAD: "CONTRADICTED", INVENTED: "UNSUPPORTED"}


def judge(claim: ec.Claim, passages: list[ec.Passage]) -> str:
    return LABELS.get(claim.text, "SUPPORTED")


def split(response: str) -> list[str]:
    return response.split("|")


def rows(
    release: str, bad: float, *, seed: int, day: int | None = None, answers: int = 120, claim: str = BAD
) -> list[dict[str, object]]:
    """Answers of four claims, of which this share is contradicted, or whatever `claim` is."""
    draw = random.Random(seed)
    found = []
    for number in range(answers):
        claims = [claim if draw.random() < bad else f"It is kettle {number} {place}" for place in range(4)]
        row: dict[str, object] = {"id": f"{release}-{seed}-{number}", "response": "|".join(claims)}
        row |= {"contexts": ["It holds 2 litres."], "release": release, "source": "web" if number % 2 else "shop"}
        if day is not None:
            row["timestamp"] = f"2026-03-{day + number // 20:02d}T12:00:00Z"
        found.append(row)
    return found


def score(data: list[dict[str, object]], store: Path, name: str) -> None:
    ec.score_file(data, judge=judge, decomposer=split, store=store, name=name, slices=["source"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def test_a_worse_mean_without_a_shown_rise_is_watched(store: Path) -> None:
    """Four answers got an invention and four a contradiction: neither rate rises beyond chance, their mean falls."""
    before = [{**row, "id": str(n), "release": "v1"} for n, row in enumerate(rows("v1", 0, seed=1, answers=40))]
    worse = [
        {**row, "release": "v2", "response": row["response"] + f"|{(BAD, INVENTED)[n % 2]}" * (n < 8)}
        for n, row in enumerate(before)
    ]
    score(before, store, "before")
    score(worse, store, "after")
    found = ec.release_report(["before", "after"], store=store)
    assert (found.rule.verdict, found.comparison.advice) == ("watch", found.rule.sentence)
    assert found.rule.sentence.startswith("Watch v2: its mean score is significantly worse than that of v1")


@pytest.mark.slow
def test_a_release_that_only_invents_is_taken_back(store: Path) -> None:
    """Unsupported claims rose and contradicted ones did not; compare, the report and the trend say the same of it."""
    for name, release, share in (("before", "v1", 0.02), ("monday", "v2", 0.2), ("tuesday", "v2", 0.2)):
        score(rows(release, share, seed=len(name) + ord(name[0]), claim=INVENTED), store, name)
    found = ec.release_report(["before", "monday", "tuesday"], store=store)
    assert (found.rule.verdict, found.rule.measure.name) == ("roll back", "unsupported")
    assert (
        "Roll v2 back to v1: its rate of unsupported claims is higher in each of its last 2 parts"
        in found.rule.sentence
    )
    trend = ec.trend(["before", "monday", "tuesday"], store=store)
    assert trend.rule is not None
    assert trend.advice.startswith("Roll tuesday back to before: its rate of unsupported claims is higher")
    first = ec.release_report(["before", "monday"], store=store)
    named = first.rule.sentence.replace("v2", "monday").replace("v1", "before")
    assert ec.compare("before", "monday", store=store).advice == named
    assert first.rule.sentence.startswith("Watch v2: its newest answers have a higher rate of unsupported claims")


def test_it_is_written_as_page_as_markdown_and_as_json(store: Path, tmp_path: Path) -> None:
    """The page loads nothing; hostile ids and claims are text in all of them."""
    before, after = rows("v1", 0.02, seed=1), rows("v2", 0.2, seed=1)
    for old, new in zip(before, after, strict=True):
        new["id"] = old["id"] = f"{old['id']}<script>alert(1)</script>|*x*"
    score(before, store, "before")
    score(after, store, "after")
    found = ec.release_report(["before", "after"], store=store)
    for name in ("page.html", "page.md", "page.json"):
        found.write(tmp_path / name)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Keep, watch or roll back" in page
    assert "By source + failure mode" in page
    assert "<script>alert" not in page
    assert not re.search(r"(?:src|href)=\"https?:", page)
    text = (tmp_path / "page.md").read_text("utf-8")
    assert "\n# v2 against v1\n" in text
    assert "| part | rate of claims | before → after | points (95 %) | finding |" in text
    assert "\\<script\\>" in text
    assert "<script>" not in text
    assert "No answer of either release is labelled" in text
    assert json.loads((tmp_path / "page.json").read_text("utf-8"))["rule"]["verdict"] == "watch"
    with pytest.raises(ec.ConfigError, match=r"\.html, \.md or \.json"):
        found.write(tmp_path / "page.pdf")
    with pytest.raises(ec.ConfigError):
        found.write(store)


def test_one_run_of_live_answers_is_taken_apart_by_release_and_time(store: Path) -> None:
    """Samples name their release and their time; the newer half of the release is held against the older release, too."""
    live = [*rows("v1", 0.02, seed=1, day=1), *rows("v2", 0.2, seed=2, day=10)]
    score(live, store, "live")
    found = ec.release_report(["live"], store=store)
    assert (found.comparison.before.title, found.comparison.after.title) == ("v1", "v2")
    assert found.comparison.before.total == found.comparison.after.total == 120
    assert not found.comparison.numbers.matching.paired
    stretches = dict.fromkeys(step.title for step in found.rule.steps)
    assert list(stretches) == ["2026-03-10 to 2026-03-12", "2026-03-13 to 2026-03-15"]
    assert found.rule.verdict == "roll back"
    ids = {one.id for one in found.comparison.moved}
    assert not ids, "nothing is paired, so no answer moved"
