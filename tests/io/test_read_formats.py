"""Every format, compression and kind of table gives the same samples."""

import bz2
import gzip
import io
import json
import lzma
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.types import Passage, Sample
from everyclaim.io import ReadReport, read_claims, read_samples
from everyclaim.io.zstandard import zstd

ROWS = [
    {"id": "a", "question": "How long?", "response": "Two days.", "contexts": ["It takes two days.", "Ask us."]},
    {"id": "b", "question": "Où?", "response": "À Paris, 東京 🗼.", "contexts": ["Paris"]},
]
SAMPLES = [
    Sample("a", "Two days.", (Passage("p1", "It takes two days."), Passage("p2", "Ask us.")), "How long?"),
    Sample("b", "À Paris, 東京 🗼.", (Passage("p1", "Paris"),), "Où?"),
]
JSONL = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
CSV = "id,question,response,contexts\r\n" + "".join(
    ",".join(
        '"' + (cell if isinstance(cell, str) else json.dumps(cell)).replace('"', '""') + '"' for cell in row.values()
    )
    + "\r\n"
    for row in ROWS
)
TEXTS = {
    "jsonl": JSONL,
    "ndjson": JSONL,
    "json": json.dumps(ROWS, indent=2),
    "csv": CSV,
    "tsv": CSV.replace('","', '"\t"').replace(",", "\t", 3),
}
COMPRESSORS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstd.compress,
}


@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("suffix", TEXTS)
def test_every_text_format_in_every_compression(tmp_path, suffix, compression):
    """A text file reads the same however it is written and compressed."""
    path = tmp_path / f"rows.{suffix}{compression}"
    path.write_bytes(COMPRESSORS[compression](TEXTS[suffix].encode()))
    assert list(read_samples(path)) == SAMPLES


@pytest.mark.parametrize("compression", [".gz", ".xz", ".bz2", ".zst"])
def test_compression_is_known_by_its_bytes(tmp_path, compression):
    """A compressed file is read whatever its name says, and a plain one with a compressed name too."""
    hidden = tmp_path / "rows.jsonl"
    hidden.write_bytes(COMPRESSORS[compression](JSONL.encode()))
    assert list(read_samples(hidden)) == SAMPLES
    named = tmp_path / f"plain.jsonl{compression}"
    named.write_text(JSONL)
    assert list(read_samples(named)) == SAMPLES


@pytest.mark.parametrize("compression", [".gz", ".xz", ".bz2", ".zst"])
def test_compressed_parts_one_after_the_other_are_one_file(tmp_path, compression):
    """Concatenated archives, as log shippers write them, are read to the end."""
    path = tmp_path / f"rows.jsonl{compression}"
    path.write_bytes(b"".join(COMPRESSORS[compression](line.encode()) for line in JSONL.splitlines(keepends=True)))
    assert list(read_samples(path)) == SAMPLES


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("suffix", TEXTS)
def test_a_byte_order_mark_says_the_encoding(tmp_path, suffix, encoding):
    """UTF-8, UTF-16 and UTF-32 with a mark are read, also inside a compressed file."""
    data = TEXTS[suffix].encode(encoding)
    plain, packed = tmp_path / f"rows.{suffix}", tmp_path / f"rows.{suffix}.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    assert list(read_samples(plain)) == list(read_samples(packed)) == SAMPLES


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"data": ROWS}),
        json.dumps({"version": 2, "note": "x", "data": ROWS, "more": {"a": [1]}}),
        json.dumps({"names": ["x", "y"], "samples": ROWS}),
        JSONL,
        JSONL.replace("\n", ""),
        "\n\n" + json.dumps(ROWS[0], indent=4) + "\n" + json.dumps(ROWS[1], indent=1),
    ],
    ids=["wrapped", "wrapped with more", "beside another list", "lines", "no line ends", "pretty objects"],
)
def test_json_documents_of_several_shapes(tmp_path, text):
    """Rows are found in an array, under the one list of an object, or one after the other."""
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert list(read_samples(path)) == SAMPLES


