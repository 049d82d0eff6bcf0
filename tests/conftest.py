"""What imports torch is part of the whole run alone: it takes seconds to import, and `make check` does not install it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
NEED_TORCH = {Path(__file__).parent / name for name in ("api/test_huggingface.py", "training/test_encoder.py")}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out where they could not run, or would be deselected after the import."""
    left_out = find_spec("torch") is None or config.option.markexpr == "not slow"
    return True if left_out and collection_path in NEED_TORCH else None
