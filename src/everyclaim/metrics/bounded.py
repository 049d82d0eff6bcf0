"""A metric within limits: what is too large is a failed sample, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass

from everyclaim.core.errors import InputError
from everyclaim.core.limits import Limits, within
from everyclaim.core.protocols import Metric
from everyclaim.core.types import Provenance, Result, Sample


@dataclass(frozen=True, slots=True)
class Bounded:
    """The metric inside, for samples within the limits; what it calls finds the limits with `limits_here`."""

    metric: Metric
    limits: Limits

    @property
    def provenance(self) -> Provenance:
        """The metric's own: limits change no score."""
        return self.metric.provenance

    async def score(self, sample: Sample) -> Result:
        """Score. Raises `InputError` for a sample beyond the limits."""
        if fault := self.limits.fault_of(sample):
            raise InputError(fault)
        with within(self.limits):
            return await self.metric.score(sample)
