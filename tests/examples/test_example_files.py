"""The example files go through the public reader whole: no bad row, no passage lost."""

from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.io import read_samples

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "count", "tag"),
    [
        ("support_bot/answers.jsonl", 61, "needs"),
        ("support_bot/answers_v2.jsonl", 61, "needs"),
        ("recipes.csv", 6, "course"),
    ],
)
def test_every_row_is_read_with_its_question_passages_and_slice(name, count, tag):
    """JSONL with objects and CSV with a JSON list in a cell both arrive complete."""
    bad = []
    slices = [tag] if name.endswith(".csv") else []
    samples = list(read_samples(EXAMPLES / name, slices=slices, on_bad_row=bad.append))
    assert not bad
    assert len({sample.id for sample in samples}) == len(samples) == count
    assert all(sample.question and sample.passages and sample.tags[tag] for sample in samples)


def test_the_answers_about_baking_hold_one_mistake_each_judge_finds():
    """Against the four articles: the wrong year is contradicted, the answer that declines has no score."""
    scored = {}
    for sample in read_samples(EXAMPLES / "baking/answers.jsonl", contexts=False):
        result = ec.score(
            question=sample.question,
            response=sample.response,
            metric="factscore?gamma=0",
            knowledge=f"corpus:{EXAMPLES / 'baking/documents'}",
        )
        scored[sample.id] = (result.outcome, result.score)
    assert scored["stollen"] == ("abstained", None)
    assert scored["lebkuchen"] == ("scored", 1)
    assert scored["gingerbread"][1] == 0.6
    assert len(scored) == 6
