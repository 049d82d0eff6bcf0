"""What can be chosen about a score, declared once for Python, the command line and `everyclaim.toml`, and checked.

What can change a verdict becomes part of the specs, and so of every result; limits, rates and the cache do not, so a
run may go on under others. Every public call is checked by what it declares; see `everyclaim.core.options`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar

from everyclaim.core.kinds import By, OpenShare, Range
from everyclaim.core.options import Opt, validate_call
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.io import ReadReport
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS
from everyclaim.metrics.context import Empty, Metric

DEFAULT_STORE = ".everyclaim/runs.db"
DEFAULT_JUDGE = "embedded"
OFF = "off"  # of the cache
JUDGING, MODELS, LIMITS, SIZES = "Judging", "Language models", "Costs and limits", "Sizes"  # what options are about

Few = Annotated[int, Range(1, 1000)]
Amount = Annotated[float, Range(0)]
Limit = Annotated[int, Range(0)]
Rate = Annotated[float, Range(above=0)]
Share = Annotated[float, Range(0, 1)]
Size = Annotated[int, Range(1)]
Strategy = Literal["joint", "each", "ranked"]
Observe = str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
JudgeSpec = Annotated[str, "a spec such as 'embedded' or 'openai:gpt-5-mini'"]
MetricSpec = Annotated[
    str | Metric | Callable[..., Any],
    "a spec such as 'faithfulness', an object with `score`, or a function of a sample",
]

InFlight = Annotated[int, Range(1, 10_000)]
File = str | os.PathLike[str] | None
EvidenceRule = Literal["flag", "required"]
Inference = Literal["allowed", "explicit"]
Numbers = Literal["rounded", "exact"]
Hedges = Literal["flag", "strict"]
Reasons = Literal["failing", "all"]
ProbabilitySource = Literal["scale", "tokens", "none"]


class SizeOptions(TypedDict, total=False):
    """How large what is scored may be, whoever judges; see `core.limits.Limits`. None: as usual."""

    max_row_mb: Annotated[  # of a row of a file, and of all texts of a sample
        Rate | None, Opt("Maximum size of a row in MB; larger rows are skipped (default 32).", "MB", panel=SIZES)
    ]
    max_answer_chars: Annotated[  # of an answer, a claim, a question, a reference
        Size | None, Opt("Maximum characters of an answer; longer ones are skipped (default 1,000,000).", panel=SIZES)
    ]
    max_passage_chars: Annotated[
        Size | None,
        Opt("Maximum characters of a passage; rows with longer ones are skipped (default 10,000,000).", panel=SIZES),
    ]
    max_passages: Annotated[
        Size | None, Opt("Maximum number of passages; rows with more are skipped (default 20,000).", panel=SIZES)
    ]
    max_claims: Annotated[
        Size | None, Opt("Maximum number of sentences or claims; answers with more fail (default 5,000).", panel=SIZES)
    ]


class LlmAccessOptions(SizeOptions, total=False):
    """Sizes, and options of any language model. What is not given, or None, is as the spec or the component has it."""

    base_url: Annotated[str | None, Opt("URL of an endpoint compatible with the provider.", "URL")]
    headers: Annotated[
        Mapping[str, str] | None,
        Opt("HTTP header to send; $NAME is read from the environment. Repeatable.", "NAME=VALUE", "--header", usual={}),
    ]
    rubric: Annotated[File, Opt("File with rules and worked examples for a domain.", "FILE.toml", kind=str | None)]
    max_cost: Annotated[  # for one call of the function or the command
        Amount | None, Opt("Maximum cost in US dollars; stops the run.", "DOLLARS", panel=LIMITS)
    ]
    max_calls: Annotated[Limit | None, Opt("Maximum number of calls; stops the run.", panel=LIMITS)]
    max_tokens: Annotated[Limit | None, Opt("Maximum number of prompt and reply tokens; stops the run.", panel=LIMITS)]
    requests_per_minute: Annotated[Rate | None, Opt("Maximum requests per minute.", panel=LIMITS)]
    tokens_per_minute: Annotated[Rate | None, Opt("Maximum tokens per minute.", panel=LIMITS)]
    cache: Annotated[  # "off" or None: none
        File,
        Opt("File of cached replies (default: replies.db next to the store).", "FILE", panel=LIMITS, kind=str | None),
    ]
    provider_batch: Annotated[  # a path: noted there
        bool | File,
        Opt(
            "Use the provider's batch API (50 % cheaper, up to 24 h).",
            flag="--batch/--no-batch",
            kind=bool,
            usual=False,
        ),
    ]
    prices: Annotated[File, Opt("Price file that overrides built-in prices.", "FILE", panel=LIMITS, kind=str | None)]


class SplitOptions(TypedDict, total=False):
    """How a language model splits, by the same names everywhere and in its spec."""

    split_prompt: Annotated[File, Opt("File with your own definition of a claim.", "FILE", kind=str | None)]


class VerdictOptions(TypedDict, total=False):
    """How a language model judges, by the same names everywhere and in its spec."""

    claims_per_call: Annotated[Few | None, Opt("Maximum number of claims in one call (default: as many as fit).")]
    repeats: Annotated[Few | None, Opt("Number of times each claim is judged; the majority decides.")]
    evidence: Annotated[EvidenceRule | None, Opt("Claims without a verified quote: flagged (default) or unsupported.")]
    inference: Annotated[Inference | None, Opt("Claims that are only inferred: supported (default) or unsupported.")]
    numbers: Annotated[Numbers | None, Opt("Claims with rounded numbers: supported (default) or unsupported.")]
    hedges: Annotated[Hedges | None, Opt("Claims that differ only in certainty: flagged (default) or unsupported.")]
    reasons: Annotated[Reasons | None, Opt("Give reasons for failing claims (default), or for all.")]
    probabilities: Annotated[ProbabilitySource | None, Opt("Source: rating in the reply (scale, default), or tokens.")]
    judge_prompt: Annotated[File, Opt("File with your own definition of the labels.", "FILE", kind=str | None)]


class LlmSplittingOptions(LlmAccessOptions, SplitOptions, total=False):
    """Options of a language model that splits."""


class LlmJudgingOptions(LlmAccessOptions, VerdictOptions, total=False):
    """Options of a language model that judges."""


class LlmOptions(LlmJudgingOptions, LlmSplittingOptions, total=False):
    """All options of language models."""

    one_call: Annotated[
        bool | None, Opt("Split and judge in one call: cheaper, less accurate.", kind=bool, usual=False)
    ]


class JudgeOptions(LlmJudgingOptions, total=False):
    """What can be chosen about judging, by the same names in Python, on the command line and in settings."""

    judge: Annotated[
        JudgeSpec | Verifier | Callable[..., Any],
        Opt(
            f"Judge of the claims: {DEFAULT_JUDGE} (default), lexical, openai:MODEL, anthropic:MODEL, hf:MODEL.",
            "SPEC",
            panel=JUDGING,
            kind=str,
            usual=DEFAULT_JUDGE,
        ),
    ]
    strategy: Annotated[
        Strategy | None,
        Opt("Judge passages together, each alone, or by relevance until one supports the claim.", panel=JUDGING),
    ]
    strict: Annotated[
        bool,
        Opt(
            "Require quoted evidence, the same certainty and exact numbers; language models also reject inferred "
            "claims.",
            flag="--strict/--lenient",
            panel=JUDGING,
            usual=False,
        ),
    ]


class Options(JudgeOptions, LlmOptions, total=False):
    """What can be chosen about a score."""

    metric: Annotated[
        MetricSpec, Opt("Metric (default faithfulness).", "SPEC", panel=JUDGING, kind=str, usual="faithfulness")
    ]
    decomposer: Annotated[  # None: the judge's own model where it is one, else `embedded`
        JudgeSpec | Decomposer | Callable[..., Any] | None,
        Opt(
            "Decomposer that splits answers into claims (default: the judge if a language model, else embedded).",
            "SPEC",
            panel=JUDGING,
            kind=str | None,
        ),
    ]
    knowledge: Any  # of `factscore` and `safe`: a `KnowledgeSource`, a function from a query to texts, or a spec
    empty: Annotated[Empty, Opt("How to score answers without claims.", panel=JUDGING, usual="exclude")]
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

    limit: Size | None  # take at most so many
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


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function be called only with names and values that it declares."""
    return validate_call(function, synonyms=SYNONYMS)


