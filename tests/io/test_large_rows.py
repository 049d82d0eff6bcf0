"""Rows that are too large: passed over in little memory, counted and explained, and the rows around them are read."""

import json
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everyclaim.core.errors import ConfigError
from everyclaim.core.limits import SizeLimits, within
from everyclaim.core.types import Passage, Sample
from everyclaim.io import ReadReport, read_samples

GOOD = {"response": "The kettle is red.", "contexts": ["It is red."]}
BIG = 'A "long" text \\ with {brackets], \n breaks. ' * 3000  # 120 kB
HUGE = {**GOOD, "response": BIG}
SMALL = SizeLimits(max_row_mb=0.1)


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows):
    quoted = [[str(v).replace('"', '""') for v in (row["response"], row["contexts"][0])] for row in rows]
    return "response,contexts\n" + "".join(f'"{a}","{b}"\n' for a, b in quoted)


FORMS = {
    "jsonl": as_jsonl,
    "json": lambda rows: json.dumps(list(rows)),
    "json of rows": lambda rows: json.dumps({"about": "x", "data": list(rows)}, indent=1),
    "csv": as_csv,
    "csv, Windows": lambda rows: as_csv(rows).replace("\n", "\r\n"),
    "tsv": lambda rows: as_csv(rows).replace('","', '"\t"').replace("response,contexts", "response\tcontexts"),
}


def read(source, limits=SMALL, read=read_samples):
    report = ReadReport()
    with within(limits):
        rows = list(read(source, report=report))
    return rows, report


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_row_that_is_too_large_is_left_out_and_the_others_are_read(tmp_path, form, place):
    """In every format, wherever it stands; quotes, brackets and line breaks in it mislead nobody."""
    rows = [GOOD, GOOD]
    rows.insert(place, HUGE)
    path = tmp_path / f"rows.{form.split(',')[0].split()[0]}"
    path.write_bytes(FORMS[form](rows).encode())
    good, report = read(path)
    assert [sample.response for sample in good] == [GOOD["response"]] * 2
    assert (report.good, report.bad, report.incomplete) == (2, 1, "")
    (bad,) = report.bad_rows
    assert bad.reason == "the row is larger than max_row_mb=0.1"


def test_a_quote_that_is_never_closed_loses_the_rest_and_says_so(tmp_path):
    """What follows cannot be told from the cell."""
    path = tmp_path / "rows.csv"
    path.write_text('response,contexts\nA.,c\n"open,c\n' + "word, " * 40_000 + "\nB.,c\n")
    good, report = read(path)
    assert [sample.response for sample in good] == ["A."]
    assert report.incomplete == "line 3: the row is larger than max_row_mb=0.1; is a quote unclosed?"


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rows_of_tables_are_bounded_too(tmp_path, suffix):
    """They are known by their size before they become Python objects."""
    table = pa.Table.from_pylist([GOOD, HUGE, GOOD])
    path = tmp_path / f"rows.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    for source in (path, table, table.to_batches()[0]):
        good, report = read(source)
        assert len(good) == 2
        assert [str(row) for row in report.bad_rows] == ["row 2: the row is larger than max_row_mb=0.1"]


TOO_LARGE = {
    "the question has 11 characters, more than max_answer_chars=10": {"response": "A.", "question": "q" * 11},
    "the reference has 12 characters, more than max_answer_chars=10": {"response": "A.", "reference": "r" * 12},
    "passage 2 has 21 characters, more than max_passage_chars=20": {"response": "A.", "contexts": ["b", "c" * 21]},
    "the row has more than 5 passages, more than max_passages=5": {"response": "A.", "contexts": ["b"] * 6},
    "the row has 78 characters, more than max_row_mb=6e-05": {"response": "A.", "contexts": ["b" * 19] * 4},
}


@pytest.mark.parametrize("reason", TOO_LARGE)
def test_each_limit_says_what_is_too_large(reason):
    """By how much, and which option it is; for rows from anywhere, and for samples made elsewhere."""
    row = TOO_LARGE[reason]
    limits = SizeLimits(
        max_answer_chars=10, max_passage_chars=20, max_passages=5, max_row_mb=0.00006 if "row_mb" in reason else 1
    )
    shelf = tuple(Passage(f"p{i}", text) for i, text in enumerate(row.get("contexts", ()), 1))
    made = Sample("1", row["response"], shelf, row.get("question", ""), row.get("reference"))
    for source in ([{"response": "A."}, row], [Sample("0", "A."), made]):
        good, report = read(source, limits)
        assert (len(good), [bad.reason for bad in report.bad_rows]) == (1, [reason])


@pytest.mark.parametrize(
    "limits", [{"max_claims": 0}, {"max_row_mb": 0}, {"max_passages": 1.5}, {"max_answer_chars": "9"}]
)
def test_a_limit_that_is_none_is_refused(limits):
    """By its name and value."""
    (name,) = limits
    with pytest.raises(ConfigError, match=name):
        SizeLimits.of(limits)


GIANTS = {  # what stands before a row of 200 MB of words, and behind it
    "jsonl": (as_jsonl([GOOD]) + '{"response": "', '"}\n'),
    "json": ("[" + json.dumps(GOOD) + ',{"response": "', '"}]'),
    "csv": ('response,contexts\nA.,c\n"', '",c\n'),
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", GIANTS)
def test_a_row_of_two_hundred_megabytes_is_never_in_memory(tmp_path, suffix):
    """No more than a few times the limit of a row."""
    path = tmp_path / f"rows.{suffix}"
    with path.open("w") as file:
        file.write(GIANTS[suffix][0])
        file.writelines("word " * 200_000 for _ in range(200))
        file.write(GIANTS[suffix][1])
    tracemalloc.start()
    try:
        good, report = read(path, SizeLimits())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(good), report.bad) == (1, 1)
    assert peak < 150_000_000
