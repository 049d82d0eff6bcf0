"""Rows written with what a result must say: how many come out so, and that none is wrong in the worse way."""

from __future__ import annotations

import pytest
import written


@pytest.mark.parametrize(
    ("name", "allowed"), [("languages", 1), ("refusals", 8), ("conversations", 4), ("exact_things", 0)]
)
def test_written_rows_come_out_as_they_should(name: str, allowed: int) -> None:
    """Only so many differ, and no right refusal is called wrong."""
    differing = [(row, found) for row, found in written.faults(name, "embedded") if found]
    assert len(differing) <= allowed, differing
    assert not [found for row, found in differing if row["kind"].endswith("right")]
