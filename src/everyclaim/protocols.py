"""What a component of your own has to be, and the words that it is given and gives back.

`Decomposer`, `Verifier`, `Metric`, `KnowledgeSource`, `ChatModel` and `Ranker` are protocols: anything of that shape
will do, nothing needs to inherit. `everyclaim.testing` checks whether one keeps the rules.
"""

from everyclaim.core.protocols import ChatModel, ChatReply, Decomposer, KnowledgeSource, Message, Ranker, Verifier
from everyclaim.core.spec import Spec
from everyclaim.core.types import (
    Claim,
    Decomposition,
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Passage,
    Probabilities,
    Sample,
    Skipped,
    Span,
    Usage,
    Verdict,
)
from everyclaim.metrics.context import Metric, MetricContext, NothingToCheckError, Score

__all__ = [
    "ChatModel", "ChatReply", "Claim", "Decomposer", "Decomposition", "Evidence", "FailureMode", "JudgedClaim",
    "KnowledgeSource", "Label", "Message", "Metric", "MetricContext", "NothingToCheckError", "Passage",
    "Probabilities", "Ranker", "Sample", "Score", "Skipped", "Span", "Spec", "Usage", "Verdict", "Verifier",
]  # fmt: skip
