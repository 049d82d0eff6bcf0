"""A growing file, a store, and a scored run for tests of watching; the databases of the store's tests serve here too."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from watching import EXAMPLE

import everyclaim as ec

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))


@pytest.fixture(scope="session")
def scored_example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first answers of the example, scored into a store as the run `first`."""
    place = tmp_path_factory.mktemp("example") / "runs.db"
    rows = [json.loads(line) for line in (EXAMPLE / "answers.jsonl").read_text("utf-8").splitlines()[:24]]
    ec.score_file(rows, store=place, name="first", judge="lexical")
    return place


@pytest.fixture
def example(scored_example: Path, tmp_path: Path) -> Path:
    """A store of one's own with that run."""
    return Path(shutil.copy(scored_example, tmp_path / "example.db"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log" / "answers.jsonl"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "watched.db"
