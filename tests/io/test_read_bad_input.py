"""Bad input: one clear line or bad rows with their places, never a traceback, nothing good lost."""

import gzip
import json
import lzma
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everyclaim.core.errors import InputError, MissingExtraError
from everyclaim.io import ReadReport, read_samples
from everyclaim.io.sinks import zstd

GOOD = b'{"response": "A.", "contexts": ["c"]}\n'


def read(path, **options):
    report = ReadReport()
    return [s.id for s in read_samples(path, report=report, **options)], [str(row) for row in report.bad_rows], report


def zstd_checked(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        list(read_samples(path, **options))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv", "parquet", "arrow", "jsonl.gz", "txt"])
def test_missing_empty_and_binary_files(tmp_path, suffix):
    """Each is one line that says what is wrong with which file."""
    path = tmp_path / f"answers.{suffix}"
    assert refused(path) == f"there is no file {path}"
    path.write_bytes(b"")
    assert refused(path) == f"{path} is empty"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    assert str(path) in refused(path)


def test_bad_lines_are_kept_out_with_their_numbers(tmp_path):
    """Every fault of a line has its own reason, and the good lines are all there."""
    path = tmp_path / "rows.jsonl"
    lines = [
        GOOD,
        b"\n",
        b'{"response": "A."\n',
        b"[1, 2]\n",
        b'{"response": "\xff"}\n',
        b'{"response": "\xed\xa0\x80"}\n',
        b'{"response": 3}\n',
        b'{"response": "A.", "deep": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b'{"response": ' + b"1" * 5000 + b"}\n",
        GOOD,
        b'{"response": "A.", "question": NaN}\n',
        b'{"response": "A',
    ]
    path.write_bytes(b"".join(lines))
    heard = []
    ids, bad, report = read(path, on_bad_row=heard.append)
    assert ids == ["1", "9", "10"]
    assert bad == [
        "line 3: not valid JSON: Expecting ',' delimiter at column 18",
        "line 4: expected an object, found a list of 2",
        "line 5: not valid UTF-8: byte 0xff at byte 15 of the line",
        "line 6: not valid UTF-8: byte 0xed at byte 15 of the line",
        "line 7: the response is a number, not text",
        "line 8: nested too deeply",
        "line 9: contains a number with thousands of digits",
        "line 12: not valid JSON: Unterminated string starting at column 14; is the file cut off?",
    ]
    assert heard == report.bad_rows
    assert (report.good, report.bad, report.incomplete) == (3, 8, "")


def test_broken_elements_of_an_array_are_stepped_over(tmp_path):
    """One broken element of a JSON array costs that element only."""
    path = tmp_path / "rows.json"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_bytes(
        b'[{"response": "A"}, {"response" "]}"}, {"response": "B\xff"}, "x", {"response": "C", "d": '
        + deep.encode()
        + b'}, {"response": "D", "n": NaN}]'
    )
    ids, bad, report = read(path)
    assert ids == ["1", "6"]
    assert bad == [
        "row 2: not valid JSON: Expecting ':' delimiter",
        "row 3: contains bytes that are not valid UTF-8",
        "row 4: expected an object, found text",
        "row 5: nested too deeply",
    ]
    assert not report.incomplete


@pytest.mark.parametrize("cut", range(20, 59, 3))
def test_a_cut_off_array_gives_what_is_whole(tmp_path, cut):
    """The elements before the cut are read, and the report says that the rest is lost."""
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"response": "A."}, {"response": "B."}, {"response": "C."}])[:cut])
    ids, bad, report = read(path)
    assert ids == ["1", "2"][: len(ids)]
    assert len(ids) >= (cut - 1) // 20
    assert len(bad) == 1
    assert report.incomplete


def test_bad_records_of_csv_are_kept_out_with_their_lines(tmp_path):
    """Lines are those of the file, also after cells that span several."""
    path = tmp_path / "rows.csv"
    path.write_bytes(
        b'response,contexts\n"two\nlines",c\nonly one\na,b,c\n\n"x"y,c\n\xff,c\nN\x00L,c\nlast,c\n"open,c\nmore\n'
    )
    ids, bad, report = read(path)
    assert ids == ["1", "7"]
    assert bad == [
        "line 4: has 1 cell, the header has 2",
        "line 5: has 3 cells, the header has 2",
        "line 7: not valid CSV: ',' expected after '\"'",
        "line 8: not valid UTF-8; save the file as UTF-8",
        "line 9: contains a NUL byte",
        "line 11: a quote is opened here and never closed",
    ]
    assert report.incomplete == bad[-1]


@pytest.mark.parametrize("damage", ["cut", "flip"])
@pytest.mark.parametrize(
    "compress",
    [gzip.compress, lzma.compress, zstd_checked],
    ids=["gz", "xz", "zst"],
)
def test_damaged_archives_give_what_could_be_read(tmp_path, compress, damage):
    """A cut or damaged archive never passes for a whole one."""
    numbered = b"".join(b'{"response": "%d"}\n' % (n * n * 7919) for n in range(14_000))
    data = bytearray(compress(numbered))
    if damage == "cut":
        del data[-9:]
    else:
        data[len(data) // 2] ^= 0xFF
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    ids, _, report = read(path)
    assert 0 < len(ids) <= 14_000
    assert "compressed file is" in report.incomplete


def test_a_column_given_twice_is_refused_when_it_is_read(tmp_path):
    """Which of the two is meant nobody knows; two that nobody reads, such as those of trailing commas, do not matter."""
    path = tmp_path / "rows.csv"
    path.write_text("response,contexts,response\nfirst,c,second\n")
    assert "the columns 1 and 3 are both named 'response': rename all but one" in refused(path)
    path.write_text("response,contexts,note,note\nfirst,c,,\n")
    assert "both named 'note'" in refused(path, slices=["note"])
    (sample,) = read_samples(path)
    assert sample.response == "first"
    path.write_text("response,contexts,,\nfirst,c,,\n")
    (sample,) = read_samples(path)
    assert sample.response == "first"


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize(
    "row", ['{"response": "a", "response": "b"}', '{"response": "a", "contexts": [{"text": "x", "text": "y"}]}']
)
def test_a_key_given_twice_is_a_bad_row(tmp_path, suffix, row):
    """Not the last one, silently; the other rows are read."""
    path = tmp_path / f"rows.{suffix}"
    rows = [row, '{"response": "good", "contexts": []}']
    path.write_text("\n".join(rows) if suffix == "jsonl" else f"[{', '.join(rows)}]")
    report = ReadReport()
    assert [sample.response for sample in read_samples(path, report=report)] == ["good"]
    assert report.bad == 1
    assert "appears twice in one object" in report.bad_rows[0].reason


def test_a_pipe_with_a_name_is_read_once(tmp_path):
    """Process substitution gives pipes as files; they cannot be opened twice."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    wrapped = b'{"data": [' + GOOD.strip() + b"]}"
    for data, given in ((GOOD * 3, None), (b"[" + GOOD.strip() + b"]", None), (wrapped, "json")):
        writer = threading.Thread(target=path.write_bytes, args=(data,))
        writer.start()
        assert len(list(read_samples(path, format=given))) == (3 if data == GOOD * 3 else 1)
        writer.join()


def test_tables_without_pyarrow_name_the_extra(tmp_path, monkeypatch):
    """The message is the command that helps."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"response": ["A."]}), path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'everyclaim\[tables\]'"):
        list(read_samples(path))
