"""Tests of chat models see no keys of the machine they run on, and do not wait between retries."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

LIBRARIES = ("aiohttp", "aiolimiter", "stamina")
collect_ignore_glob = ["test_*.py"] if any(find_spec(name) is None for name in LIBRARIES) else []


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVERYCLAIM_KEYS", str(tmp_path / "no-keys.toml"))
    from everyclaim.testing import no_sleep

    with no_sleep():
        yield
