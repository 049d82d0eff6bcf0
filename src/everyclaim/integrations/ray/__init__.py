"""Ray: data sets scored by many machines.

`on_ray` lends an evaluator the workers of a cluster: the run is read, kept, summed up and resumed as ever by the
process that holds the evaluator, and only the scoring of samples happens elsewhere. `score_dataset` is for data that
is a Ray Dataset already and stays one; `results_of` and `summary_of` read what became of it.
"""

from __future__ import annotations

import os

from everyclaim.core.errors import MissingExtraError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere that nobody asked for
try:
    import ray  # noqa: F401
except ImportError:
    raise MissingExtraError("Scoring on Ray", "ray") from None

from everyclaim.integrations.ray.cluster import on_ray
from everyclaim.integrations.ray.datasets import results_of, score_dataset, summary_of

__all__ = ["on_ray", "results_of", "score_dataset", "summary_of"]
