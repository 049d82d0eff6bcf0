"""Sample → score: one file per metric, each reading like its paper."""

from everyclaim.metrics.faithfulness import Faithfulness

__all__ = ["Faithfulness"]
