"""Two hundred written answers with planted wrong, missing and dead citations: every one is found."""

from __future__ import annotations

import sys

import attribution
import pytest


@pytest.mark.parametrize("judge", ["written", "scripted", pytest.param("embedded", marks=pytest.mark.slow)])
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
