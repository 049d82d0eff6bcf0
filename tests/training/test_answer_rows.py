"""Marked answers as rows for the network: labels, marks, halves by document.

In a process of its own: a benchmark that other tests import has the name of the package `answers`.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).parents[2] / "training"
CODE = f"""
import json, sys
sys.path.insert(0, {str(TRAINING)!r})
from answers.claims import split_answers
from answers.read import Fault, MarkedAnswer
from answers.rows import half, rows

RESPONSE = "The ferry leaves at noon. It carries cars, and dogs travel free. Tickets are sold on board."

def answer(number):
    words = "dogs travel free"
    start = RESPONSE.index(words)
    fault = Fault(start, start + len(words), "UNSUPPORTED", "add", "nothing is said of dogs")
    return MarkedAnswer(f"a{{number}}", "composed", "own", f"document {{number}}", "When?", ("It leaves at noon.",),
                        RESPONSE, (fault,))

for row in rows(split_answers([answer(number) for number in range(60)])):
    print(json.dumps({{**row, "half": half(row["group"])}}))
"""


@pytest.fixture(scope="module")
def made() -> list[dict[str, Any]]:
    """The rows of sixty answers with one fault each, every one to a document of its own."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_marked_words_of_a_claim_are_its_errors(made: list[dict[str, Any]]) -> None:
    """Also where the claim is only part of its sentence; supported claims have none, and all are each other's twins."""
    mine = [row for row in made if row["beside"] == "a1"]
    wrong = [row for row in mine if row["label"] == "UNSUPPORTED"]
    assert [[row["text"][low:high] for low, high in row["errors"]] for row in wrong] == [["Dogs travel free"]]
    assert {row["label"] for row in mine} == {"SUPPORTED", "UNSUPPORTED"}
    assert all(row["errors"] == [] for row in mine if row["label"] == "SUPPORTED")
    assert {row["group"] for row in mine} == {"document 1"}


def test_a_document_belongs_to_one_half(made: list[dict[str, Any]]) -> None:
    """All claims of its answers are read by one network, and either network gets about half of the documents."""
    halves = {row["group"]: row["half"] for row in made}
    assert all(row["dataset"].split("_")[1] == halves[row["group"]] for row in made)
    assert len(halves) == 60
    assert 18 < sum(half == "a" for half in halves.values()) < 42
