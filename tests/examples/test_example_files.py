"""The example files go through the public reader whole: no bad row, no passage lost."""

from pathlib import Path

import pytest

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
