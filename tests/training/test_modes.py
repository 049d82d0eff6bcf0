"""The labelled failing claims: every line is read, every mode is there, and the parts share nothing."""

from collections import Counter

import pytest
from training.modes.read import failing

from everyclaim.core.types import FailureMode


@pytest.mark.parametrize(("part", "least", "each"), [("dev", 200, 20), ("heldout", 120, 10)])
def test_a_part_holds_every_mode_and_true_places(part: str, least: int, each: int) -> None:
    """No mode is rare, none dominates."""
    rows = list(failing(part))
    counts = Counter(row.mode for row in rows)
    assert len(rows) >= least
    assert counts.keys() == set(FailureMode)
    assert min(counts.values()) >= each
    assert max(counts.values()) < len(rows) / 4
    for row in rows:
        assert row.claim[slice(*row.at)].strip()
        assert row.passage is None or row.quote in row.passages[row.passage]


def test_the_parts_have_no_passage_in_common() -> None:
    """What is held out is on other texts."""
    dev, held = ({text for row in failing(part) for text in row.passages} for part in ("dev", "heldout"))
    assert not dev & held
