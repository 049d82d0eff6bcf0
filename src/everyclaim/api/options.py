"""What can be chosen about a score, declared once for Python, the command line and `everyclaim.toml`, and checked.

What can change a verdict becomes part of the specs, and so of every result; limits, rates and the cache do not, so a
run may go on under others. Every public call is checked by what it declares; see `everyclaim.core.validation`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar

from everyclaim.core.kinds import Range
from everyclaim.core.lifetime import keeping_open
from everyclaim.core.options import Opt
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.validation import validate_call
from everyclaim.io import ReadReport
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS
from everyclaim.metrics.assembled import Empty
from everyclaim.metrics.context import Metric

DEFAULT_STORE = ".everyclaim/runs.db"
DEFAULT_JUDGE = "embedded"
OFF = "off"  # of the cache
JUDGING, MODELS, LIMITS, SIZES = "Judging", "Language models", "Limits and cache", "Sizes"  # what options are about

Few = Annotated[int, Range(1, 1000)]
Limit = Annotated[int, Range(0)]
Rate = Annotated[float, Range(above=0)]
Share = Annotated[float, Range(0, 1)]
Size = Annotated[int, Range(1)]
Strategy = Literal["joint", "each", "ranked"]
Observe = str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
JudgeSpec = Annotated[str, "a spec such as 'embedded' or 'openai:gpt-5-mini'"]
DecomposerSpec = Annotated[str, "a spec such as 'embedded' or 'openai:gpt-5-mini'"]
MetricSpec = Annotated[
    str | Metric | Callable[..., Any],
    "a spec such as 'faithfulness', an object with `score`, or a function of a sample",
]

InFlight = Annotated[int, Range(1, 10_000)]
Rows = Annotated[int, Range(1)]
EvidenceRule = Literal["flag", "required"]
Inference = Literal["allowed", "explicit"]
Numbers = Literal["rounded", "exact"]
Hedges = Literal["flag", "strict"]
Reasons = Literal["failing", "all"]
ProbabilitySource = Literal["scale", "tokens", "none"]


class SizeOptions(TypedDict, total=False):
    """How large what is scored may be, whoever judges; see `core.limits.Limits`. None: as usual."""

    max_row_mb: Annotated[
        Annotated[float, Range(above=0)] | None,  # of a row of a file, and of all texts of a sample
        Opt("Maximum size of a row in MB; larger ones are left out (32).", "MB", panel=SIZES),
    ]
    max_answer_chars: Annotated[  # of an answer, a claim, a question, a reference
        Size | None, Opt("Maximum length of an answer; rows beyond are left out (1,000,000).", panel=SIZES)
    ]
    max_passage_chars: Annotated[
        Size | None, Opt("Maximum length of a passage; rows beyond are left out (10,000,000).", panel=SIZES)
    ]
    max_passages: Annotated[
        Size | None, Opt("Maximum number of passages; rows beyond are left out (20,000).", panel=SIZES)
    ]
    max_claims: Annotated[
        Size | None, Opt("Maximum number of sentences or claims; answers beyond fail (5,000).", panel=SIZES)
    ]


class LlmAccessOptions(SizeOptions, total=False):
    """Sizes, and options of any language model. What is not given, or None, is as the spec or the component has it."""

    base_url: Annotated[
        str | None, Opt("Endpoint that speaks the model's format.", "URL")
    ]  # another endpoint that speaks the same format
    headers: Annotated[
        Mapping[str, str] | None,
        Opt("Header to send; $NAME is read from the environment. Repeatable.", "NAME=VALUE", "--header", usual={}),
    ]  # "$NAME" as a value is read from the environment
    rubric: Annotated[
        str | os.PathLike[str] | None, Opt("Rules and worked examples of a domain.", "FILE.toml", kind=str | None)
    ]  # a TOML file with rules and examples for a domain
    max_cost: Annotated[
        Annotated[float, Range(0)] | None, Opt("Maximum cost in US dollars; then it stops.", "DOLLARS", panel=LIMITS)
    ]  # US dollars, for one call of the function or the command
    max_calls: Annotated[Limit | None, Opt("Maximum number of calls; then it stops.", panel=LIMITS)]
    max_tokens: Annotated[
        Limit | None, Opt("Maximum number of tokens of prompts and replies; then it stops.", panel=LIMITS)
    ]  # of prompts and replies
    requests_per_minute: Annotated[Rate | None, Opt("Maximum requests per minute.", panel=LIMITS)]
    tokens_per_minute: Annotated[Rate | None, Opt("Maximum tokens per minute.", panel=LIMITS)]
    cache: Annotated[
        str | os.PathLike[str] | None,
        Opt("File of cached replies (replies.db next to the store).", "FILE", panel=LIMITS, kind=str | None),
    ]  # a file for replies; "off" or None: none
    provider_batch: Annotated[
        bool | str | os.PathLike[str] | None,
        Opt(
            "Use the provider's batch API: half the price, takes hours.",
            flag="--batch/--no-batch",
            kind=bool,
            usual=False,
        ),
    ]  # ask through the provider's batch API; a path: noted there
    prices: Annotated[
        str | os.PathLike[str] | None,
        Opt("Price file that overrides the built-in table.", "FILE", panel=LIMITS, kind=str | None),
    ]  # a file that goes over our own price table


class SplitOptions(TypedDict, total=False):
    """How a language model splits, by the same names everywhere and in its spec."""

    split_prompt: Annotated[
        str | os.PathLike[str] | None,
        Opt("File that defines a claim in your own words.", "FILE", kind=str | None),
    ]


class VerdictOptions(TypedDict, total=False):
    """How a language model judges, by the same names everywhere and in its spec."""

    claims_per_call: Annotated[Few | None, Opt("Maximum number of claims in one call (as many as fit).", was="batch")]
    repeats: Annotated[Few | None, Opt("Number of times that every claim is judged; the majority decides.")]
    evidence: Annotated[EvidenceRule | None, Opt("Whether support needs a quote that is really there.")]
    inference: Annotated[Inference | None, Opt("Whether conclusions from the passages count.")]
    numbers: Annotated[Numbers | None, Opt("Whether rounded numbers agree.")]
    hedges: Annotated[Hedges | None, Opt("Whether a difference in certainty is flagged or unsupported.")]
    reasons: Annotated[Reasons | None, Opt("Which verdicts come with a reason (failing).")]
    probabilities: Annotated[ProbabilitySource | None, Opt("Source of probabilities (scale).")]
    judge_prompt: Annotated[
        str | os.PathLike[str] | None,
        Opt("File that defines the labels in your own words.", "FILE", kind=str | None),
    ]


class LlmSplittingOptions(LlmAccessOptions, SplitOptions, total=False):
    """Options of a language model that splits."""


class LlmJudgingOptions(LlmAccessOptions, VerdictOptions, total=False):
    """Options of a language model that judges."""


class LlmOptions(LlmJudgingOptions, LlmSplittingOptions, total=False):
    """All options of language models."""

    one_call: Annotated[
        bool | None, Opt("Split and judge in one call: cheaper, less accurate.", kind=bool, usual=False)
    ]  # split and judge in one request


class JudgeOptions(LlmJudgingOptions, total=False):
    """What can be chosen about judging, by the same names in Python, on the command line and in settings."""

    judge: Annotated[
        JudgeSpec | Verifier | Callable[..., Any],
        Opt("Judge of the claims.", "SPEC", panel=JUDGING, kind=str, usual=DEFAULT_JUDGE),
    ]
    strategy: Annotated[
        Strategy | None,
        Opt("Passages together, each alone, or by relevance until one supports the claim.", panel=JUDGING),
    ]
    strict: Annotated[
        bool,
        Opt(
            "Evidence required, hedges strict, numbers exact; for language models also inference explicit.",
            flag="--strict/--lenient",
            panel=JUDGING,
            usual=False,
        ),
    ]


class Options(JudgeOptions, LlmOptions, total=False):
    """What can be chosen about a score."""

    metric: Annotated[MetricSpec, Opt("Metric to compute.", "SPEC", panel=JUDGING, kind=str, usual="faithfulness")]
    decomposer: Annotated[  # None: the judge's own model where it is one, else `embedded`
        DecomposerSpec | Decomposer | Callable[..., Any] | None,
        Opt("Decomposer of answers into claims.", "SPEC", panel=JUDGING, kind=str | None),
    ]
    knowledge: Any  # of `factscore` and `safe`: a `KnowledgeSource`, a function from a query to texts, or a spec
    empty: Annotated[
        Empty,
        Opt("How to score answers without claims.", panel=JUDGING, usual="exclude"),
    ]
    observe: Annotated[  # who is told of the work: specs, `monitor.Metrics` and the like, functions of an event
        Observe,
        Opt(
            "Export telemetry to otel:URL, prometheus:PORT or prometheus:FILE.prom. Repeatable.",
            "SPEC",
            panel="Run",
            kind=Sequence[str] | None,
        ),
    ]


class ReadOptions(TypedDict, total=False):
    """How a source of rows is read; the names are those of `score_file`."""

    mapping: Mapping[str, str] | None  # field names, theirs → ours
    format: str | None  # when the name of the file does not say
    report: ReadReport  # what reading says goes here


class RowOptions(ReadOptions, total=False):
    """What can be chosen about a file of claims."""

    limit: Rows | None  # take at most so many
    concurrency: InFlight | None  # claims; None: 8, with a language model 32


def chosen_of(options: Mapping[str, Any], declared: type[Any]) -> dict[str, Any]:
    """Return those of the options that a class declares."""
    return {name: value for name, value in options.items() if name in declared.__annotations__}


# ---- the door of public calls

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
