"""The example files go through the public reader whole: no bad row, no passage lost."""

from pathlib import Path

import everyclaim as ec
from everyclaim.io import read_samples

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


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
