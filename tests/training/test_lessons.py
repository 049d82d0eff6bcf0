"""Lessons, lessons on values and parallel items: what follows from what is written is labelled rightly."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from training.lessons.read import lessons
from training.values import groups

ROOT = Path(__file__).parents[2]
TEXT = """\
# a sale
P Celpardo agreed to sell its tissue division to Kuusamo. All 40 machines may be moved.
Q Who buys what?
= Kuusamo is to acquire a tissue business from Celpardo.
r Celpardo is to acquire a tissue business from Kuusamo.
= The machines could be taken elsewhere.
h The machines will be taken elsewhere.
g The machines could not be taken elsewhere.
= There are forty machines.
n There are fourteen machines.

P The inn has nine rooms.
P Breakfast ends at ten.
= Breakfast is over by ten.
q? Every guest has breakfast by ten.
h! Breakfast never ends before noon.
= There are fewer than ten rooms.
n There are fewer than six rooms.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two lessons."""
    (tmp_path / "some.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_labels_are_those_of_the_letters_and_signs_turn_them(folder: Path) -> None:
    sale, inn = lessons(folder)
    assert (sale.id, sale.question, len(inn.passages)) == ("some-1", "Who buys what?", 2)
    assert [(it.kind, it.label) for it in sale.claims] == [
        ("=", "SUPPORTED"), ("r", "CONTRADICTED"), ("=", "SUPPORTED"), ("h", "UNSUPPORTED"), ("g", "CONTRADICTED"),
        ("=", "SUPPORTED"), ("n", "CONTRADICTED"),
    ]  # fmt: skip
    assert [it.label for it in inn.claims if it.kind in "qh"] == ["UNSUPPORTED", "CONTRADICTED"]
    assert sale.claims[4].twin == "The machines could be taken elsewhere."


@pytest.mark.parametrize("line", ["z A letter nobody knows.", "No letter at all.", "="])
def test_what_cannot_be_read_names_its_lesson(tmp_path: Path, line: str) -> None:
    (tmp_path / "bad.txt").write_text(f"P Text.\n= A claim.\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lesson bad-1"):
        list(lessons(tmp_path))


@pytest.mark.slow
def test_the_shipped_lessons_are_readable_and_some_are_kept_for_tests(tmp_path: Path) -> None:
    known = list(lessons())
    kept = [lesson for lesson in known if lesson.tested]
    assert 0.03 < len(kept) / len(known) < 0.1
    assert len({lesson.id for lesson in known}) == len(known)
    for side in ("fit", "test"):
        command = [sys.executable, "-m", "training.lessons", "--out", str(tmp_path / side), "--side", side]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    groups = [
        {json.loads(line)["group"] for line in (tmp_path / side).read_text("utf-8").splitlines()}
        for side in ("fit", "test")
    ]
    assert groups[1] == {f"lesson:{lesson.id}" for lesson in kept}
    assert not groups[0] & groups[1]


DATA = Path(__file__).parents[2] / "training/data/values.toml"


def test_groups_have_pairs_of_a_right_and_a_wrong_claim_in_plain_words() -> None:
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    labels, kinds = Counter[str](), set[str]()
    for group in groups(data, 800, seed=4):
        kinds.add(group["domain"])
        said = {claim["text"]: claim["label"] for claim in group["claims"]}
        for text, label in said.items():
            labels[label] += 1
            assert not set("{}_") & set(text + group["contexts"][0])
            assert not (label == "CONTRADICTED" and text in group["contexts"][0])
        assert all(said[claim["text"]] == claim["label"] for claim in group["claims"]), group
    assert kinds == {"frames", "open", "sum", "compare"}
    assert labels["SUPPORTED"] > 0.3 * labels.total() < labels["CONTRADICTED"]


def test_forms_of_one_value_are_no_forms_of_another() -> None:
    equal = tomllib.loads(DATA.read_text(encoding="utf-8"))["equal"]
    for rows in equal.values():
        assert not any(set(one) & set(other) for one, other in combinations(rows, 2))
