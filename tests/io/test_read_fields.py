"""Field names, mappings, passages, tags and ids: what a row's cells become."""

import json
import math
from dataclasses import astuple
from pathlib import Path

import pytest

from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Passage
from everyclaim.io import ReadReport, read_samples


def one(row, **options):
    (sample,) = read_samples([row], **options)
    return sample


def fault(row, **options):
    report = ReadReport()
    assert list(read_samples([row, {"response": "x", "contexts": []}], report=report, **options))
    (bad,) = report.bad_rows
    return bad.reason


NAMES = {
    "question": ["question", "user_input", "query", "input", "Question", "User Input", "user-input"],
    "response": ["response", "answer", "output", "actual_output", "result", "RESPONSE", " answer "],
    "reference": ["reference", "ground_truth", "expected_output"],
    "contexts": ["contexts", "retrieved_contexts", "passages", "documents", "retrieval_context", "source_documents"],
}


@pytest.mark.parametrize(("ours", "name"), [(ours, name) for ours, names in NAMES.items() for name in names])
def test_each_field_is_recognised_by_each_of_its_names(ours, name):
    """In any case and spacing."""
    sample = one({"id": "1", "response": "A.", name: "T."} if ours != "response" else {name: "T."})
    assert getattr(sample, "passages" if ours == "contexts" else ours) in {"T.", (Passage("p1", "T."),)}


def test_of_two_names_for_one_field_the_first_wins_with_a_warning():
    """Rivals are decided by the documented order, and said; an empty first leaves the second its turn."""
    report = ReadReport()
    rows = [{"answer": "B", "response": "A"}, {"answer": "B", "response": None}]
    assert [s.response for s in read_samples(rows, report=report)] == ["A", "B"]
    assert any("both 'response' and 'answer' exist" in line and "2 times" in line for line in report.warnings)


def test_a_mapping_beats_the_recognised_names():
    """What the caller maps is used, and the recognised column is not."""
    row = {"response": "theirs", "final": "ours", "meta": {"model": "m"}, "runs": [{"docs": ["d"]}]}
    mapping = {"final": "response", "meta.model": "model", "runs.0.docs": "retrieved_contexts"}
    sample = one(row, mapping=mapping)
    assert (sample.response, sample.model, sample.passages) == ("ours", "m", (Passage("p1", "d"),))


@pytest.mark.parametrize(
    "rows", [[{"response": "x"}], [{"response": "x", "meta": {"release": 1}}] * 3], ids=["flat", "nested"]
)
def test_a_mapped_column_that_is_nowhere_is_one_error(rows):
    """The error lists the columns there are; nothing is yielded before."""
    with pytest.raises(InputError, match=r"no field 'meta\.model'; the fields are: response"):
        next(read_samples(rows, mapping={"meta.model": "model"}))


def test_no_response_anywhere_is_one_error_with_the_way_out():
    """The error lists the columns and suggests the mapping."""
    with pytest.raises(InputError, match=r"id, answers\. .*--map answers=response"):
        list(read_samples([{"id": n, "answers": "x"} for n in range(2000)]))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"x": "nonsense"}, "nonsense"),
        ({"x": "response", "y": "answer"}, "both 'x' and 'y'"),
        ({"x": "claim"}, "claim"),
    ],
)
def test_a_mapping_to_nothing_of_ours_is_refused(mapping, message):
    """A wrong mapping is a wrong option, found before anything is read."""
    with pytest.raises(ConfigError, match=message):
        read_samples([], mapping=mapping)


CELLS = list(map(json.loads, Path(__file__).with_name("fields.jsonl").read_text("utf-8").splitlines()))


@pytest.mark.parametrize("cells", CELLS, ids=lambda cells: json.dumps(cells["row"]))
def test_what_cells_become(cells):
    """Texts, objects, columns of objects or lists written as text; nothing is coerced, and the reason says what it is."""
    row = {"response": "A.", **cells["row"]}
    if "fault" in cells:
        assert cells["fault"] in fault(row)
        return
    sample = one(row)
    assert [[passage.id, passage.text, passage.title] for passage in sample.passages] == cells.get("passages", [])
    assert json.loads(json.dumps(dict(sample.tags))) == cells.get("tags", {})


@pytest.mark.parametrize(("value", "reason"), [(math.nan, "missing (null)"), (b"\xff", "not UTF-8 (at byte 0)")])
def test_a_response_that_no_file_of_json_holds_is_a_bad_row(value, reason):
    """From frames."""
    assert reason in fault({"response": value})


def test_passages_with_one_id_get_different_ids():
    """Evidence must name one passage, so ids are made unique and the report says so."""
    report = ReadReport()
    contexts = [{"id": "d", "text": "1"}, {"id": "d", "text": "2"}, {"id": "d#2", "text": "3"}]
    sample = one({"response": "A.", "contexts": contexts}, report=report)
    assert [p.id for p in sample.passages] == ["d", "d#2", "d#2#2"]
    assert any("same id in one row" in line for line in report.warnings)


def test_ids_are_row_numbers_unless_given_and_always_unique():
    """No two samples share an id, and every renaming is counted."""
    report = ReadReport()
    rows = [{"id": i, "response": "A."} if i else {"response": "A."} for i in ["x", "x", None, "3", "x#2", "x", ""]]
    ids = [s.id for s in read_samples(rows, report=report)]
    assert ids == ["x", "x#2", "3", "3#2", "x#2#2", "x#3", "7"]
    (warning,) = [line for line in report.warnings if "repeated ids" in line]
    assert "4 times; first: row 2, x became x#2" in warning


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "rows.csv"
    path.write_text(text)
    return path


WIDE = {
    "numbered": ("passage_1,passage_2,passage_10", "One.,,Ten."),
    "from zero, in words": ("Context 0,Context 1", "One.,Ten."),
    "titles and ids": ("document_1,document_1_title,document_2,document_id_2", "One.,First,Ten.,x"),
    "one with a title": ("context,context_title", "One.,First"),
}


@pytest.mark.parametrize("shape", WIDE)
def test_columns_of_passages_are_passages(shape: str, tmp_path: Path) -> None:
    """In the order of their numbers, with the titles that stand beside them; an empty cell is none."""
    header, cells = WIDE[shape]
    (sample,) = read_samples(csv_file(tmp_path, f"response,{header}\nA.,{cells}\n"))
    assert [tuple(passage)[:3] for passage in map(astuple, sample.passages)] == {
        "numbered": [("p1", "One.", ""), ("p3", "Ten.", "")],
        "from zero, in words": [("p1", "One.", ""), ("p2", "Ten.", "")],
        "titles and ids": [("p1", "One.", "First"), ("x", "Ten.", "")],
        "one with a title": [("p1", "One.", "First")],
    }[shape]
    assert sample.tags == {}


def test_fields_that_nobody_names_are_tags_within_limits() -> None:
    """Scalars that are short, of fields with few values; nothing nested, nothing long, and no more than 20."""
    rows = [
        {"response": "A.", "domain": "health", "turn": n % 3, "ok": True, "trace": f"t{n}", "html": "x" * 101}
        | {"nested": {"a": 1}, "empty": None, "tags": {"turn": "kept"} if n == 0 else {}}
        for n in range(300)
    ]
    found = list(read_samples(rows))
    assert found[0].tags == {"turn": "kept", "domain": "health", "ok": "true", "trace": "t0"}
    assert found[299].tags == {"domain": "health", "turn": "2", "ok": "true"}
    assert len(next(read_samples([{"response": "A."} | {f"f{n}": 1 for n in range(50)}])).tags) == 20
