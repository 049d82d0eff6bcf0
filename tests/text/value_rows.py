"""Quantities, dates and times with what they must be read as, one a line in `values.jsonl`."""

import json
from pathlib import Path
from typing import Any

ROWS = [json.loads(line) for line in Path(__file__).with_name("values.jsonl").read_text("utf-8").splitlines()]


def rows(name: str) -> list[list[Any]]:
    """Return the rows of this name, without it."""
    return [values for first, *values in ROWS if first == name]
