"""The door that every public call goes through: names as users know them from files, other tools and the command line.

What is checked is what the functions declare; see `everyclaim.core.validation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from everyclaim.core.lifetime import keeping_open
from everyclaim.core.validation import validate_call
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS

P = ParamSpec("P")
R = TypeVar("R")

SYNONYMS = (
    frozenset({*SAMPLE_FIELDS["contexts"], "context", "passage", "sources", "chunks"}),
    frozenset(SAMPLE_FIELDS["response"]),
    frozenset(SAMPLE_FIELDS["question"]),
    frozenset(SAMPLE_FIELDS["reference"]),
    frozenset({*CLAIM_FIELDS["claim"], "claims", "statements"}),
    frozenset({"judge", "llm", "verifier"}),
    frozenset({"judge", "model"}),  # where there is no answer whose writer `model` names
    frozenset({"mapping", "map", "column_map"}),
    frozenset({"slices", "slice", "slice_by", "tags"}),
    frozenset({"source", "file", "path", "data", "dataset"}),
    frozenset({"max_cost", "budget"}),
)
ELSEWHERE = {
    "fail_under": "gates are the command line's; here compare Run.summary",
    "max_failed": "gates are the command line's; here compare Run.summary",
    "confident": "gates are the command line's; here compare Run.summary",
    "out": "write the results with Run.write",
    "no_cache": "say cache='off'",
    "fresh": "say resume=None",
}


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function be called only with names and values that it declares.

    What it opens to read, a store above all, it opens once.
    """
    return validate_call(synonyms=SYNONYMS, elsewhere=ELSEWHERE, around=keeping_open)(function)
