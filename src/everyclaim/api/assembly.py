"""Metrics from what a caller names: a spec, an object or a plain function, with all that is done for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from everyclaim.core.functions import name_of
from everyclaim.core.limits import Limits
from everyclaim.core.protocols import ChatModel, Decomposer, KnowledgeSource, Verifier, chat_of
from everyclaim.core.spec import Registry, Spec
from everyclaim.core.types import BETTER, Provenance
from everyclaim.metrics.assembled import Assembled, Empty, check_metric_shape
from everyclaim.metrics.context import Components
from everyclaim.verify.verdicts import Policy

if TYPE_CHECKING:
    from everyclaim.api.pool import ChatPool

METRICS = Registry(
    "metrics",
    {
        "faithfulness": "everyclaim.api.metrics:faithfulness",
        "nli": "everyclaim.api.metrics:nli",
        "qa": "everyclaim.api.metrics:qa",
        "combined": "everyclaim.api.metrics:combined",
        "factscore": "everyclaim.api.metric_search:factscore",
        "safe": "everyclaim.api.metric_search:safe",
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
    chats: ChatPool | None = None  # through which language models are reached, with the cache that searches share
    limits: Limits = field(default_factory=Limits)

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
