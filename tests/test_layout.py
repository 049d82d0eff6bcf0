"""The order of the tests and of the package: one name for one thing."""

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


def test_a_class_name_is_used_once() -> None:
    """No two classes of the package have one name, with or without an underscore in front."""
    found = Counter(
        name.lstrip("_")
        for path in (Path(__file__).parent.parent / "src").rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE)
    )
    assert [name for name, count in found.items() if count > 1] == []
