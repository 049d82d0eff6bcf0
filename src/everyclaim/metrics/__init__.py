"""Sample → score: one file per metric, each reading like its paper."""

from everyclaim.metrics.factual_correctness import FactualCorrectness
from everyclaim.metrics.faithfulness import Faithfulness
from everyclaim.metrics.ragchecker import RagChecker

__all__ = ["FactualCorrectness", "Faithfulness", "RagChecker"]