class ChoiceOptions(TypedDict, total=False):
    """How items are sampled and assigned to annotators."""

    by: Annotated[
        By,
        Opt(
            "Sampling: stratified (default), random, uncertainty, or allocation (shortest interval of the rate).",
            metavar="SAMPLING",
        ),
    ]
    answers: Annotated[bool, Opt("Label whole answers instead of claims.")]
    annotators: Annotated[Sequence[str], Opt("Name of an annotator. Repeatable.", "NAME", "--annotator")]
    overlap: Annotated[Share, Opt("Share of claims that all annotators label (default 0.2).", "SHARE")]
    seed: Annotated[int, Range(0), Opt("Random seed for sampling (default 0).")]
    store: str | os.PathLike[str]


class LabelOptions(ChoiceOptions, total=False):
    """Sampling options for a label file."""

    with_verdicts: Annotated[bool, Opt("Include the judge's verdict (biases annotators towards it).")]


HISTORY = "judge_checks.jsonl"


class StabilityOptions(TypedDict, total=False):
    """How a judge is measured against itself, another one and its earlier checks."""

    times: Annotated[int, Range(1, 20), Opt("Number of times to judge each claim (default 3).", flag="--trials")]
    against: Annotated[
        JudgeSpec | Verifier | Callable[..., Any] | None,
        Opt("Another judge to compare on the same claims.", "SPEC", kind=str | None),
    ]
    history: Annotated[
        File, Opt(f"File of earlier checks (default {HISTORY} next to the store).", "FILE.jsonl", kind=str | None)
    ]
    max_flips: Annotated[
        Share, Opt("Maximum share of claims whose label changes between repeats (default 0.1).", "SHARE")
    ]


