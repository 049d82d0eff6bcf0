"""What imports torch is left out of `make check`; what no step of a redesign may change is marked `freeze`."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# Several tests run at a time: threads of linear algebra that wait for each other would take many times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Many tests start a process, which compiled every module anew where none may be kept beside its source.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(
        Path(__file__).parents[1] / ".pytest_cache" / "compiled"
    )

pytest_plugins = ["pytester"]
HERE = Path(__file__).parent
NEED_TORCH = {HERE / name for name in ("api/test_huggingface.py", "training/test_encoder.py")}
FROZEN = (
    "test_public.py conformance public",
    "api/test_evaluator.py api/test_fault_runs.py api/test_running.py api/test_door.py",
    "cli/test_commands.py cli/test_killed_score.py cli/test_language_models.py cli/test_outputs.py",
    "cli/test_runs_command.py cli/test_score_command.py cli/test_secrets.py cli/test_unread_rows.py",
    "cli/test_usage_faults.py cli/test_watch_command.py models/test_batch_kill.py",
    "web/test_jobs.py web/test_service.py",
    # what is stored: provenance, results, keys of kept replies
    "api/test_provenance_pins.py metrics/test_pinned_results.py",
)
FREEZE = [HERE / name for line in FROZEN for name in line.split()]


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples while somebody works than where everything is run; machines differ, so none has a deadline."""
    if find_spec("hypothesis") is None:  # beside Ragas and the frameworks
        return
    from hypothesis import settings

    settings.register_profile("drawn", deadline=None, max_examples=15 if config.option.markexpr == "not slow" else 60)
    settings.load_profile("drawn")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out where they could not run, or would be deselected after the import."""
    left_out = find_spec("torch") is None or config.option.markexpr == "not slow"
    return True if left_out and collection_path in NEED_TORCH else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what goes through public doors alone, and holds through every redesign."""
    for item in items:
        if any(item.path.is_relative_to(path) for path in FREEZE):
            item.add_marker(pytest.mark.freeze)
