"""Rows written with what a result must say: how many come out so, and that none is wrong in the worse way."""

from __future__ import annotations

import pytest
import readings
import written


@pytest.mark.parametrize(
    ("name", "judge", "allowed"),
    [
        ("languages", "embedded", 3), ("refusals", "embedded", 8), ("conversations", "embedded", 4),
        ("exact_things", "embedded", 0), ("claims", "embedded", 6), ("claims", "lexical", 13),
    ],
)  # fmt: skip
def test_written_rows_come_out_as_they_should(name: str, judge: str, allowed: int) -> None:
    """Only so many differ, and no right refusal is called wrong."""
    differing = [(row, found) for row, found in written.faults(name, judge) if found]
    assert len(differing) <= allowed, differing
    assert not [found for row, found in differing if row["kind"].endswith("right")]


@pytest.mark.parametrize("reader", readings.READERS)
def test_texts_are_read_as_people_read_them(reader: str) -> None:
    """Nineteen rows of twenty, of every reader."""
    rows = list(readings.read_rows(reader))
    differing = [(row, said) for row, said in rows if said != row["expect"]]
    assert len(differing) <= len(rows) / 20, differing
