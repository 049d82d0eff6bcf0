"""A growing file and a store for tests of watching; the databases of the store's tests serve here too."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log" / "answers.jsonl"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "watched.db"
