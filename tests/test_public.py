"""The public namespace, pinned: adding or removing a name is a decision."""

from __future__ import annotations

import subprocess
import sys

import pytest

import everyclaim as ec

CALLS = {
    "Client", "Evaluator", "Guard", "ascore", "averify_claims", "baseline", "build_corpus", "calibrate", "evaluate_judge", "check_splits", "compare", "extract_claims", "find_run", "fit_cascade", "label", "label_queue", "label_splits", "open_corpus", "release_report", "score", "score_file",
    "trend", "smoke_test_judge", "tune", "verify_claims", "watch",
}  # fmt: skip
WORDS = {
    "Claim", "Decomposition", "Difference", "Evidence", "FailureMode", "JudgedClaim", "Label", "Outcome", "Passage",
    "Probabilities", "Result", "Run", "Sample", "Verdict",
}  # fmt: skip
ERRORS = {
    "BudgetExceeded", "ConfigError", "EveryclaimError", "GeneratorError", "InputError", "JudgeError", "MissingExtraError", "OperatorError", "StoreError",
    "UserError",
}  # fmt: skip


def test_these_names_are_public_and_no_others() -> None:
    """Calls, words and errors; everything else is reached through its own module."""
    assert set(ec.__all__) == CALLS | WORDS | ERRORS | {"__version__"}
    assert dir(ec) == sorted(ec.__all__)
    assert [name for name in ec.__all__ if not hasattr(ec, name)] == []


@pytest.mark.parametrize("name", sorted(CALLS))
def test_no_room_hides_a_call(name: str) -> None:
    """A package of the same name would replace a function as soon as it is imported."""
    assert callable(getattr(ec, name))
    assert getattr(ec, name).__doc__


@pytest.mark.parametrize(
    ("former", "name"),
    [("try_judge", "smoke_test_judge"), ("check_judge", "evaluate_judge"), ("fit_band", "fit_cascade")],
)
def test_former_names_still_work(former: str, name: str) -> None:
    """A renamed call is found by its former name, which is listed nowhere."""
    assert getattr(ec, former) is getattr(ec, name)
    assert former not in dir(ec)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Lazy imports do not swallow typing mistakes."""
    with pytest.raises(AttributeError, match="no attribute 'scor'"):
        ec.scor  # noqa: B018


def test_importing_the_package_loads_no_third_party_module() -> None:
    """`import everyclaim` is standard library only; parts come when they are used."""
    code = (
        "import sys; before = set(sys.modules); import everyclaim;"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names) - {'everyclaim'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
