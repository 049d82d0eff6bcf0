"""What the store hands out beside samples and results: runs and human labels, as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from everyclaim.core.types import Label, Outcome, Provenance
from everyclaim.core.wire import provenance_to_json

Status = Literal["running", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One scoring of one data set with one configuration.

    A run that was killed stays `running`: nobody was left to say otherwise. `counts` holds every
    outcome, zeros included. Times are ISO 8601 in UTC.
    """

    id: str  # 12 hexadecimal digits
    name: str
    created: str
    finished: str | None
    status: Status
    provenance: Provenance
    config: Mapping[str, Any]
    config_fingerprint: str
    dataset: str
    dataset_fingerprint: str
    total: int | None  # samples in the data set, when known beforehand
    counts: Mapping[Outcome, int]

    @property
    def kept(self) -> int:
        """How many samples the store holds for this run, whatever became of them."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """What a person says about one claim of one sample of a run."""

    position: int  # the sample's place in the input
    sample_id: str
    claim_id: str
    label: Label
    annotator: str
    note: str
    created: str  # ISO 8601 in UTC


def config_fingerprint(provenance: Provenance, config: Mapping[str, Any]) -> str:
    """Return 32 hexadecimal digits that change with anything in the configuration of a run."""
    whole = {"provenance": provenance_to_json(provenance), "config": dict(config)}
    body = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(body.encode("ascii")).hexdigest()[:32]
