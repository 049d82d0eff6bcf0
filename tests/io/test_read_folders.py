"""Folders as Hugging Face `datasets` saves them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everyclaim.core.errors import InputError
from everyclaim.io import read_samples


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
        ("state.json", "[]"),
        ("state.json", '{"_data_files": [{"filename": "../other.arrow"}]}'),
        ("state.json", '{"_data_files": []}'),
        ("dataset_dict.json", '{"splits": 3}'),
        ("dataset_dict.json", '{"splits": ["/etc"]}'),
    ],
)
def test_a_damaged_description_is_one_line(tmp_path, name, text):
    """A description that is broken, or points outside its folder, is refused."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=name):
        texts(tmp_path)
