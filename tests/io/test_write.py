"""Writers: every format and compression comes back as it went out, whole or not at all."""

import csv
import io
import json
import sys
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everyclaim.core.errors import MissingExtraError
from everyclaim.core.types import (
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Probabilities,
    Provenance,
    Result,
    Sample,
    Span,
    Verdict,
)
from everyclaim.core.wire import result_from_json, result_to_json, sample_to_json
from everyclaim.io import read_samples
from everyclaim.io.files import COMPRESSIONS, open_text
from everyclaim.io.writing import RESULT_COLUMNS, flatten_result, open_rows, write_results

SAMPLES = [
    Sample("a", "Two days.", (Passage("p1", "It takes two days.", "T"),), "How long?", tags={"kind": "x"}, model="m"),
    Sample("b", "Zwei Tage; 東京 🗼", (), reference="R."),
]
PROVENANCE = Provenance("faithfulness", "embedded", "lexical", "ranked", "1")
CLAIM = JudgedClaim(
    "c1",
    "=cmd()",
    Span(0, 6),
    "=cmd()",
    Verdict(
        "c1",
        Label.CONTRADICTED,
        Probabilities(0.1, 0.2, 0.7),
        (Evidence("p1", 0, 2, "It"), Evidence("p2", 1, 3, "no")),
        "why",
        "lexical",
        conflict=True,
        failure_mode=FailureMode.NEGATION,
        flags=("certainty_differs", "spread_evidence"),
    ),
)
RESULTS = [
    Result("a", Outcome.SCORED, 0.0, PROVENANCE, claims=(CLAIM,), question="Q?", tags={"kind": "x"}),
    Result("b", Outcome.FAILED, None, PROVENANCE, reason="missing_verdict"),
    Result("c", Outcome.NO_CLAIMS, None, PROVENANCE, details={"asked": [1, "two", None]}),
]
IN_PARTS = [
    RESULTS[1],
    Result(
        "d",
        Outcome.SCORED,
        0.5,
        PROVENANCE,
        claims=(CLAIM,),
        components={"precision": 0.5, "recall": None},
        reference_claims=(
            replace(CLAIM, id="r1", text="The other way.", verdict=replace(CLAIM.verdict, claim_id="r1")),
        ),
    ),
]


def write(rows, path):
    """Write rows of texts, with every field as a column."""
    kept = list(rows)
    with open_rows(path, columns=dict.fromkeys((name for row in kept for name in row), str)) as write_row:
        for row in kept:
            write_row(row)


def text_of(path):
    with open_text(str(path)).open() as stream:
        return stream.read().decode()


TEXTS = [f"{text}{packed}" for text in ("jsonl", "ndjson", "json", "csv", "tsv") for packed in ("", *COMPRESSIONS)]


