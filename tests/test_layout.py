"""The tests' own order: folders without packages, whose modules share one name space."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

MODULES = [path for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"]


def test_any_folders_can_be_given_in_one_call() -> None:
    """No two modules have one name, and what several share is not in a conftest, which every folder has its own of."""
    assert [name for name, count in Counter(path.name for path in MODULES).items() if count > 1] == []
    assert [
        path.name for path in MODULES if re.search(r"^(from|import) conftest\b", path.read_text("utf-8"), re.MULTILINE)
    ] == []
