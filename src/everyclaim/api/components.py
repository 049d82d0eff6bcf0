"""Options → components: where a metric gets its decomposer, its verifier and its strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from everyclaim.api.options import DEFAULT_JUDGE, Options, Strategy
from everyclaim.api.specs import DECOMPOSERS, create_verifier, decomposer_spec, judge_spec, talks
from everyclaim.core.limits import SizeLimits
from everyclaim.core.protocols import ChatModel, Decomposer, KnowledgeSource, Verifier, chat_of
from everyclaim.core.spec import Registry, Spec, name_of
from everyclaim.core.types import BETTER, Provenance
from everyclaim.metrics.assembled import Assembled, Empty, check_metric_shape
from everyclaim.metrics.context import Components
from everyclaim.models.chat.providers import is_provider
from everyclaim.verify.functions import as_verifier
from everyclaim.verify.verdicts import Policy

if TYPE_CHECKING:
    from everyclaim.api.judges import ChatClients


# The fewest calls of language models: `ranked` pays only where passages are long and the first usually settles a claim.
DEFAULT_STRATEGY: Strategy = "joint"


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


def build_judge(options: Options, chats: ChatClients | None) -> Judge:
    """Return the judge a spec names (or the one given), alone and inside the strategy that puts passages to it.

    Raises `ConfigError` for an unknown name or option.
    """
    judge = options.get("judge", DEFAULT_JUDGE)
    strategy = options.get("strategy") or DEFAULT_STRATEGY
    alone = create_verifier(judge_spec(judge, options), chats) if isinstance(judge, str) else as_verifier(judge)
    return Judge(alone, _inside(alone, strategy), strategy)


def _inside(verifier: Verifier, strategy: Strategy) -> Verifier:
    if strategy == "joint":
        return verifier
    from everyclaim.retrieve import Bm25Ranker
    from everyclaim.verify import Each, Ranked

    return Each(verifier, Bm25Ranker()) if strategy == "each" else Ranked(verifier, Bm25Ranker())


def default_concurrency(options: Mapping[str, Any]) -> int:
    """Return how many samples are in flight when nobody says: more where a score is mostly waiting."""
    judge = options.get("judge", DEFAULT_JUDGE)
    if not talks(judge, options.get("decomposer")):
        return 32 if isinstance(judge, str) and "hf:" in judge else 8  # what is in flight goes into common batches
    if options.get("provider_batch"):
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


def build_decomposer(options: Options, chats: ChatClients | None) -> Decomposer:
    """Return the decomposer a spec names, the one given, or the one that goes with the judge.

    Raises `ConfigError` for an unknown name or option.
    """
    from everyclaim.decompose.functions import as_decomposer

    named = options.get("decomposer") or default_decomposer(options.get("judge", DEFAULT_JUDGE))
    if not isinstance(named, str):
        return as_decomposer(named)
    return as_decomposer(DECOMPOSERS.create(decomposer_spec(named, options), chats))


# ---- metrics


METRICS = Registry(
    "metrics",
    {
        "faithfulness": "everyclaim.api.metrics:faithfulness",
        "nli": "everyclaim.api.metrics:nli",
        "qa": "everyclaim.api.metrics:qa",
        "combined": "everyclaim.api.metrics:combined",
        "factscore": "everyclaim.api.metrics:factscore",
        "safe": "everyclaim.api.metrics:safe",
        "factual_correctness": "everyclaim.api.metrics:factual_correctness",
        "ragchecker": "everyclaim.api.metrics:ragchecker",
        "attribution": "everyclaim.api.metrics:attribution",
        "python": "everyclaim.core.spec:imported",
    },
    "parts",
)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a metric is built from. A metric's factory takes its `Spec`, and this as `parts` where it wants it."""

    decomposer: Decomposer
    verifier: Verifier
    provenance: Provenance
    policy: Policy = field(default_factory=Policy)
    empty: Empty = "exclude"
    knowledge: Any = None  # as given in Python, for metrics that search
    chats: ChatClients | None = None  # through which language models are reached, with the cache that searches share
    limits: SizeLimits = field(default_factory=SizeLimits)

    @property
    def chat(self) -> ChatModel | None:
        """The language model that metrics talk to: the judge's own, else the decomposer's."""
        return chat_of(self.verifier, self.decomposer)

    def assembled(
        self,
        metric: Any,
        *,
        decomposer: Decomposer | None = None,
        knowledge: KnowledgeSource | None = None,
        shown: str = "",
        parameters: Mapping[str, str] | None = None,
    ) -> Assembled:
        """Put a metric (an object or a function) together with all that it needs; what is not said is as it is here.

        `shown` is its spec in results. `parameters`, and the metric's own of that name, go into them as well, and that
        it says `lower_is_better`.
        """
        splitter = decomposer or self.decomposer
        own = getattr(metric, "parameters", None)
        stored = {**self.provenance.parameters, **(parameters or {}), **(own if isinstance(own, Mapping) else {})}
        if getattr(metric, "lower_is_better", False):
            stored[BETTER] = "lower"
        provenance = replace(
            self.provenance,
            metric=shown or self.provenance.metric,
            decomposer=self.provenance.decomposer if decomposer is None else decomposer.spec,
            parameters=stored,
        )
        components = Components(splitter, self.verifier, self.policy, self.chat, knowledge)
        return Assembled(metric, components, provenance, self.empty, self.limits)


def assemble(metric: Any, parts: Parts) -> Assembled:
    """Return the metric that a spec names, or the one given, put together. Raises `ConfigError` when there is none."""
    built = METRICS.create(metric, parts) if isinstance(metric, str | Spec) else metric
    if isinstance(built, Assembled):
        return built
    check_metric_shape(built)
    from everyclaim.api.knowledge import knowledge_source

    source = None if parts.knowledge is None else knowledge_source(parts.knowledge)
    return parts.assembled(built, knowledge=source)


def metric_name(metric: Any) -> str:
    """Return what results store of a metric: its spec without secrets, or for an object or a function its name."""
    return Spec.parse(metric).shown if isinstance(metric, str) else name_of(metric)