@pytest.mark.parametrize("suffix", [*TEXTS, "parquet"])
def test_samples_survive_every_format(tmp_path, suffix):
    """What is written is read back as it was; in tables nested cells become JSON text, which the reader knows."""
    path = tmp_path / f"rows.{suffix}"
    write(map(sample_to_json, SAMPLES), path)
    assert list(read_samples(path)) == SAMPLES
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["jsonl.gz", "json.xz", "csv.zst", "parquet"])
def test_the_same_rows_give_the_same_bytes(tmp_path, suffix):
    """Nothing of the time or the place gets into a file."""
    files = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for file in files:
        write_results(RESULTS, file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_no_rows_make_a_valid_file(tmp_path, suffix):
    """An empty result is an empty table, not a missing file."""
    path = tmp_path / f"rows.{suffix}"
    write_results([], path)
    if suffix == "parquet":
        assert pq.read_table(path).column_names == list(RESULT_COLUMNS)
    elif suffix == "csv":
        assert next(csv.reader([text_of(path)])) == list(RESULT_COLUMNS)
    else:
        assert path.read_text() in {"", "[]\n"}


def test_results_as_json_lines_are_the_public_objects(tmp_path):
    """JSON Lines keep everything, so that results can be rescored."""
    path = tmp_path / "results.jsonl"
    write_results(RESULTS + IN_PARTS, path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [result_to_json(result) for result in RESULTS + IN_PARTS]
    assert [result_from_json(row) for row in rows] == RESULTS + IN_PARTS


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_parts_of_a_score_are_columns_beside_it(tmp_path, suffix):
    """Also when the first results failed and know of no parts; claims of the reference say so."""
    path = tmp_path / f"rows.{suffix}"
    write_results(IN_PARTS, path)
    if suffix == "csv":
        rows = list(csv.DictReader(text_of(path).splitlines()))
        nothing, number = "", "0.5"
    else:
        rows = pq.read_table(path).to_pylist()
        nothing, number = None, 0.5
    assert list(rows[0])[2:6] == ["score", "probability", "component.precision", "component.recall"]
    assert [row["component.precision"] for row in rows] == [nothing, number, number]
    assert [row["component.recall"] for row in rows] == [nothing] * 3
    assert [(row["claim_of"], row["claim_id"]) for row in rows] == [
        (nothing, nothing),
        ("response", "c1"),
        ("reference", "r1"),
    ]


def test_a_flat_row_per_claim_and_one_for_a_result_without():
    """No sample is lost in a table, and every row has every column."""
    (claim,) = flatten_result(RESULTS[0])
    (failed,) = flatten_result(RESULTS[1])
    assert list(claim) == list(failed) == list(RESULT_COLUMNS)
    assert (claim["id"], claim["label"], claim["p_contradicted"], claim["quote"]) == ("a", "CONTRADICTED", 0.7, "It")
    assert (claim["start"], claim["end"], claim["failure_mode"], claim["conflict"]) == (0, 6, "negation", True)
    assert json.loads(claim["evidence"])[1]["passage_id"] == "p2"
    assert claim["flags"] == "certainty_differs; spread_evidence"
    assert (failed["outcome"], failed["score"], failed["reason"], failed["claim"]) == (
        "failed",
        None,
        "missing_verdict",
        None,
    )


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_no_cell_is_a_formula(tmp_path, start):
    """Text that a spreadsheet would run is disarmed, in headers too; numbers stay numbers."""
    path = tmp_path / "rows.csv"
    write([{"a": f"{start}1+1", "n": -0.5, f"{start}h": [start]}], path)
    header, row = csv.reader(io.StringIO(text_of(path), newline=""))
    assert header == ["a", "n", f"'{start}h"]
    assert row[:2] == [f"'{start}1+1", "-0.5"]


@given(st.lists(st.text(), min_size=1), st.sampled_from(["jsonl", "json", "csv", "tsv"]))
@example(["\x1f\x08"], "csv")  # control signs alone make no binary file
def test_any_text_comes_back(tmp_path_factory, texts, suffix):
    """Quotes, separators, line ends and all else survive, but for what CSV must replace."""
    path = tmp_path_factory.mktemp("write") / f"rows.{suffix}"
    write([{"id": str(n), "response": text} for n, text in enumerate(texts)], path)
    found = [sample.response for sample in read_samples(path)]
    if suffix in {"csv", "tsv"}:
        texts = [text.replace("\0", "\u2400") for text in texts]
        texts = [f"'{text}" if text.startswith(tuple("=+-@\t\r\n＝＋－＠")) else text for text in texts]
    assert found == texts


def test_a_failure_leaves_what_was_there(tmp_path):
    """When the rows break off, the old file stays and no half file appears."""
    path = tmp_path / "rows.jsonl"
    path.write_text("old")
    for suffix in ("jsonl", "json.gz", "csv", "parquet"):
        with pytest.raises(LookupError), open_rows(tmp_path / f"rows.{suffix}", columns={"a": int}) as write_row:
            raise LookupError(write_row({"a": 1}))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("rows.jsonl", "old")]


def test_a_link_is_written_through_and_modes_are_kept(tmp_path):
    """Replacing a file keeps the link to it and who may read it."""
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write([{"a": 1}], link)
    assert link.is_symlink()
    assert real.read_text() == '{"a": 1}\n'
    assert real.stat().st_mode & 0o777 == 0o640


def test_standard_output(capfdbinary):
    """``-`` writes JSON Lines to standard output."""
    write([{"a": "é"}], "-")
    assert capfdbinary.readouterr().out == '{"a": "é"}\n'.encode()


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    """The message is the command that helps, before anything is written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"everyclaim\[tables\]"):
        write([], tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []
