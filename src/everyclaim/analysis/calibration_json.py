"""A calibration as plain JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from everyclaim.analysis.calibration import TARGET, Calibration, Corrected, Rates, standing
from everyclaim.core.types import Label
from everyclaim.stats.types import Inference

CALIBRATION_SCHEMA = 1


def calibration_to_json(found: Calibration) -> dict[str, Any]:
    """Write a calibration; what has no number is null."""
    names = [label.value.lower() for label in Label]
    return {
        "schema": CALIBRATION_SCHEMA,
        "run": found.run,
        "target": TARGET,
        "labels": {
            "claims": found.labelled,
            "used": found.used,
            "disputed": found.disputed,
            "carried_over": dict(found.by_how),
            "chosen": dict(found.by_way),
            "annotators": list(found.annotators),
            "agreement": asdict(found.agreement) if found.agreement else None,
        },
        **_rates(found.rates),
        "answers": _rates(found.answers) if found.answers else None,
        "confusion": {
            human: dict(zip(names, row, strict=True)) for human, row in zip(names, found.confusion, strict=True)
        },
        "kappa": _inference(found.kappa),
        "groups": {
            name: {value: _rates(part) for value, part in parts.items()} for name, parts in found.groups.items()
        },
        "failure_modes": {name: asdict(share) for name, share in found.modes.items()},
        "judged_failure_modes": {name: asdict(share) for name, share in found.judged_modes.items()},
        "reliability": asdict(found.reliability) if found.reliability else None,
        "fitted": asdict(found.fitted) if found.fitted else None,
        "supported": corrected_to_json(found.corrected),
        "notes": list(found.notes),
        "advice": list(found.advice),
    }


def corrected_to_json(found: Corrected) -> dict[str, Any]:
    """Write the raw and the corrected rate."""
    return {
        "raw": asdict(found.raw),
        "corrected": _inference(found.shown),
        "ppi": _inference(found.ppi),
        "rogan_gladen": _inference(found.rogan_gladen),
        "why_not": list(found.why),
    }


def _rates(found: Rates) -> dict[str, Any]:
    return {
        "tpr": asdict(found.tpr) | {"labels": found.supported, "target": standing(found.tpr)},
        "tnr": asdict(found.tnr) | {"labels": found.failing, "target": standing(found.tnr)},
    }


def _inference(found: Inference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "value": found.value,
        "low": found.interval.low,
        "high": found.interval.high,
        "n": found.n,
        "clusters": found.clusters,
        "method": found.method,
        "warnings": list(found.warnings),
    }
