"""Sample → score: one file per metric, each reading like its paper."""

from everyclaim.metrics.combined import Combined
from everyclaim.metrics.factual_correctness import FactualCorrectness
from everyclaim.metrics.faithfulness import Faithfulness
from everyclaim.metrics.nli import NliFaithfulness
from everyclaim.metrics.qa import QaConsistency
from everyclaim.metrics.ragchecker import RagChecker

__all__ = ["Combined", "FactualCorrectness", "Faithfulness", "NliFaithfulness", "QaConsistency", "RagChecker"]
