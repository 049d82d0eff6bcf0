"""Tables and iterables in Python are read as files are: the same samples, the same faults, the same scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import everyclaim as ec
from everyclaim.api.datasets import ClaimVerdict

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "question": "What?",
        "response": "The kettle is red. It holds 9 litres.",
        "contexts": [{"id": "x", "text": "The kettle is red. It holds 2 litres.", "title": None}],
        "domain": "kitchen",
        "model": None,
    },
    {
        "id": "b",
        "question": None,
        "response": "The tower is tall.",
        "contexts": [{"id": "y", "text": "The tower is tall.", "title": "T"}, {"id": "z", "text": "A", "title": None}],
        "domain": None,
        "model": "m",
    },
    {"id": "c", "question": "Q", "response": None, "contexts": [], "domain": "kitchen", "model": None},
    {"id": "d", "question": "Q", "response": "The tower is tall.", "contexts": None, "domain": "hall", "model": None},
]


def arrow() -> pa.Table:
    return pa.Table.from_pylist(ROWS)


def pandas_of_parquet(folder: Path, **more: Any) -> pd.DataFrame:
    pa.parquet.write_table(arrow(), folder / "rows.parquet")
    return pd.read_parquet(folder / "rows.parquet", **more)


def in_a_file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


SOURCES: dict[str, Callable[[Path], Any]] = {
    "json": lambda folder: in_a_file(folder, "rows.json", json.dumps(ROWS)),
    "list": lambda _: ROWS,
    "generator": lambda _: (row for row in ROWS),
    "values of a mapping": lambda _: {row["id"]: row for row in ROWS}.values(),
    "pandas": lambda _: pd.DataFrame(ROWS),
    "pandas of parquet": pandas_of_parquet,
    "pandas on arrow": lambda folder: pandas_of_parquet(folder, dtype_backend="pyarrow"),
    "pandas rows": lambda _: (row for _, row in pd.DataFrame(ROWS).iterrows()),
    "pandas in chunks": lambda _: (pd.DataFrame(ROWS)[at : at + 2] for at in (0, 2)),
    "polars": lambda _: pl.DataFrame(ROWS),
    "polars, lazy": lambda _: pl.DataFrame(ROWS).lazy(),
    "arrow": lambda _: arrow(),
    "arrow reader": lambda _: arrow().to_reader(max_chunksize=3),
    "arrow data set": lambda _: pa.dataset.dataset(arrow()),
}


def scored(source: Any, folder: Path) -> list[Any]:
    """What is seen of a run: samples, claims, verdicts, warnings, and the rows that were kept out."""
    run = ec.score_file(source, store=folder / "runs.db", judge="lexical", slices="domain", resume=None)
    assert run.read is not None
    seen: list[Any] = [
        (
            r.id,
            r.outcome,
            r.score,
            r.question,
            dict(r.tags),
            r.model,
            r.warnings,
            [(c.text, c.verdict) for c in r.claims],
        )
        for r in run.results()
    ]
    frame = run.to_pandas()
    seen += [len(frame), list(frame.columns)]
    return [*seen, run.read.good, [bad.reason for bad in run.read.bad_rows]]


@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_every_source_gives_what_the_file_gives(kind: str, tmp_path: Path) -> None:
    """Frames of three libraries, whole, lazy and in pieces; lists; generators."""
    file = in_a_file(tmp_path, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    expected = scored(file, tmp_path)
    assert expected[0][2] == 0.5
    assert expected[-2:] == [3, ["the response is missing (null)"]]
    assert scored(SOURCES[kind](tmp_path), tmp_path) == expected


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, iter])
def test_frames_of_claims_labels_and_documents(make: Callable[[Any], Any], tmp_path: Path) -> None:
    """Wherever rows are read, and not only where answers are scored."""
    claims = [{"claim": "The kettle is red.", "contexts": ["The kettle is red."], "label": "SUPPORTED"}] * 2
    told: list[ClaimVerdict] = []
    assert ec.Evaluator(judge="lexical").verify_file(make(claims), told.append) == 2
    assert [row.verdict.label for row in told if row.verdict] == ["SUPPORTED", "SUPPORTED"]
    assert ec.fit_cascade(make(claims), "lexical").claims == 2
    documents = [{"id": "k", "text": "The kettle is red.", "title": "Kettles"}]
    assert ec.build_corpus(make(documents), tmp_path / "corpus.db").documents == 1
    assert ec.open_corpus(make(documents)).find("kettle", 1)[0].passage.text == "The kettle is red."