def test_a_single_json_object_is_one_sample(tmp_path):
    """An object that has a response is a row, even when its passages are a list of objects."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"contexts": [{"id": "d", "text": "t"}], "citations": [{"n": 1}], "answer": "A."}))
    assert list(read_samples(path)) == [Sample("1", "A.", (Passage("d", "t"),))]


def test_a_json_document_with_two_lists_is_refused_by_name(tmp_path):
    """With two lists of objects it is not guessed which holds the rows."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"train": ROWS, "test": ROWS}))
    with pytest.raises(InputError, match="train, test"):
        list(read_samples(path))


def test_a_json_document_larger_than_the_window_is_read(tmp_path):
    """Elements that cross the edges of what is decoded at once stay whole."""
    rows = [{"id": str(n), "response": 'é\\"' * n, "contexts": [f"[{n}] {{"]} for n in range(0, 3000, 7)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, ensure_ascii=False))
    assert [(s.id, s.response, s.passages[0].text) for s in read_samples(path)] == [
        (row["id"], row["response"], row["contexts"][0]) for row in rows
    ]


def test_an_array_in_a_file_named_jsonl_is_read(tmp_path):
    """The content decides between an array and lines."""
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROWS, indent=1))
    assert list(read_samples(path)) == SAMPLES


def test_semicolons_separate_where_the_header_says_so(tmp_path):
    """Spreadsheets of some countries write semicolons into .csv."""
    path = tmp_path / "rows.csv"
    path.write_text("id;response;contexts\nx;Yes, indeed.;One, two\n")
    assert list(read_samples(path)) == [Sample("x", "Yes, indeed.", (Passage("p1", "One, two"),))]


@pytest.mark.parametrize(("name", "warns"), [("rows.csv", False), ("rows.jsonl", True)])
def test_a_list_in_text_is_worth_a_word_only_where_it_could_be_a_list(tmp_path, name, warns):
    """A CSV cell can hold a list in no other way; in JSON text in the place of a list may be meant as text."""
    path = tmp_path / name
    header = "response,contexts\n"
    row = '{"response": "Yes.", "contexts": "[\\"One.\\", \\"Two.\\"]"}\n'
    path.write_text(header + 'Yes.,"[""One."", ""Two.""]"\n' if name.endswith("csv") else row)
    report = ReadReport()
    (sample,) = read_samples(path, report=report)
    assert [passage.text for passage in sample.passages] == ["One.", "Two."]
    assert any("holds a list" in text for text in report.warnings) == warns


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv"])
@pytest.mark.parametrize("given", [True, False])
def test_standard_input(monkeypatch, suffix, given):
    """``-`` reads standard input; the format is told or seen."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXTS[suffix].encode())))
    assert list(read_samples("-", format=suffix if given else None)) == SAMPLES
    assert not sys.stdin.closed


def test_empty_standard_input_is_one_line(monkeypatch):
    """Nothing on standard input is said plainly."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="standard input is empty"):
        list(read_samples("-"))


