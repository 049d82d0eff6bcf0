"""The lessons are read as written, and what follows from them is labelled rightly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from training.lessons.read import Taught, errors, lessons
from training.lessons.rows import CLASHING, rows

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


@pytest.mark.parametrize(
    ("text", "twin", "marked"),
    [
        ("It took 27 months.", "It took 27 years.", ["months"]),
        ("Guests must phone.", "Guests must not phone.", ["must phone"]),
        ("Guests must not phone.", "Guests must phone.", ["not"]),
        ("Ann paid Bo.", "Bo paid Ann.", ["Ann", "Bo"]),
        ("Half of all rooms are let.", "Most rooms are let.", ["Half of all"]),
        ("The inn is closed.", "The inn is closed.", []),
    ],
)
def test_errors_are_where_a_claim_departs_from_its_twin(text: str, twin: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in errors(Taught(text, "w", "CONTRADICTED", twin))] == marked


def test_what_follows_from_lessons_is_labelled_by_their_worst_claim(folder: Path) -> None:
    made = list(rows(list(lessons(folder))))
    right = {it.text for lesson in lessons(folder) for it in lesson.claims if it.kind == "="}
    label = {it.text: it.label for lesson in lessons(folder) for it in lesson.claims}
    assert len({row["id"] for row in made}) == len(made)
    for row in made:
        said = [text for text in label if text in row["text"]]
        worst = next((label[text] for text in said if text not in right), "SUPPORTED")
        match row["slice"]:
            case "joined":
                assert row["label"] == worst
            case "same":
                assert (row["contexts"], row["label"]) == ([row["text"]], "SUPPORTED")
            case "pair":
                assert row["label"] == "CONTRADICTED"
                assert (row["text"] in right) != (row["contexts"][0] in right)
            case "foreign":
                assert row["label"] == "UNSUPPORTED"
            case _:
                assert row["label"] == label[row["text"]], row["id"]
        assert all(row["text"][start:end].strip() for start, end in row["errors"])
    assert {row["slice"] for row in made} >= {"=", "r", "g", "h", "n", "same", "pair", "joined"}
    kinds = [row["label"] for row in made if row["slice"] == "joined"]
    assert {"SUPPORTED"} < set(kinds)


MARKED = """\
P The yard is in Norway.
P The ferries cost 46 million dollars.
P The mayor is against them.
= A Norwegian yard is building ferries the mayor does not want. @1,3
s A Norwegian yard is building ferries the town does not want.
n A Norwegian yard is building ferries for 40 million dollars. @1, 2
y The mayor lives in Norway.

P A strange passage.
= It is strange. @1
"""


def test_marks_follow_the_passages_wherever_a_row_puts_them(tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text(MARKED, encoding="utf-8")
    known = list(lessons(tmp_path))
    ferry = known[0]
    assert [it.needs for it in ferry.claims] == [(0, 2), (0, 2), (0, 1), (0, 2)]
    assert (ferry.claims[3].kind, ferry.claims[3].label) == ("y", "UNSUPPORTED")
    assert not any("@" in it.text or "@" in it.twin for it in ferry.claims)
    places = set()
    for seed in range(20):
        for row in rows(known, seed):
            if row["slice"] in ("=", "s") and row["group"].endswith("-1"):
                assert [row["contexts"][place] for place in row["needs"]] == [ferry.passages[0], ferry.passages[2]]
                assert row["least"] == 0
                places.add(row["needs"][0])
            assert row["dataset"].startswith("marked_")
            if row["slice"] in ("same", "pair", "foreign"):
                assert row["needs"] == []
    assert places == {0, 1}


def test_a_claim_and_its_twins_lie_among_the_same_passages(folder: Path) -> None:
    known = list(lessons(folder))
    beside: dict[str, list[dict[str, object]]] = {}
    for row in rows(known, 5):
        beside.setdefault(row["beside"], []).append(row)
    full = [[row["slice"] for row in group] for group in beside.values() if len(group) > 1]
    assert ["=", "h", "g"] in full
    assert ["same", "pair", "back"] not in full  # named by what they are: both directions are pairs
    assert ["same", "pair", "pair"] in full
    for group in beside.values():
        if group[0]["slice"] == "=":
            assert all(row["contexts"] == group[0]["contexts"] for row in group)


def test_a_mark_of_no_passage_names_its_lesson(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("P Text.\n= A claim. @2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lesson bad-1"):
        list(lessons(tmp_path))


def test_only_kinds_that_clash_both_ways_are_paired(folder: Path) -> None:
    twins = {it.text: it.kind for lesson in lessons(folder) for it in lesson.claims}
    for row in rows(list(lessons(folder))):
        if row["slice"] == "pair":
            assert {twins[row["text"]], twins[row["contexts"][0]]} - {"="} <= CLASHING


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
