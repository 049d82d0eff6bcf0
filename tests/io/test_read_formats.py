"""Every format, compression and kind of table gives the same samples."""

import bz2
import gzip
import io
import json
import lzma
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from everyclaim.core.errors import InputError
from everyclaim.core.types import Passage, Sample
from everyclaim.io import CLAIMS, ReadReport, read_rows, read_samples
from everyclaim.io.sinks import zstd

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


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("suffix", TEXTS)
def test_a_byte_order_mark_says_the_encoding(tmp_path, suffix, encoding):
    """UTF-8 and UTF-16 with a mark are read, also inside a compressed file."""
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


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv"])
@pytest.mark.parametrize("given", [True, False])
def test_standard_input(monkeypatch, suffix, given):
    """``-`` reads standard input; the format is told or seen."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXTS[suffix].encode())))
    assert list(read_samples("-", format=suffix if given else None)) == SAMPLES
    assert not sys.stdin.closed


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
    assert [str(row) for row in report.bad_rows] == ["row 2: response contains bytes that are not UTF-8 (at byte 0)"]


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


def test_claims_are_read_like_samples():
    """Given claims come with their passages, question and sentence, whatever the claim is called."""
    row = {"statement": "It is red.", "premise": "The car is red.", "query": "Colour?", "sentence": "It is red, no?"}
    (claim,) = read_rows(CLAIMS, [row])
    assert (claim.id, claim.claim, claim.question, claim.sentence) == ("1", "It is red.", "Colour?", "It is red, no?")
    assert claim.passages == (Passage("p1", "The car is red."),)


def save_to_disk(folder, shards):
    """Write what `Dataset.save_to_disk` writes: Arrow streams and their list."""
    folder.mkdir(parents=True)
    names = [f"data-{n:05}-of-{len(shards):05}.arrow" for n in range(len(shards))]
    for name, rows in zip(names, shards, strict=True):
        table = pa.Table.from_pylist(rows)
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "0", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def rows(*texts):
    return [{"answer": text, "contexts": ["c"], "extra": {"n": 1}} for text in texts]


def texts(path, **options):
    return [sample.response for sample in read_samples(path, **options)]


def test_the_shards_of_a_data_set_are_one_source(tmp_path):
    """Rows come in the order of the shards, numbered through."""
    save_to_disk(tmp_path / "set", [rows("a", "b", "c"), rows("d")])
    assert [(s.id, s.response) for s in read_samples(tmp_path / "set")] == [
        ("1", "a"),
        ("2", "b"),
        ("3", "c"),
        ("4", "d"),
    ]


def test_a_dictionary_of_splits_names_them(tmp_path):
    """With several splits the error says which, and a split's own folder is read."""
    for split in ("train", "test"):
        save_to_disk(tmp_path / "set" / split, [rows(split)])
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(InputError, match=r"has the splits train, test; pass one, as in .*train"):
        texts(tmp_path / "set")
    assert texts(tmp_path / "set" / "test") == ["test"]


@pytest.mark.parametrize("inner", ["", "data"])
def test_a_folder_of_parquet_shards(tmp_path, inner):
    """The layout of the hub: shards named by split."""
    folder = tmp_path / "set" / inner
    folder.mkdir(parents=True)
    for shard in range(2):
        pq.write_table(pa.Table.from_pylist(rows(f"t{shard}")), folder / f"train-{shard:05}-of-00002.parquet")
    assert texts(tmp_path / "set") == ["t0", "t1"]
    pq.write_table(pa.Table.from_pylist(rows("x")), folder / "test-00000-of-00001.parquet")
    with pytest.raises(InputError, match="has the splits test, train"):
        texts(tmp_path / "set")
    assert texts(folder / "train") == ["t0", "t1"]
    assert texts(tmp_path / "set" / "train") == ["t0", "t1"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("state.json", "{"),
        ("state.json", '{"_data_files": [{"filename": "../other.arrow"}]}'),
        ("state.json", '{"_data_files": []}'),
        ("dataset_dict.json", '{"splits": ["/etc"]}'),
    ],
)
def test_a_damaged_description_is_one_line(tmp_path, name, text):
    """A description that is broken, or points outside its folder, is refused."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=name):
        texts(tmp_path)