def test_tables_in_files(tmp_path):
    """Parquet and both kinds of Arrow files are read, also under a wrong name."""
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, tmp_path / "rows.parquet")
    pq.write_table(table, tmp_path / "rows.txt")
    feather.write_feather(table, str(tmp_path / "rows.arrow"))
    with pa.OSFile(str(tmp_path / "stream.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    for name in ("rows.parquet", "rows.txt", "rows.arrow", "stream.arrow"):
        assert list(read_samples(tmp_path / name)) == SAMPLES


def test_parquet_columns_of_every_kind(tmp_path):
    """Binary text, structs, maps, times and columns nobody asked for do not disturb."""
    table = pa.table(
        {
            "response": pa.array([b"Yes.", b"\xff"], pa.binary()),
            "contexts": pa.array([[{"id": 7, "text": "t", "title": None}], None]),
            "tags": pa.array([[("kind", "x")], None], pa.map_(pa.string(), pa.string())),
            "meta.model": pa.array(["m", None]),
            "meta": pa.array([{"model": "n", "big": 1}, None]),
            "timestamp": pa.array([1_700_000_000_123_456_789, None], pa.timestamp("ns")).cast(
                pa.timestamp("us"), safe=False
            ),
            "unused": pa.array([2**62, 1], pa.timestamp("ns")),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    report = ReadReport()
    (sample,) = read_samples(tmp_path / "rows.parquet", mapping={"meta.model": "model"}, report=report)
    assert sample == Sample(
        "1", "Yes.", (Passage("7", "t"),), tags={"kind": "x"}, model="m", timestamp="2023-11-14T22:13:20.123456"
    )
    assert [str(row) for row in report.bad_rows] == ["row 2: response holds bytes that are not UTF-8 (at byte 0)"]


def test_parquet_cannot_be_compressed_again_or_piped(tmp_path, monkeypatch):
    """What cannot be streamed is refused in one line."""
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    data = (tmp_path / "rows.parquet").read_bytes()
    (tmp_path / "rows.parquet.gz").write_bytes(gzip.compress(data))
    with pytest.raises(InputError, match="unpack it"):
        list(read_samples(tmp_path / "rows.parquet.gz"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(InputError, match="cannot be read from a pipe"):
        list(read_samples("-"))


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda rows: pl.DataFrame(rows).lazy(),
        pa.Table.from_pylist,
        pa.RecordBatch.from_pylist,
        lambda rows: pa.Table.from_pylist(rows).to_reader(),
        iter,
        tuple,
        lambda rows: SAMPLES,
    ],
    ids=["pandas", "polars", "polars lazy", "arrow", "arrow batch", "arrow reader", "iterator", "tuple", "samples"],
)
def test_tables_in_memory(make):
    """Data frames, Arrow tables, iterables of mappings and samples themselves are sources."""
    assert list(read_samples(make(ROWS))) == SAMPLES


def test_one_mapping_is_one_row():
    """A single mapping is read as one sample."""
    assert list(read_samples(ROWS[0])) == SAMPLES[:1]


def test_the_missing_values_of_data_frames_are_missing():
    """NaN, NaT and NA are no text; numpy's arrays and numbers are lists and numbers."""
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "response": ["Yes.", float("nan"), "No."],
            "question": pd.array([pd.NA, "q", "q"], dtype="string"),
            "contexts": [pd.Series(["a", "b"]).to_numpy(), None, float("nan")],
            "timestamp": [pd.Timestamp("2026-01-02T03:04:05"), pd.NaT, pd.NaT],
        }
    )
    report = ReadReport()
    samples = list(read_samples(frame, report=report))
    assert samples == [
        Sample("1", "Yes.", (Passage("p1", "a"), Passage("p2", "b")), timestamp="2026-01-02T03:04:05"),
        Sample("3", "No.", question="q"),
    ]
    assert [str(row) for row in report.bad_rows] == ["row 2: the response is missing (null)"]


def test_an_empty_table_in_memory_gives_nothing():
    """No rows in memory is no fault, unlike an empty file."""
    assert list(read_samples([])) == []
    assert list(read_samples(pd.DataFrame({"response": []}))) == []


@pytest.mark.parametrize("source", [42, b"bytes", None, object()])
def test_what_is_no_table_is_refused(source):
    """Other objects are refused by the name of their type."""
    with pytest.raises(InputError, match=type(source).__name__):
        list(read_samples(source))


def test_an_unknown_format_is_refused(tmp_path):
    """A format that does not exist is a wrong option."""
    with pytest.raises(ConfigError, match="'xlsx'"):
        list(read_samples(tmp_path / "x", format="xlsx"))


def test_claims_are_read_from_every_format(tmp_path):
    """Given claims come with their passages, question and sentence, whatever the claim is called."""
    row = {"statement": "It is red.", "premise": "The car is red.", "query": "Colour?", "sentence": "It is red, no?"}
    (tmp_path / "claims.jsonl").write_text(json.dumps(row) + "\n")
    pd.DataFrame([row]).to_csv(tmp_path / "claims.csv", index=False)
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "claims.parquet")
    for name in ("claims.jsonl", "claims.csv", "claims.parquet"):
        (claim,) = read_claims(tmp_path / name, slices=["sentence"])
        assert (claim.id, claim.claim, claim.question, claim.sentence) == (
            "1",
            "It is red.",
            "Colour?",
            "It is red, no?",
        )
        assert claim.passages == (Passage("p1", "The car is red."),)
        assert claim.tags == {"sentence": "It is red, no?"}
