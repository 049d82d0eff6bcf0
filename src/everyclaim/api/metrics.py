"""Factories of the metrics that ship: spec and parts in, metric out."""

from __future__ import annotations

from everyclaim.api.components import Parts
from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec
from everyclaim.metrics import Faithfulness


def faithfulness(spec: Spec, parts: Parts) -> Faithfulness:
    """Build `Faithfulness`; it takes no options of its own."""
    if spec.argument or spec.options:
        raise ConfigError(f"the metric 'faithfulness' takes no options, got {str(spec)!r}")
    return Faithfulness(parts.decomposer, parts.verifier, parts.provenance, parts.policy, parts.empty)
