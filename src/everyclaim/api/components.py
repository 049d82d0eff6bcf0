"""Options → components: where a metric gets its decomposer, its verifier and its strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from everyclaim._version import __version__
from everyclaim.api.assembly import METRICS, Parts, assemble, metric_name
from everyclaim.api.instrumentation import Observe
from everyclaim.api.registries import DECOMPOSERS, create_verifier
from everyclaim.api.talking import (
    SEARCHING,
    Judging,
    Reaching,
    Talking,
    check_address,
    decomposer_spec,
    judge_spec,
    metric_spec,
    refuse,
    searches,
    talks,
    unused,
)
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.limits import Limits
from everyclaim.core.options import Opt
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import Provenance
from everyclaim.decompose.functions import as_decomposer
from everyclaim.metrics.assembled import Assembled, Empty
from everyclaim.metrics.context import Metric
from everyclaim.models.chat.providers import is_provider
from everyclaim.verify.functions import as_verifier
from everyclaim.verify.verdicts import Policy

if TYPE_CHECKING:
    from everyclaim.api.pool import ChatPool
    from everyclaim.engine import BackgroundLoop
else:
    ChatPool = object  # what is imported only where a language model is; annotations are read at run time, too

Strategy = Literal["joint", "each", "ranked"]
DEFAULT_JUDGE = "embedded"
JUDGING = "Judging"  # what options are about
JudgeSpec = Annotated[str, "a spec such as 'embedded' or 'openai:gpt-5-mini'"]
DecomposerSpec = Annotated[str, "a spec such as 'embedded' or 'openai:gpt-5-mini'"]
MetricSpec = Annotated[
    str | Metric | Callable[..., Any],
    "a spec such as 'faithfulness', an object with `score`, or a function of a sample",
]

InFlight = Annotated[int, Range(1, 10_000)]
Rows = Annotated[int, Range(1)]


class JudgeOptions(Judging, total=False):
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


class Options(JudgeOptions, Talking, total=False):
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


class Wired(Options, total=False):
    """Options with the chat models to talk through."""

    chats: ChatPool


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge and the strategy that puts passages to it."""

    alone: Verifier
    verifier: Verifier  # inside the strategy
    strategy: Strategy

    @property
    def parameters(self) -> dict[str, str]:
        """What made the verdicts beside the judge's name: the prompt's version, claims per call, ..."""
        return dict(getattr(self.alone, "parameters", {}))


def build_judge(options: Wired) -> Judge:
    """Return the judge a spec names (or the one given), alone and inside the strategy that puts passages to it.

    Raises `ConfigError` for an unknown name or option.
    """
    judge = options.get("judge", DEFAULT_JUDGE)
    strategy = options.get("strategy") or default_strategy()
    if isinstance(judge, str):
        alone = create_verifier(judge_spec(judge, options), options.get("chats") or new_chats(options, judge))
    else:
        alone = as_verifier(judge)
    return Judge(alone, _inside(alone, strategy), strategy)


def _inside(verifier: Verifier, strategy: Strategy) -> Verifier:
    if strategy == "joint":
        return verifier
    from everyclaim.retrieve import Bm25Ranker
    from everyclaim.verify import Each, Ranked

    return Each(verifier, Bm25Ranker()) if strategy == "each" else Ranked(verifier, Bm25Ranker())


def default_strategy() -> Strategy:
    """Return the strategy used when none is named: all passages at once.

    That is right for the embedded judges, and for language models it is the fewest calls: `ranked` asks
    less per call, and pays only where passages are long and the first one usually settles a claim.
    """
    return "joint"


def default_concurrency(options: Mapping[str, Any]) -> int:
    """Return how many samples are in flight when nobody says: more where a score is mostly waiting."""
    judge = options.get("judge", DEFAULT_JUDGE)
    if not talks(judge, options.get("decomposer")):
        return 32 if isinstance(judge, str) and "hf:" in judge else 8  # what is in flight goes into common batches
    chats = options.get("chats")
    if chats.settings.batch if chats else options.get("provider_batch"):
        from everyclaim.models import BATCH_CONCURRENCY

        return BATCH_CONCURRENCY
    return 32


def default_decomposer(judge: Any) -> str:
    """Return the decomposer used when none is named: the judge's own model where it is one, else the embedded one.

    A model trained only to judge (MiniCheck) cannot split.
    """
    spec = Spec.parse(judge) if isinstance(judge, str) else None
    if spec is None or not is_provider(spec.name) or spec.options.get("prompt") == "minicheck":
        return "embedded"
    from everyclaim.api.judges import split_spec

    return str(split_spec(spec))


def build_decomposer(options: Wired) -> Decomposer:
    """Return the decomposer a spec names (None: `embedded`), or the one given; an unknown name is a `ConfigError`."""
    named = options.get("decomposer")
    decomposer = "embedded" if named is None else named
    if not isinstance(decomposer, str):
        return as_decomposer(decomposer)
    chats = options.get("chats") or new_chats(options, decomposer)
    return as_decomposer(DECOMPOSERS.create(decomposer_spec(decomposer, options), chats))


def build_metric(options: Wired) -> Assembled:
    """Put a metric together. Raises `ConfigError` for an unknown name or a value that is not allowed."""
    limits = Limits.of(options)
    metric = metric_spec(options.get("metric", "faithfulness"), options)
    named = options.get("judge", DEFAULT_JUDGE)
    splitter = options.get("decomposer") or default_decomposer(named)
    options = {**options, "decomposer": splitter}
    check_address(options, named, splitter)
    if not options.get("chats") and (chats := new_chats(options, named, splitter)):
        options["chats"] = chats
    decomposer, judge = build_decomposer(options), build_judge(options)
    strict = options.get("strict", False)
    empty = options.get("empty", "exclude")
    provenance = Provenance(
        metric=metric_name(metric),
        decomposer=decomposer.spec,
        verifier=judge.alone.spec,
        strategy=judge.strategy,
        version=__version__,
        parameters={
            "policy": "strict" if strict else "lenient",
            "empty": empty,
            **getattr(decomposer, "parameters", {}),
            **judge.parameters,
        },
    )
    policy = Policy.strict() if strict else Policy()
    knowledge = options.get("knowledge")
    named = Spec.parse(metric).name if isinstance(metric, str) else ""
    if knowledge is not None and named in METRICS.builtin and named not in {*SEARCHING, "python"}:
        raise ConfigError(f"knowledge is for the metrics {' and '.join(SEARCHING)}, not for {named!r}")
    parts = Parts(decomposer, judge.verifier, provenance, policy, empty, knowledge, options.get("chats"), limits)
    return assemble(metric, parts)


def refuse_unused(options: Mapping[str, Any], judge: Any, *others: Any) -> None:
    """Raise `ConfigError` for an option about language models that would do nothing."""
    for name in unused(options, judge, *others, metric=options.get("metric"), knowledge=options.get("knowledge")):
        raise refuse(name, judge, *others)


def new_chats(
    options: Mapping[str, Any], *components: Any, home: Callable[[], BackgroundLoop] | None = None
) -> ChatPool | None:
    """Return chat models to share, where a component talks to one or a metric searches the web; else import nothing."""
    metric = options.get("metric")
    if not talks(*components, metric) and not searches(metric, options.get("knowledge")):
        return None
    from everyclaim.api.pool import ChatPool, chat_settings

    return ChatPool(chat_settings(cast("Reaching", options)), home() if home else None)
