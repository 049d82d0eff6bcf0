"""What is known of the error of a run's judge: from people's labels, else from what was measured of the offline one."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from everyclaim.analysis import Summary
from everyclaim.analysis.calibration import Calibration
from everyclaim.api.calibrating import calibration_of
from everyclaim.api.components import DEFAULT_JUDGE
from everyclaim.api.stored import StoredRun
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.spec import Spec
from everyclaim.store import Store


@dataclass(frozen=True, slots=True)
class Trust:
    """What stands beside the numbers of a run. `known` is what the model card says of the offline judge, by kind."""

    calibration: Calibration | None = None
    known: dict[str, Any] | None = None

    def beside(self, summary: Summary) -> Calibration | None:
        """What labels say, with the run's own rate as its summary has it, which may be over questions; None without."""
        if self.calibration is None:
            return None
        corrected = replace(self.calibration.corrected, raw=summary.overall.supported)
        return replace(self.calibration, corrected=corrected)

    @property
    def line(self) -> str:
        """The judge's known error in one line; empty where nothing is known, or labels say it better."""
        if self.calibration or not self.known:
            return ""
        kinds = self.known["kinds"]
        supported, failing = (
            f"{100 * min(kind[name] for kind in kinds):.0f} to {100 * max(kind[name] for kind in kinds):.0f} %"
            for name in ("supported_called_so", "failing_called_so")
        )
        return (
            f"on labelled RAG answers the offline judge called {supported} of supported claims so, and {failing} of "
            "failing ones; `everyclaim label` and `calibrate` find out for yours"
        )


def trust_of(run: StoredRun) -> Trust:
    """Find what is known of a run's judge."""
    with Store.lent(run.store_location) as kept:
        record, labelled = kept.run(run.id), kept.has_labels(run.id)
    if labelled:
        try:
            return Trust(calibration_of(run))
        except InputError:
            pass  # no claim was scored
    try:
        judge = Spec.parse(record.provenance.verifier)
    except ConfigError:
        return Trust()  # of a function
    plain = judge.name == DEFAULT_JUDGE and not judge.options.keys() & {"tuned", "threshold"}
    return Trust(known=_known() if plain else None)


def _known() -> dict[str, Any]:
    text = files("everyclaim.verify.embedded").joinpath("data/known_error.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
