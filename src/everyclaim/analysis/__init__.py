"""What results add up to: summaries with intervals, the worst answers, the gate of a release."""

from everyclaim.analysis.gate import GateResult, GateStatus, gate, worst
from everyclaim.analysis.summary import ClusterBy, Collector, Group, Summary, mean_score, summarise, summary_to_json
from everyclaim.core.bands import Band, band_of

__all__ = [
    "Band",
    "ClusterBy",
    "Collector",
    "GateResult",
    "GateStatus",
    "Group",
    "Summary",
    "band_of",
    "gate",
    "mean_score",
    "summarise",
    "summary_to_json",
    "worst",
]
