"""A command, and a call of a public function, open a store to read once, however much they ask of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.cli.app import run as command_line
from everyclaim.store.store import Store

ANSWERS = [
    {"id": "a", "response": "It is red.", "contexts": ["It is red."], "tags": {"source": "x"}},
    {"id": "b", "response": "It is blue.", "contexts": ["It is red."], "tags": {"source": "y"}},
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        ec.score_file(ANSWERS, store="runs.db", name=name, judge="lexical", slices=["source"])
    return "runs.db"


@pytest.fixture
def opens(store: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note every opening from here on."""
    noted: list[str] = []
    for kind in ("open", "open_to_read"):
        usual = getattr(Store, kind)

        def noting(location, usual=usual, kind=kind, **options):
            noted.append(kind)
            return usual(location, **options)

        monkeypatch.setattr(Store, kind, noting)
    return noted


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs"],
        ["report", "one"],
        ["report", "one", "--json"],
        ["report", "one", "--out", "out.jsonl", "--html", "page.html", "--junit", "j.xml", "--markdown", "m.md"],
        ["compare", "one", "two", "--by", "source"],
        ["label", "one", "--out", "labels.jsonl"],
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_a_command_opens_its_store_once(arguments: list[str], store: str, opens: list[str]) -> None:
    """To read, and never to write."""
    assert command_line([*arguments, "--store", store]) == 0
    assert opens == ["open_to_read"]


def test_scoring_opens_once_to_write_and_once_to_read(store: str, opens: list[str]) -> None:
    """What is shown at the end is read."""
    Path("answers.jsonl").write_text('{"response": "It is red.", "contexts": ["It is red."]}\n')
    assert command_line(["score", "answers.jsonl", "--judge", "lexical", "--store", store, "--report", "p.html"]) == 0
    assert sorted(opens) == ["open", "open_to_read"]
