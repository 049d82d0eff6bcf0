"""A judge whose probabilities of support are mapped to the rates that labels show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Claim, Passage, Probabilities, Verdict
from everyclaim.stats.types import Floats
from everyclaim.verify.composed import Wrapped


@dataclass(frozen=True, slots=True)
class Calibrated(Wrapped):
    """A judge inside a fitted mapping of its probability of SUPPORTED, such as `stats.calibration.fit_platt` returns.

    Labels stay as they are, and the other two share the rest as before; verdicts without probabilities pass.
    """

    mapping: Callable[[ArrayLike], Floats]

    @property
    def parameters(self) -> dict[str, str]:
        """The judge's own, with the mapping."""
        return {**getattr(self.verifier, "parameters", {}), "calibration": repr(self.mapping)}

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge, and map. Raises `ConfigError` for a mapping that leaves [0, 1]."""
        verdicts = await self.verifier.verify(claims, passages, question=question)
        return [self._mapped(verdict) for verdict in verdicts]

    def _mapped(self, verdict: Verdict) -> Verdict:
        before = verdict.probabilities
        if before is None:
            return verdict
        supported = float(self.mapping([before.supported])[0])
        if not 0 <= supported <= 1:
            raise ConfigError(f"a calibration must map into [0, 1], got {supported!r} for {before.supported!r}")
        rest = before.unsupported + before.contradicted
        share = before.unsupported / rest if rest else 0.5
        mapped = Probabilities(supported, (1 - supported) * share, (1 - supported) * (1 - share))
        return replace(verdict, probabilities=mapped)
