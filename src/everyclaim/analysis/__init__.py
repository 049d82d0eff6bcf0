"""What results add up to: summaries with intervals, the worst answers, the gate of a release."""

from everyclaim.analysis.bands import Band, band_of
from everyclaim.analysis.gate import GateResult, GateStatus, gate
from everyclaim.analysis.summary import ClusterBy, Collector, Group, Summary, summarise, summary_to_json
from everyclaim.analysis.worst import worst

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
    "summarise",
    "summary_to_json",
    "worst",
]
