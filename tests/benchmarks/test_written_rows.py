"""Rows written with what a result must say: how many come out so, and that none is wrong in the worse way."""

from __future__ import annotations

import sys

import attribution
import numpy as np
import pytest
import readings
import written

import detector


@pytest.mark.parametrize(
    ("name", "judge", "allowed"),
    [
        ("exact_things", "embedded", 1),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in (
                ("languages", "embedded", 4), ("refusals", "embedded", 8), ("conversations", "embedded", 6),
                ("claims", "embedded", 13), ("claims", "lexical", 15),
            )
        ),
    ],
)  # fmt: skip
def test_written_rows_come_out_as_they_should(name: str, judge: str, allowed: int) -> None:
    """Only so many differ, and no right refusal is called wrong."""
    differing = [(row, found) for row, found in written.faults(name, judge) if found]
    assert len(differing) <= allowed, differing
    assert not [found for row, found in differing if row["kind"].endswith("right")]


@pytest.mark.parametrize("reader", readings.READERS)
def test_texts_are_read_as_people_read_them(reader: str) -> None:
    """Nineteen rows of twenty, of every reader; all where a row that differs would hide or change what is said.

    Sentences that once had a rule of their own are split by what the parser reads: of these, six of seven.
    """
    rows = list(readings.read_rows(reader))
    differing = [(row, said) for row, said in rows if said != row["expect"]]
    allowed = 0 if reader in readings.ALWAYS else len(rows) / 7 if reader == "splits" else max(len(rows) / 20, 1)
    assert rows
    assert len(differing) <= allowed, differing


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["written", "scripted", "embedded"])
def test_planted_citations_are_found(
    judge: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All by a judge and by a scripted model that know the truth; by the offline one within its bounds."""
    monkeypatch.setattr(sys, "argv", ["attribution", "--judge", judge])
    assert attribution.main() == 0
    told = capsys.readouterr().out.splitlines()[1:]
    assert sum(int(line.split()[1]) for line in told) > 600
    if judge != "embedded":
        assert all(line.split()[2:] == ["1.000", "1.000"] for line in told)


def test_the_streams_side_by_side_alarm_where_the_detector_does() -> None:
    """It exits where they differ."""
    detector.check_against_the_detector()


def test_a_rise_is_noticed_and_its_delay_counted_from_the_rise() -> None:
    """Five times 5 %: within two hundred answers."""
    delays = detector.delays(np.random.default_rng(1), 0.05, 0.25, 0.075, 8)
    assert np.isfinite(delays).all()
    assert np.median(delays) < 200
