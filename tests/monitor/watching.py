"""What the tests of watching share: a judge by words, rows of answers, and what a watch left in its store."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import everyclaim as ec
from everyclaim.monitor.watch.source import WatchPass
from everyclaim.store.store import Store
from scripted_judge import ByWords

EXAMPLE = Path(__file__).parents[2] / "examples/support_bot"


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"a{number}",
        "response": f"The unit weighs {number} kg.",
        "contexts": [f"The unit weighs {number} kg."],
    } | more


def append(path: Path, *rows: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)


def watched(source: Any, store: Path, **options: Any) -> WatchPass:
    """Make one pass with the judge by words."""
    options = {"judge": ByWords(), **options}
    return ec.watch(source, store=store, once=True, **options)


def ids(store: Path | str) -> Counter[str]:
    """Return how many results every sample id has, in all the runs of a store."""
    with Store.open_to_read(store) as kept:
        return Counter(result.id for run in kept.runs() for result in kept.results(run.id))


def run_names(store: Path | str) -> set[str]:
    with Store.open_to_read(store) as kept:
        return {run.name for run in kept.runs()}
