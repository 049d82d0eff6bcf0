"""Any bytes in any format give samples, bad rows or `InputError`; memory does not grow with the file."""

import gzip
import json
import tracemalloc
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everyclaim.core.errors import InputError
from everyclaim.core.types import Sample
from everyclaim.io import CLAIMS, ReadReport, read_rows, read_samples

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
VALID = {
    "jsonl": b'{"response": "A \\u00e9.", "contexts": ["c", {"id": 1, "text": "t"}], "tags": {"k": 1}}\n' * 3,
    "json": b'{"data": [{"response": "A.", "contexts": [{"text": "t"}]}, {"response": "B", "id": 3}]}',
    "csv": b'id,response,contexts,tags\n1,"A, ""quoted""\n2","[""a"", ""b""]",x=y\n2,B,c,\n',
    "tsv": b"id\tresponse\tcontexts\n1\tA\t['x', 'y']\n2\tB\tc\n",
}


def check_readable(path):
    """Read samples and claims; whatever happens must be of the kinds that are promised."""
    for read in (read_samples, partial(read_rows, CLAIMS)):
        report = ReadReport()
        try:
            rows = list(read(path, report=report))
        except InputError as error:
            refusal = str(error)
        else:
            refusal = ""
        if refusal:
            assert "\n" not in refusal
            continue
        assert len(rows) == report.good
        assert len({row.id for row in rows}) == len(rows)
        assert rows or report.bad
        assert all(bad.reason and bad.line > 0 for bad in report.bad_rows)


@st.composite
def damaged(draw, whole):
    """Change, remove, repeat or insert some bytes."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(0, 8))
        data[place : place + length] = draw(
            st.binary(max_size=4) | st.sampled_from([b'"', b"{", b"[", b"\n", b"\\", b"\xff"])
        )
    return bytes(data)


@FUZZ
@given(data=st.data(), suffix=st.sampled_from(list(VALID)), pack=st.booleans())
def test_damaged_text(tmp_path, data, suffix, pack):
    """Files that are almost right are read as far as they are."""
    raw = gzip.compress(VALID[suffix]) if pack else VALID[suffix]
    path = tmp_path / f"rows.{suffix}"
    path.write_bytes(data.draw(damaged(raw)))
    check_readable(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "text", "title", "metadata", "x"]), inner)
    ),
    max_leaves=8,
)
rows = st.dictionaries(
    st.sampled_from(
        ["response", "answer", "contexts", "passages", "id", "tags", "question", "model", "claim", "other"]
    ),
    json_values,
)


@FUZZ
@given(values=st.lists(rows | json_values, max_size=5), suffix=st.sampled_from(["jsonl", "json", "memory"]))
def test_any_values(tmp_path, values, suffix):
    """Rows of any shape are samples or bad rows, the same from a file and from memory."""
    if suffix == "memory":
        check_readable_values(values)
        return
    path = tmp_path / f"rows.{suffix}"
    path.write_text(json.dumps(values) if suffix == "json" else "".join(json.dumps(value) + "\n" for value in values))
    check_readable(path)


def check_readable_values(values):
    report = ReadReport()
    try:
        samples = list(read_samples(values, report=report))
    except InputError:
        return
    assert len(samples) + report.bad == len(values)
    assert all(isinstance(sample, Sample) for sample in samples)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "count"),
    [("jsonl", 200_000), ("json", 20_000), ("csv", 20_000), ("parquet", 20_000), ("memory", 20_000)],
)
def test_memory_stays_flat(tmp_path, suffix, count):
    """Rows are read in a few megabytes: some 60 bytes for each id, and what is in flight."""
    path = tmp_path / f"rows.{suffix}"
    if suffix == "parquet":
        with pq.ParquetWriter(path, pa.schema([("response", pa.string()), ("id", pa.string())])) as writer:
            for start in range(0, count, 1000):
                numbers = [str(n) for n in range(start, start + 1000)]
                writer.write_table(pa.table({"response": numbers, "id": numbers}))
    elif suffix != "memory":
        opening, separator, closing = {
            "json": ("[", ",", "]"),
            "jsonl": ("", "\n", "\n"),
            "csv": ("id,response\n", "\n", "\n"),
        }[suffix]
        with path.open("w") as file:
            file.write(opening)
            for n in range(count):
                row = (
                    f"{n},An answer of some words." if suffix == "csv" else json.dumps({"id": n, "response": "x" * 50})
                )
                file.write((separator if n else "") + row)
            file.write(closing)
    source = ({"id": n, "response": "x"} for n in range(count)) if suffix == "memory" else path
    next(read_samples(path if suffix != "memory" else [{"response": "x"}]))  # imports are not counted
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_samples(source)) == count
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000 + 110 * count
