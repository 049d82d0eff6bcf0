"""Claim-level faithfulness evaluation of RAG answers.

Everything public is here; parts are imported on first use, so that ``import everyclaim`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from everyclaim._version import __version__
from everyclaim.core.errors import (
    BudgetExceeded,
    ConfigError,
    EveryclaimError,
    GeneratorError,
    InputError,
    JudgeError,
    MissingExtraError,
    OperatorError,
    StoreError,
    UserError,
)
from everyclaim.core.types import (
    Claim,
    Decomposition,
    Difference,
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Probabilities,
    Result,
    Sample,
    Verdict,
)

if TYPE_CHECKING:
    from everyclaim.api.compare import compare, release_report, trend
    from everyclaim.api.datasets import score_file
    from everyclaim.api.evaluator import Evaluator, Guard
    from everyclaim.api.fitting import fit_cascade, tune
    from everyclaim.api.judge_eval import evaluate_judge, smoke_test_judge
    from everyclaim.api.labels import calibrate, check_splits, label, label_queue, label_splits
    from everyclaim.api.metrics import build_corpus, open_corpus
    from everyclaim.api.runs import Run, find_run
    from everyclaim.api.scoring import ascore, averify_claims, extract_claims, score, verify_claims
    from everyclaim.api.watch import baseline, watch
    from everyclaim.web.client import Client

_ROOMS = {  # what is imported on first use
    "everyclaim.api.compare": ("compare", "release_report", "trend"),
    "everyclaim.api.datasets": ("score_file",),
    "everyclaim.api.evaluator": ("Evaluator", "Guard"),
    "everyclaim.api.fitting": ("fit_cascade", "tune"),
    "everyclaim.api.judge_eval": ("evaluate_judge", "smoke_test_judge"),
    "everyclaim.api.labels": ("calibrate", "check_splits", "label", "label_queue", "label_splits"),
    "everyclaim.api.metrics": ("build_corpus", "open_corpus"),
    "everyclaim.api.runs": ("Run", "find_run"),
    "everyclaim.api.scoring": ("ascore", "averify_claims", "extract_claims", "score", "verify_claims"),
    "everyclaim.api.watch": ("baseline", "watch"),
    "everyclaim.web.client": ("Client",),
}
_ON_FIRST_USE = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "BudgetExceeded", "Claim", "Client", "ConfigError", "Decomposition", "Difference", "Evaluator", "EveryclaimError",
    "Evidence", "FailureMode", "GeneratorError", "Guard", "InputError", "JudgeError", "JudgedClaim", "Label",
    "MissingExtraError", "OperatorError", "Outcome", "Passage", "Probabilities", "Result", "Run", "Sample",
    "StoreError", "UserError", "Verdict", "__version__", "ascore", "averify_claims", "baseline", "build_corpus",
    "calibrate", "check_splits", "compare", "evaluate_judge", "extract_claims", "find_run", "fit_cascade", "label",
    "label_queue", "label_splits", "open_corpus", "release_report", "score", "score_file", "smoke_test_judge",
    "trend", "tune", "verify_claims", "watch",
]  # fmt: skip

_FORMER_NAMES = {"check_judge": "evaluate_judge", "fit_band": "fit_cascade", "try_judge": "smoke_test_judge"}


def __getattr__(name: str) -> Any:
    name = _FORMER_NAMES.get(name, name)
    if name in _ON_FIRST_USE:
        value = getattr(import_module(_ON_FIRST_USE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