# ---- a watch

_SOURCE, _WHICH, _BUDGET, _ALERTS, _RUN = "Source", "Selection", "Daily limits", "Alerts", "Run"
_SETTLE = Opt(
    "Langfuse (30) and OTLP (10): seconds without new spans before a trace counts as complete.",
    "SECONDS",
    "--idle-timeout",
    _SOURCE,
)
_LATENESS = Opt(
    "Langfuse and SQL: maximum delay of a late answer in seconds (3600).", "SECONDS", "--late-window", _SOURCE
)


class StreamOptions(TypedDict, total=False):
    """How answers are selected and read as they arrive, and when an alert is sent."""

    once: Annotated[bool, Opt("Judge the current answers and exit.", panel=_RUN)]  # else go on until `stop` is set
    rate: Annotated[Share, Opt("Share of answers to judge (default 1).", "SHARE", panel=_WHICH)]
    min_per_slice: Annotated[
        Limit, Opt("Minimum number of answers judged per slice and day, in addition to --rate.", panel=_WHICH)
    ]
    screen: Annotated[
        Annotated[str, "a spec such as 'embedded' or 'lexical'"] | None,
        Opt("Cheap judge (embedded, lexical) that adds suspicious answers.", "SPEC", "--prefilter", _WHICH),
    ]
    worry: Annotated[
        Share,
        Opt("Select an answer if P(contradicted) is above this (default 0.5).", "P", "--screen-threshold", _WHICH),
    ]
    daily_answers: Annotated[Size | None, Opt("Maximum number of answers judged per day.", panel=_BUDGET)]
    daily_tokens: Annotated[Size | None, Opt("Maximum number of tokens per day.", panel=_BUDGET)]
    daily_cost: Annotated[Rate | None, Opt("Maximum cost per day in US dollars.", "DOLLARS", panel=_BUDGET)]
    when_spent: Annotated[
        Literal["skip", "wait"],
        Opt(
            "When the daily limit is reached: skip the remaining answers, or queue them for the next day "
            "(default skip).",
            flag="--on-budget",
            panel=_BUDGET,
        ),
    ]
    alert_above: Annotated[
        Annotated[float, Range(above=0, most=1)] | None,
        Opt("Alert if the mean share of contradicted claims per answer exceeds this.", "SHARE", panel=_ALERTS),
    ]
    alert_below: Annotated[OpenShare | None, Opt("Alert if the mean score falls below this.", "SCORE", panel=_ALERTS)]
    query: Annotated[str | None, Opt("SQL query for the answers.", "SELECT", panel=_SOURCE)]
    watermark: Annotated[str | None, Opt("SQL column that increases: a time or a number.", "COLUMN", panel=_SOURCE)]
    key: Annotated[str, Opt("SQL column with unique row ids (default id).", "COLUMN", panel=_SOURCE)]
    since: Annotated[str | None, Opt("Langfuse: earliest time to read from.", "TIME", panel=_SOURCE)]
    observation: Annotated[str | None, Opt("Langfuse: name of the root observations.", "NAME", panel=_SOURCE)]
    environment: Annotated[str | None, Opt("Langfuse: environment.", "NAME", panel=_SOURCE)]
    settle: Annotated[Amount, _SETTLE]
    lateness: Annotated[Amount, _LATENESS]
    events_to: Annotated[
        str | None, Opt("OTLP: URL of a collector's logs endpoint for results.", "URL", "--otlp-logs-url", _SOURCE)
    ]
    send_back: Annotated[
        bool, Opt("Write scores back to the source.", flag="--write-back/--no-write-back", panel=_SOURCE)
    ]
    every: Annotated[float, Range(0.01), Opt("Seconds between passes (default 10).", "SECONDS", panel=_RUN)]
    per: Annotated[
        Literal["day", "release"], Opt("Start a run per day or release (default day).", "", "--run-by", _RUN)
    ]
    name: Annotated[str | None, Opt("Name of the watch; a new name starts a new watch.", "NAME", panel=_RUN)]
