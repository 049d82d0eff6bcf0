"""What results store about what made them: the same bytes from release to release, or stored runs no longer resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everyclaim.api.session import Session
from everyclaim.core.wire import to_json

PINS = json.loads((Path(__file__).parent / "provenance_pins.json").read_text("utf-8"))


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: json.dumps(pin["options"]))
def test_the_same_options_are_stored_in_the_same_words(pin: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """For the default and for every documented kind of spec and option."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-a-test")
    monkeypatch.chdir(Path(__file__).parents[2])
    made = to_json(Session(pin["options"]).metric.provenance)
    del made["version"]
    assert made == pin["provenance"]
